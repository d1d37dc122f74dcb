// Package method serves the BMAD method: the agents, workflows and tasks of the installations
// that a caller's project, the person's home and git repositories hold.
//
// A [Library] knows the places of installations and caches their content; a [Snapshot] is its
// content for one project. A snapshot returns documents, Markdown for the assistant that acts on
// them, and lists, JSON in pages. Neither is larger than MaxReply, except for the
// person's own words if they are wanted whole, and nothing here calls a model or changes a file.
//
// # Doors
//
//   - [Library] serves an installation.
//   - catalog reads the layouts of the method, versions 4 to 6.12.
//   - gitsource keeps copies of git repositories that hold one.
//
// # Invariants
//
//   - An installation is never changed (TestMethodIsNeverChanged).
//   - No reply is larger than MaxReply (TestReplySizes).
package method
