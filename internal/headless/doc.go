// Package headless takes an objective through the stages of a workflow without a host.
//
// A [Runner] has the engine of the program brief each stage, a [Worker] write its document or do its
// work, and hands that in, until the workflow is done or a person is needed. It decides nothing for
// them: a gate opens by their channel, or by a yes that they gave on the command line beforehand, and
// questions get the answers that they have written. The next step of a run is decided by pure
// functions ([next], [choose], [check]); its costs and the answers that it has received are kept in
// the project, so that a killed run goes on and submits nothing twice.
//
// # Doors
//
//   - [Runner] works on a run.
//   - hostcli has the workers that are programs: Claude Code and Codex.
//   - sdkhttp serves agents over HTTP.
//
// # Invariants
//
//   - A run keeps an answer before it submits it, so that it is submitted once (TestEveryCut).
//   - One process at a time works on a run (TestTwoRuns).
package headless
