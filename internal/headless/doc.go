// Package headless takes an objective through the stages of a workflow without a host.
//
// A [Runner] has the engine of the program brief each stage, a [Worker] write the document or do the work, and
// hands the answer in, until the workflow is done or a person is needed. It decides nothing for them: a gate
// opens by their channel, or by a yes on the command line beforehand, and questions get answers they have
// written. The next step of a run is decided by pure functions ([nextStep], [chooseEngine], [whyNotSubmit]);
// costs and answers are kept in the project, so that a killed run goes on and submits nothing twice.
//
// # Doors
//
//   - [Runner] works on a run.
//   - hostcli has the workers that are programs: Claude Code and Codex.
//   - sdkhttp serves agents over HTTP and Agent2Agent.
//   - remote gives tasks to agents of other servers.
//
// # Invariants
//
//   - A run keeps an answer before it submits it, so that it is submitted once (TestEveryCut).
//   - One process at a time works on a run (TestTwoRuns).
//   - A message of another agent sent again is not paid for again (TestTasks, TestTaskAfterRestart).
//   - The token for another server goes to the server of the card alone, and no name or redirection leads into a
//     private network (TestTokenStays, TestHostileCards).
package headless
