package durable

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
)

// tempMark is part of the name of every temporary file, by which the files of a killed process can be told from
// all others.
const tempMark = ".tmp-"

// IsTemp reports whether a file of this name is the temporary one of a write, and returns the name of the
// written file.
func IsTemp(base string) (of string, ok bool) {
	at := strings.LastIndex(base, tempMark)
	if at < 1 || base[0] != '.' {
		return "", false
	}
	random, err := hex.DecodeString(base[at+len(tempMark):])
	return base[1:at], err == nil && len(random) == tempBytes
}

// TempName returns a new temporary name for a file, recognized by IsTemp.
func TempName(of string) string {
	suffix := make([]byte, tempBytes)
	_, _ = rand.Read(suffix) // it never fails: https://pkg.go.dev/crypto/rand#Read
	return "." + of + tempMark + hex.EncodeToString(suffix)
}

// tempBytes is the length of the random part of a temporary name.
const tempBytes = 8

// UnconfirmedError reports a visible change without the disk's confirmation: a power loss may undo it.
// Trying again does not help, since a disk may confirm dropped data after a failure.
type UnconfirmedError struct {
	Name string
	Err  error
}

// Error names the file.
func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("%s is written, but the disk did not confirm it: %v", e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *UnconfirmedError) Unwrap() error { return e.Err }

// Dir is an open folder.
type Dir struct {
	FS
	// LockTimeout bounds the wait for a lock, if it is not 0; else the default does.
	LockTimeout time.Duration
	path        string
}

// NewDir returns the folder at path, kept by a file system.
func NewDir(path string, fsys FS) *Dir { return &Dir{FS: fsys, path: path} }

// Path returns the path the folder was opened with.
func (d *Dir) Path() string { return d.path }

// Join returns the path of a name in the folder, for messages.
func (d *Dir) Join(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// Stat describes a file, following links inside the folder.
func (d *Dir) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.Tree(), path.Clean(name)) }

// Lstat describes a file without following a link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(d.Tree(), path.Clean(name)) }

// ReadDir lists a subfolder, sorted by name; one of more than MaxEntries is a *TooManyError.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.Tree(), name) }

