// Package store keeps sessions and the large texts they refer to.
//
// A store implements [Backend]. Package filestore is the one on disk; package storetest has one in memory, and
// the suite that each has to pass.
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
//   - A refused action changes nothing: texts of a change that is not stored are dropped, and
//     documents get their files once the session is stored, by the next call at the latest. Only a
//     change that is visible but not confirmed by the disk, or a bug, is different, and the error
//     says so (TestEveryCut, TestRandomActions).
//   - Every format that was released opens, and unknown keys survive a rewrite
//     (workflow.Extra), because an older program may share the project (TestEveryFormatOpens,
//     TestUnknownKeysSurviveAtEveryLevel).
//   - Others can write a session, a row and an archive. No name in one leads out of the folder that
//     it belongs to, and none begins a line: such a session opens nowhere, and none is stored
//     (TestPaths, TestLines, TestNumbers, TestHostileRows). A file of the checkout is written under a
//     path that only artifact.Saved, Work and In make (TestFiles).
//   - An archive costs as much memory and disk as it has bytes (TestBombs).
//   - The cost of an action does not grow with the number of sessions. Only lists read them
//     all, each file once until it changes (TestCostOfAnAction, TestOnlyChangesAreRead).
package store
