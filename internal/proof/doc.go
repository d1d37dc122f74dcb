// Package proof states what a run has decided as files that lie beside its artifacts, and checks such files without
// the run, its machine or a network. Both are pure: callers bring the session, the facts about the repository and the
// files, so that every attack on a repository is a row of a table.
//
// run.json is an in-toto statement (https://in-toto.io/Statement/v1) about the artifacts of one run. It is signed as
// OpenSSH signs files by the program that has written it; each decision in it is signed by the machine of its person,
// over the text of [workflow.Grant.Statement]. The predicate has no text of a document and no words of a person.
//
// # Doors
//
//   - [Write] returns run.json and its signature for a session.
//   - [Check] judges all runs of a project by the base branch's list of signers and rules.
//   - [Parse] reads a statement, for those who show one.
//
// # Invariants
//
//   - What was changed, moved, replayed or forged is a finding (TestTampered); an honest repository has none
//     (TestHonest).
//   - Nothing in the tree under check vouches for itself: signers, rules and workflows are those of the base
//     branch (TestTampered).
//   - A statement has at most 20 kB, and the same bytes for the same run (TestStatementFits, TestStatementIsStable).
//   - ssh-keygen accepts what is signed, with the list of signers that git uses (TestByOpenSSH).
package proof
