// Package engine leads runs: it has the use cases of the program, a file for each action.
//
// The engine is the orchestrator; a program or model that does the work of a stage is a worker. A call goes through
// it in one direction: a [request.Request] is checked, the facts of its session are gathered once (a [Standing]), a
// change is decided by pure functions over them and stored, and a [reply.Reply] is built. The engine owns the clock,
// the ids and the transactions, and calls no model.
//
// # Doors
//
//   - [Engine.Do] runs an action; the other methods of [Engine] are looks, and change nothing.
//   - request has the calls of all faces, and reads them from JSON.
//   - gate has the questions to a person, and what their answers decide.
//   - reply has the replies.
//
// # Invariants
//
//   - A look changes nothing on the disk (TestALookChangesNothing).
//   - A refused call changes nothing on the disk (TestRandomActions).
//   - Content is stored before the session that refers to it, and a killed process leaves neither a gap nor half a
//     step (TestEveryCut).
//   - One decision opens one gate, once, for the draft that was shown (TestOneDecisionCounts).
//   - The same actions have the same outcome over every store (TestSameOverEveryStore).
package engine
