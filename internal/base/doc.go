// Package base is the ground of the program: files, languages, errors, safe text. It has no code, and no
// room in it knows a workflow.
//
// # Doors
//
// Each room is one.
//
//   - Disk: durable, writes which survive a crash; feed, changes by others; obeyed, files executed by
//     programs.
//   - Texts: markdown, csvtable, textdiff, codediff (changed files), visible (safe to show), recall (search), pattern (expressions).
//   - Programs and networks: process, git, httpguard.
//   - People: lang, two languages; fault, errors with a code and a hint.
//   - recent, a bounded map.
//
// # Invariants
//
//   - An acknowledged write survives a crash (TestEveryFault).
//   - Only git runs git, and a repository has no influence on the call (TestOnePackageRunsGit).
//   - Every sentence has a translation (TestCatalogues).
package base
