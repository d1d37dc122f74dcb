// Package memory keeps the notes of a project for a team: decisions, failures, learnings of agents, shared
// context and stories. It remembers, finds, shows, lists and removes them, reads the memory files of other
// kits beside them, and finds places in the files of the project. Package notes has the format, package queue the tasks for agents.
//
// # Doors
//
//   - [Memory] has the [Book] of each project.
//   - notes has the format of the notes and their folder.
//   - queue has the tasks that wait for an agent.
//   - embedding finds notes by meaning, if the person names a model for that.
//
// # Invariants
//
//   - Notes are data: none opens a gate or changes a session, and a briefing quotes them with
//     author and file (TestBriefingsQuoteNotes).
//   - A search in the files reads none that git ignores or the rules close, and shows no credential (TestFiles,
//     TestLongLine); whatever the index has become, the answer is the same (TestBrokenIndex).
//   - A memory that fails costs notes, never a step (TestNotesNeverFailAnAction).
//   - The fold of the lines does not depend on their order, because git merges them
//     (TestFoldIsOrderFree, TestGitMergesBothWays).
package memory
