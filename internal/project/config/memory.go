package config

// Memory is the use that the stages of a run make of a project's notes.
type Memory string

// The values of memory.
const (
	// MemoryAuto: they read the notes that there are, and write some if the project has a folder for them.
	MemoryAuto Memory = "auto"
	// MemoryOn: they write notes in any project.
	MemoryOn Memory = "on"
	// MemoryOff: nobody reads or writes notes, not even by the tools.
	MemoryOff Memory = "off"
)
