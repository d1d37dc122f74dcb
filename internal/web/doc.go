// Package web is the browser face: a dashboard that shows runs in a web browser, and takes the person's decisions there.
//
// A page is HTML that the server has rendered: everything can be read without script. A screen is
// a kind of page: its file holds the facts that it gathers and its template their layout. The
// door decides who may read, and who may decide. A project is addressed by an id that is made
// from its folder, and only folders that the server knows can be addressed.
//
// # Doors
//
//   - [Dashboard] serves the pages.
//   - pairing gives a browser its keys, passkey binds a decision to a person.
//   - report is a run as one file.
//
// # Invariants
//
//   - The cookie reads and never decides, because browsers send it to every port. The key that
//     decides is bound to the origin, ends with the process, and counts for the page that was
//     shown (TestDoor, TestTwoPagesDecide).
package web
