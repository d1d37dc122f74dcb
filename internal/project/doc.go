// Package project finds, opens and confines project folders.
//
// A [Project] is one open folder with its store and its settings. It is opened anew for
// every call, so that several processes can serve it at once. An [Address] says which
// project, and which session in it, a call is for; the [Finder] opens it. The folders that
// may be opened at all are the served ones: those below a server's roots, or those that a
// [reach.Reach] lets its caller use. [Known] remembers where sessions were started.
//
// Every folder is judged with its symbolic links resolved, and opened through the folder
// that permits it, so that no link can lead out in between.
//
// # Doors
//
//   - [Finder] opens a [Project] by its [Address].
//   - config reads the settings, and says where each came from.
//   - sources has the git repositories that a project and the person name.
//
// # Invariants
//
//   - On stdio [Options].Reach bounds the folders, over HTTP [Options].Within
//     (TestReachKeepsOut, TestHTTPStaysInItsRoots).
//   - A refusal does not reveal whether a folder exists (TestRefusalTellsNothing).
package project
