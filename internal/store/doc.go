// Package store keeps sessions and the large texts they refer to.
//
// A store implements [Backend]. Package filestore is the one on disk; package storetest has one in memory,
// and the suite for all of them.
//
// # Doors
//
//   - [Backend] is what each store implements; filestore and pgstore do.
//   - artifact names tasks and saves their documents.
//   - transfer carries sessions between stores.
//
// # Invariants
//
//   - [Sessions].Update is the only way to change a session. It holds a lock across processes,
//     because two windows can share a project (TestKilledProcessesLoseNothing).
//   - A refused action changes nothing: texts of an unstored change are dropped, and documents get their
//     files once the session is stored, by the next call at the latest. Only a visible change without the
//     disk's confirmation, or a bug, is different, and the error says so (TestEveryCut, TestRandomActions).
//   - Every released format opens, and unknown keys survive a rewrite (workflow.Extra), because an older
//     program may share the project (TestEveryFormatOpens, TestUnknownKeysSurviveAtEveryLevel).
//   - Others can write a session, a row and an archive. No name in one leads out of its own folder, and
//     none begins a line: such a session opens nowhere, and none is stored (TestPaths, TestLines,
//     TestNumbers, TestHostileRows). A file of the checkout is written only under a path from
//     artifact.Saved, Work or In (TestFiles).
//   - An archive costs as much memory and disk as it has bytes (TestBombs).
//   - The cost of an action does not grow with the number of sessions. Only lists read them
//     all, each file once until it changes (TestCostOfAnAction, TestOnlyChangesAreRead).
package store
