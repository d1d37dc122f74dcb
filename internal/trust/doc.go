// Package trust keeps the things that one person vouches for, outside their projects, where nothing in a
// project can change it.
//
// [UserState] is the person's state folder of this program. It holds the key, 32 random bytes that
// never leave it, with which a [workflow.Signer] countersigns histories; the [Allowance]s, each one
// thing, for example a command to run, that the person has allowed in one project; the
// [Checkpoints] of sessions, the [Place]s and [Source]s that the person has added, and the
// decisions that they have [Typed]. An allowance is for a content, not for a name: if the content
// changes, it has to be allowed again.
//
// Anyone who can write to the folder can sign and allow anything, so it is private to its
// owner.
//
// # Doors
//
//   - [UserState] has the key, the allowances and the records.
//   - reach decides which folders may be used.
//   - verify runs the commands that were allowed.
//
// # Invariants
//
//   - No command of a project runs, and no rubric or workflow of it is trusted, before the
//     person has allowed that content, by its hash, for that project
//     (TestAllowedForOneProject, TestVerifyCommand, TestProjectsRubricIsTrustedOnceAllowed).
//   - A session keeps its verify commands: removing one from the settings does not make a pass
//     (TestEvidenceCannotBeTakenAway).
//   - A checkpoint is written after the session's file and never runs ahead of it, so that a
//     restored older file shows (TestCheckpointsGoForward, TestEveryCutOfARecord).
//   - The rights and the spending of a conversation or a run are the invocation's word or a
//     signed record here ([Rights]); its own file only narrows them (TestFileWidensNothing,
//     TestRunFileWidensNothing).
package trust
