// Package proof states the decisions of a run in files beside the artifacts, and checks such files without the run,
// the machine or a network. Both are pure: callers bring the session, the facts about the repository and the
// files, so that every attack on a repository is a row of a table.
//
// run.json is an in-toto statement (https://in-toto.io/Statement/v1) about the artifacts of one run. The
// program that has written it signs it, as OpenSSH signs files; the person's machine signs each decision in it, over
// the text of [workflow.Grant.Statement]. The predicate has no text of a document and no words of a person.
//
// # Doors
//
//   - [Write] returns run.json and the signature for a session.
//   - [Check] judges all runs of a project by the base branch's list of signers and rules.
//   - [Parse] reads a statement, to show it.
//
// # Invariants
//
//   - A change, a move, a replay or a forgery is a finding (TestTampered); an honest repository has none
//     (TestHonest).
//   - Nothing in the tree under check vouches for itself: signers, rules and workflows come from the base
//     branch (TestTampered).
//   - A statement has at most 20 kB, and the same bytes for the same run (TestStatementFits, TestStatementIsStable).
//   - ssh-keygen accepts the signatures, with git's list of signers (TestByOpenSSH).
package proof
