// Package workflow holds the rules of a run, as pure values and functions, without a clock,
// files or the network.
//
// A [Definition] is the ordered list of stages, as data. A [Stage] is a role with a kind,
// engines, a gate and the name of an artifact. A [Session] is one run for one objective, with
// a copy of the definition and the [State] of the current stage. A caller requests an
// [Action]; the outcome is an [Event], fired on the one transition table in machine.go; the
// step taken is a [Transition], kept in the session's history.
//
// # Doors
//
//   - [Definition], [Session], [Verification]: the rules; workflow itself imports only the ground.
//   - intake reads the submission for a stage.
//   - verdict derives the verdict of a report from its rows.
//   - audit scores a document by a rubric.
//   - delivery writes and reads the contract by which a team hands a run over.
//   - lesson has what a run takes from the project memory and leaves there.
//
// # Invariants
//
//   - Every decision is a [Grant] for one stage, revision and draft, used once: a late answer
//     must not decide about a text that nobody saw (TestDecisionIsForTheTextThatWasThere,
//     TestOneDecisionCounts).
//   - Claimed, estimated and audited scores are separate fields. Only a claimed one opens a
//     gate; with audited scoring the audit has to reach it too (TestEstimateOpensNoGate,
//     TestInflatedScoreIsHeldByTheAudit).
//   - Each entry of the history has the hash of the previous one and of the session after it,
//     and the signature of the machine that wrote it. An entry counts if the key counts for the
//     account in the entry. Other entries have no effect: a session resting on one goes on under
//     no policy that promises a person. A later entry never hides an earlier change; only a
//     person accepts one (TestTamperingShows, TestMembersForge,
//     TestMemberWithAProgramOfTheirOwn, TestHistoryIsSigned, TestAdoption).
//   - The entries of others are steps allowed by the rules, and keep the reader's rules of who
//     says yes (TestMembersKeepTheRules).
//   - A signed history names its project. If another folder still holds the session, this one
//     is a copy, which needs an adoption; otherwise it was moved
//     (TestApprovalsOfAnotherProject, TestMovedProjectIsToldOnce).
//   - [Session.Altered] alone decides whether an approved text was altered. An adoption
//     accepts a text by its hash (TestApprovedTextsThatWereAltered).
//   - A state machine of looplab/fsm exists for one transition, under context.WithoutCancel,
//     because a cancelled one is stuck (TestFireRefusesCancelledContextAndStaysUsable).
package workflow
