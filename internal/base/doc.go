// Package base is the ground of the program: files, languages, errors, safe text. It has no code of its own, and none
// of its rooms knows a workflow.
//
// # Doors
//
// Each room is one.
//
//   - Disk: durable, writes that survive a crash; feed, changes by others; obeyed, files that programs execute.
//   - Texts: markdown, csvtable, textdiff, visible (safe to show), recall (search), pattern (expressions).
//   - Programs and networks: process, git, httpguard.
//   - People: lang, two languages; fault, errors with a code and a hint.
//   - recent, a bounded map.
//
// # Invariants
//
//   - A write that was acknowledged survives a crash (TestEveryFault).
//   - Only git runs git, and a repository has no influence on the call (TestOnePackageRunsGit).
//   - Every sentence has a translation (TestCatalogues).
package base
