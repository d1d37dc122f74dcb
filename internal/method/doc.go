// Package method serves the BMAD method: the agents, workflows and tasks of the installations in a caller's
// project, the person's home and git repositories.
//
// A [Library] knows the places of installations and caches their content; a [Snapshot] is the library's
// content for one project. A snapshot returns documents, Markdown for the assistant to act on, and lists,
// JSON in pages. Neither is larger than MaxReply, except for the person's own words if they are wanted
// whole, and nothing here calls a model or changes a file.
//
// # Doors
//
//   - [Library] serves an installation.
//   - catalog reads the layouts of the method, versions 4 to 6.12.
//   - gitsource keeps copies of git repositories and packages of npm with an installation.
//
// # Invariants
//
//   - An installation is never changed (TestMethodIsNeverChanged).
//   - No reply is larger than MaxReply (TestReplySizes).
package method
