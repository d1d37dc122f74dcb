// Package web is the browser face: a dashboard of the runs in a web browser, which takes the person's
// decisions.
//
// The server renders a page as HTML, and everything can be read without script. A screen is a kind of page: a
// Go file gathers the facts, a template lays them out. The door decides who may read, and who may decide. The
// id of a project is made from its folder, and only folders known to the server have one.
//
// # Doors
//
//   - [Dashboard] serves the pages.
//   - pairing gives keys to browsers, passkey binds a decision to a person.
//   - report is a run as one file.
//
// # Invariants
//
//   - The cookie reads and never decides, because browsers send it to every port. The key for decisions is
//     bound to the origin, ends with the process, and counts for the page shown (TestDoor,
//     TestTwoPagesDecide).
package web
