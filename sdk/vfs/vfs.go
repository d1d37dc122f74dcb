// Package vfs has the files of an agent, and the tools for working on them.
//
// Paths are absolute, begin with a slash and lie inside the file system, however they are written:
// /docs/prd.md, whatever folder it stands for. A [Mem] keeps files in memory, a [Dir] works on a
// folder of the disk, and an [Overlay] reads a folder but keeps changes in memory until somebody
// who has seen them applies them.
package vfs

import "time"

// FS is a file system. Methods may be called at the same time. Errors are sentences for the model.
type FS interface {
	// Read returns the content of a file.
	Read(name string) ([]byte, error)
	// Write makes a file, and the folders above it, or replaces the content.
	Write(name string, data []byte) error
	// Mkdir makes a folder, and all folders above it.
	Mkdir(name string) error
	// Stat describes a file or folder.
	Stat(name string) (Info, error)
	// List returns the entries of a folder, sorted by path.
	List(name string) ([]Info, error)
}

// Info describes a file or folder.
type Info struct {
	Path     string    `json:"path"`
	Dir      bool      `json:"dir,omitempty"`
	Size     int64     `json:"size"`
	Created  time.Time `json:"created,omitzero"`
	Modified time.Time `json:"modified,omitzero"`
	// Given is true for a file given to the agent and not changed: a template, not a document by the agent.
	Given bool `json:"given,omitempty"`
}
