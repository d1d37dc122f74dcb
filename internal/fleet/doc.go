// Package fleet has several runs without a host at work: one after the other or side by side on one machine, each in a
// worktree of its own, and on many machines, by workers that take runs from a team's queue.
//
// A [Worker] takes the oldest run of the queue under a lease, makes a worktree of its clone, and has package headless
// work in it. Whatever the next worker needs is kept in the store before anything else is done with it: the record of
// the run with the answers that were paid for, and the commits. [Sprints] builds the sprints of an approved plan on one
// machine, and merges them in their order.
//
// # Doors
//
//   - [Worker] takes runs from a queue; [Order] says how a run is to be worked on, signed by who has queued it.
//   - [Sprints] builds a plan sprint by sprint.
//   - [Clean] removes the worktrees of runs that have ended; [Publish] offers the branch of a run for review.
//
// # Invariants
//
//   - Under a lease that another has followed nothing is written: neither the session, nor the record, nor a branch of
//     the remote (TestLateWorker).
//   - A worker that cannot reach the store ends the call under way before its lease ends (TestNetworkCut).
//   - An answer that the store has is not asked for again (TestManyKills).
//   - An order opens no gate and allows no command unless somebody whose key counts here has signed it for this very
//     run (TestForgedOrders).
package fleet
