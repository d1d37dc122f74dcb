package durable

import (
	"io"
	"io/fs"
)

// FS is the file system below a [Dir]: one folder, every name relative to it, with forward slashes, and
// none of them able to lead out of it. Each method of [Writer] and [File] is one step; a crash can come
// between any two. The package comment lists the steps that survive a power loss.
//
// [OpenDir] uses the file system of the operating system; package durabletest has one with failures or a
// power loss at any step.
type FS interface {
	Writer
	// Tree is the folder for reading. To open a file of it never waits.
	Tree() fs.FS
	// TryLock takes the lock file of a name, making it if it is missing, and writes the holder into it
	// unless holder is "". ok is false while a living process holds the lock.
	TryLock(name, holder string) (unlock func() error, ok bool, err error)
	io.Closer
}

// AtOnce is an FS with a way to do several steps at once.
type AtOnce interface {
	// Together does independent steps, and returns all their errors.
	Together(steps []func() error) error
}

// Writer changes a folder.
type Writer interface {
	// Create makes a new file; for an existing one the error matches fs.ErrExist.
	Create(name string) (File, error)
	// Append opens a regular file for writing at its end, and makes it if it is missing. torn reports
	// whether the last byte does not end a line.
	Append(name string) (f File, torn bool, err error)
	Mkdir(name string) error
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes the names in a folder durable; "." is the folder itself.
	SyncDir(name string) error
}

// File is a file being written.
type File interface {
	io.WriteCloser
	// Sync makes the bytes durable, not the name.
	Sync() error
}
