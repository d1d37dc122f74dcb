// Package trust keeps what one person vouches for, outside of their projects: where
// nothing that a project brings along can put it.
//
// The [Folder] is the person's state folder of this program. In it stand the key, 32
// random bytes that never leave it, with which a [workflow.Signer] countersigns
// histories; and the [Allowance]s: each one thing, such as a command to run, that the
// person has allowed in one project. An allowance is for a content, not for a name: when
// the content changes, it has to be allowed again.
//
// Whoever may write in the folder may sign and allow whatever they like. It is made for
// its owner alone.
package trust

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// Folder is the path of the state folder; "" means that there is none: nothing is
// signed and nothing is allowed.
type Folder string

// lockName is the lock for whatever is changed in the folder.
const lockName = "trust.lock"

// maxFile bounds the read of a file of the folder, in bytes: a list of many thousand
// allowances.
const maxFile = 16 << 20

// What is made here is for its owner alone.
const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// dir is the open folder.
type dir struct {
	*durable.Dir
	// link gives a file a second name, which must not exist; the error matches fs.ErrExist if it does.
	link func(from, to string) error
}

// private is a folder of the system in which files and folders are made for their owner alone.
type private struct {
	durable.FS
	root *os.Root
}

// Create implements durable.Writer.
func (p private) Create(name string) (durable.File, error) {
	f, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Mkdir implements durable.Writer.
func (p private) Mkdir(name string) error { return p.root.Mkdir(name, dirMode) }

// Close implements durable.FS.
func (p private) Close() error { return errors.Join(p.root.Close(), p.FS.Close()) }

func openDir(path string) (dir, error) {
	plain, err := durable.OpenDir(path)
	if err != nil {
		return dir{}, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return dir{}, errors.Join(err, plain.Close())
	}
	return dir{durable.NewDir(path, private{plain.FS, root}), root.Link}, nil
}

// read reads a file; nothing and no error is that there is none. A link that leads
// nowhere is no missing file: somebody meant one to be there.
func (d dir) read(name string) (data []byte, there bool, err error) {
	if data, err = d.ReadFile(name, maxFile); !errors.Is(err, fs.ErrNotExist) {
		return data, true, err
	}
	if !d.Exists(name) {
		return nil, false, nil
	}
	data, err = d.ReadFile(name, maxFile) // again: it may have been made between the two looks
	return data, true, err
}

// open opens the folder; the error matches fs.ErrNotExist if there is none.
func (f Folder) open() (dir, error) {
	if f == "" {
		return dir{}, fs.ErrNotExist
	}
	return openDir(string(f))
}

// make opens the folder, and makes it where it is missing.
func (f Folder) make() (dir, error) {
	if f == "" {
		return dir{}, fault.New(fault.Storage, "there is no state folder to keep it in").
			WithHint("set HOME, or XDG_STATE_HOME to an absolute path, where the program is started")
	}
	d, err := f.open()
	if !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	path, err := filepath.Abs(string(f))
	if err != nil {
		return dir{}, err
	}
	if err := makeFolder(path); err != nil {
		return dir{}, err
	}
	return f.open()
}

// makeFolder makes a folder durably: a key that went with the power would leave
// histories that nobody can check.
func makeFolder(path string) error {
	above := path
	for {
		parent := filepath.Dir(above)
		if parent == above {
			return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrNotExist}
		}
		above = parent
		if _, err := os.Stat(above); err == nil {
			break
		}
	}
	d, err := openDir(above)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	below, err := filepath.Rel(above, path)
	if err != nil {
		return err
	}
	_, err = d.MkdirAll(filepath.ToSlash(below))
	return err
}

// trouble gives an error of the disk its code and what the person can do about it.
// Errors that have a code, and the context's own, are returned as they are.
func (f Folder) trouble(err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return fault.New(fault.Conflict, "the state folder %s is in use: %w", string(f), busy).
			WithHint("wait for the other program to end, then repeat it; if it hangs, end it: its lock goes with it")
	}
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return fault.New(fault.Storage, "the disk did not confirm a change in %s that is already visible: %w", string(f), unconfirmed).
			WithHint("a power loss could undo it: check the disk, then repeat it")
	}
	if remedy, ok := durable.Hostile(err); ok {
		return fault.New(fault.Storage, "the state folder %s cannot be used: %w", string(f), err).
			WithHint("%s, then repeat it", remedy)
	}
	if !fault.OfDisk(err) {
		return fault.Unexpected(err)
	}
	return fault.New(fault.Storage, "the state folder %s cannot be read or written: %w", string(f), err).
		WithHint("make it a folder that you can read and write, with free space, then repeat it")
}

// existing calls do with the open folder; where there is none yet, it does nothing.
func (f Folder) existing(do func(dir) error) error {
	d, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	return f.trouble(do(d))
}