// Names lists the names in a subfolder as ReadDir does, but has the system describe none of the files.
func (d *Dir) Names(name string) (names []string, err error) {
	if t, ok := d.Tree().(interface {
		Names(name string) ([]string, error)
	}); ok {
		return t.Names(name)
	}
	entries, err := d.ReadDir(name)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// RemoveOldest removes the oldest files of a folder over a number. A file that cannot be removed stays until the next time.
func (d *Dir) RemoveOldest(folder string, most int) error {
	entries, err := d.ReadDir(folder)
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, old := range files[min(len(files), most):] {
		_ = d.Remove(path.Join(folder, old.Name()))
	}
	return err
}

// Exists reports whether a file, folder or other entry has the name.
func (d *Dir) Exists(name string) bool {
	_, err := d.Lstat(name)
	return err == nil
}

// MayWrite returns an error if files cannot be made in a folder, without making one. Not every system can tell.
func (d *Dir) MayWrite(name string) error {
	if fs, ok := d.FS.(osFS); ok {
		return mayWrite(filepath.Join(fs.root.Name(), filepath.FromSlash(name)))
	}
	return nil
}

// LeadsOut reports whether a name is a symbolic link to a place outside the folder.
func (d *Dir) LeadsOut(name string) bool {
	info, err := d.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	_, err = d.Stat(name)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// MkdirAll makes a subfolder and the missing folders above it, durably. It returns the folders it made, the
// outermost first; none if it fails.
func (d *Dir) MkdirAll(name string) (made []string, err error) {
	name = path.Clean(name)
	if name == "." {
		return nil, nil
	}
	info, err := d.Stat(name)
	if err == nil && !info.IsDir() {
		return nil, &NotFolderError{d.Join(name)}
	}
	if err == nil && d.isKnownDurable(name, info) {
		return nil, nil
	}
	if made, err = d.MkdirAll(path.Dir(name)); err != nil {
		return nil, err
	}
	switch err := d.Mkdir(name); {
	case errors.Is(err, fs.ErrExist): // the creator may have died before it was durable
	case err != nil:
		d.RemoveEmpty(made)
		return nil, err
	default:
		made = append(made, name)
	}
	if err := d.SyncDir(path.Dir(name)); err != nil {
		d.RemoveEmpty(made)
		return nil, err
	}
	d.noteDurable(name)
	return made, nil
}

// NotFolderError reports a file in the place of a folder.
type NotFolderError struct{ Name string }

// Error names the file.
func (e *NotFolderError) Error() string { return e.Name + " is a file, not a folder" }

// Unwrap lets callers find the error of the system.
func (e *NotFolderError) Unwrap() error { return syscall.ENOTDIR }

// folders holds the folders with durable names, by path, as far as this process knows. Another process may
// have left a new folder undurable, and a sync of each on every call would double the price of an action. A
// forgotten folder is synced again.
var folders = recent.New[string, fs.FileInfo](maxFolders)

// maxFolders bounds the folders known to be durable: a session has three.
const maxFolders = 6000

func (d *Dir) isKnownDurable(name string, now fs.FileInfo) bool {
	then, ok := folders.Get(d.Join(name))
	return ok && (os.SameFile(then, now) || then.Sys() != nil && then.Sys() == now.Sys())
}

func (d *Dir) noteDurable(name string) {
	if info, err := d.Stat(name); err == nil {
		folders.Put(d.Join(name), info)
	}
}

// RemoveEmpty removes the empty ones of the folders made by MkdirAll.
func (d *Dir) RemoveEmpty(made []string) {
	for _, name := range slices.Backward(made) {
		if d.Remove(name) == nil { // fails unless it is empty
			folders.Delete(d.Join(name))
		}
	}
}

// Move renames a file or folder durably. After an error other than *UnconfirmedError, nothing was renamed.
func (d *Dir) Move(from, to string) error {
	if err := d.Rename(from, to); err != nil {
		return err
	}
	return d.Confirm(to)
}

// Confirm makes an already visible name durable. Every error is an *UnconfirmedError.
func (d *Dir) Confirm(name string) error {
	if err := d.SyncDir(path.Dir(name)); err != nil {
		return &UnconfirmedError{Name: name, Err: err}
	}
	return nil
}

// Replace writes a file. At every moment its name holds either the old bytes or all of the new ones; if
// Replace returns nil, the new ones. After an error other than *UnconfirmedError, the old ones are still
// there.
func (d *Dir) Replace(name string, data []byte) error { return d.ReplaceAfter(nil, name, data) }

// ReplaceAfter is Replace for a file with references to others: their syncs run together with the sync of
// the file's own bytes, all of them before the name changes.
func (d *Dir) ReplaceAfter(syncs []func() error, name string, data []byte) error {
	folder, base := path.Split(name)
	temp := folder + TempName(base)
	written, err := d.Write(temp, data)
	if err != nil {
		return err
	}
	if err := d.Together(append([]func() error{written.Sync}, syncs...)); err != nil {
		return errors.Join(err, written.Drop())
	}
	err = d.Move(temp, name)
	var unconfirmed *UnconfirmedError
	if err != nil && !errors.As(err, &unconfirmed) {
		err = errors.Join(err, d.Remove(temp))
	}
	return err
}

// Ignore keeps a subfolder out of version control, unless the subfolder has an IgnoreFile already.
func (d *Dir) Ignore(folder string) error {
	name := path.Join(folder, IgnoreFile)
	if d.Exists(name) {
		return nil
	}
	return d.Replace(name, []byte("*\n"))
}

// IgnoreFile is the file that tells git the ignored names of a folder.
const IgnoreFile = ".gitignore"

// AppendLines adds whole lines to a file, durably, and makes the file if it is missing. A crash can leave a
// part of the lines; the next call then begins on a new line.
func (d *Dir) AppendLines(name string, lines []byte) error {
	missing := !d.Exists(name)
	f, torn, err := d.Append(name)
	if err != nil {
		return err
	}
	if torn {
		lines = append([]byte{'\n'}, lines...)
	}
	n, err := f.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && missing {
		err = d.SyncDir(path.Dir(name))
	}
	return err
}

// Unsynced is a written file, not durable yet.
type Unsynced struct {
	dir  *Dir
	name string
	file File // nil once it is closed
}

// Write writes a new file; for an existing one the error matches fs.ErrExist. A crash can leave a part of
// the file, so the name must mean nothing until something else refers to it. Sync or Drop ends it.
func (d *Dir) Write(name string, data []byte) (*Unsynced, error) {
	f, err := d.Create(name)
	if err != nil {
		return nil, err
	}
	u := &Unsynced{d, name, f}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return nil, errors.Join(err, u.Drop())
	}
	return u, nil
}

// Sync makes the bytes durable; the next SyncDir of the folder makes the name durable.
func (u *Unsynced) Sync() error { return errors.Join(u.file.Sync(), u.close()) }

// Drop removes the file.
func (u *Unsynced) Drop() error { return errors.Join(u.close(), u.dir.Remove(u.name)) }

func (u *Unsynced) close() error {
	if u.file == nil {
		return nil
	}
	err := u.file.Close()
	u.file = nil
	return err
}

// CreateUnsynced writes a file as Write does, and makes the bytes durable.
func (d *Dir) CreateUnsynced(name string, data []byte) error {
	u, err := d.Write(name, data)
	if err != nil {
		return err
	}
	if err := u.Sync(); err != nil {
		return errors.Join(err, u.Drop())
	}
	return nil
}

// Together does independent steps, at once if the file system can, and returns all their errors.
func (d *Dir) Together(steps []func() error) error {
	at, ok := d.FS.(AtOnce)
	if !ok || len(steps) == 1 {
		var err error
		for _, step := range steps {
			err = errors.Join(err, step())
		}
		return err
	}
	return at.Together(steps)
}
