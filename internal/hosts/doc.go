// Package hosts knows the programs that start this server for an assistant: the file in which each keeps its
// list of MCP servers, the form of an entry there, and how to add and remove one: by the host's own command
// where it has a good one, else while every other byte of the file stays as it is.
//
// A [Host] is one program. A [Scope] says whether an entry is for the person, in all their
// projects, or for everyone who works in one project. An [Entry] is a server as the
// host starts it. A [Plan] works out a [Change] to a host's file, an [Applier] makes it.
//
// # Doors
//
//   - [All] lists the hosts.
//   - hook judges the tool calls of Claude Code before they are made, by the mentions of this program in them.
//   - doctor checks and repairs what the program leaves.
//
// # Invariants
//
//   - A settings file is changed at our entry only, and left alone if the host itself could
//     not read it, because it is the person's. Taken out again, it is as before (TestRoundTrip, TestHostsFilesStayTheirs,
//     TestRefusesWhatTheHostDoesNotRead).
//   - A file that is a host's own command's to change is not changed here (TestByHand).
package hosts
