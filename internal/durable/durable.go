// Package durable writes files so that what a call has acknowledged survives a
// crash of the process or the machine, and so that several processes can share a
// folder.
//
// A [Dir] is an open folder. Every name is relative to it, with forward slashes,
// and cannot lead out of it, through symbolic links neither: the folder is an
// [os.Root]. A [Lock] is held across processes and within this one.
//
// What each write does, and why no step can go:
//
//   - [Dir.Replace]: a temporary file in the same folder, fsync (the bytes), rename
//     over the name (all or nothing), fsync of the folder (the name).
//   - [Dir.Create]: exclusive creation, write, fsync, and fsync of the folder
//     unless the caller asks for that once for several files with [Dir.Sync].
//
// On Windows a folder cannot be fsynced; there the rename is as durable as NTFS
// makes it.
package durable

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

const (
	fileMode fs.FileMode = 0o644
	dirMode  fs.FileMode = 0o755
)

// tempMark is part of the name of every temporary file, so that leftovers of a
// crash can be told from everything else.
const tempMark = ".tmp-"

// Dir is an open folder.
type Dir struct {
	root *os.Root
}

// OpenDir opens an existing folder.
func OpenDir(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root}, nil
}

// Close releases the folder.
func (d *Dir) Close() error { return d.root.Close() }

// Path returns the path the folder was opened with.
func (d *Dir) Path() string { return d.root.Name() }

// Join returns the path of a name in the folder, for messages.
func (d *Dir) Join(name string) string { return filepath.Join(d.root.Name(), filepath.FromSlash(name)) }

// ReadFile reads a whole file.
func (d *Dir) ReadFile(name string) ([]byte, error) { return d.root.ReadFile(name) }

// Stat describes a file, following links inside the folder.
func (d *Dir) Stat(name string) (fs.FileInfo, error) { return d.root.Stat(name) }

// Lstat describes a file without following a link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

// Open opens a file for reading.
func (d *Dir) Open(name string) (*os.File, error) { return d.root.Open(name) }

// FS returns the folder for reading as an fs.FS.
func (d *Dir) FS() fs.FS { return d.root.FS() }

// Exists reports whether there is anything of that name.
func (d *Dir) Exists(name string) bool {
	_, err := d.root.Lstat(name)
	return err == nil
}

// LeadsOut reports whether a name is a symbolic link that cannot be followed inside the folder.
func (d *Dir) LeadsOut(name string) bool {
	info, err := d.root.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	_, err = d.root.Stat(name)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// ReadDir lists a subfolder, sorted by name.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.root.FS(), name) }

// Rename renames a file or folder, and makes the new name durable.
func (d *Dir) Rename(from, to string) error {
	if err := d.root.Rename(from, to); err != nil {
		return err
	}
	return d.Sync(path.Dir(to))
}

// Remove removes a file or an empty folder.
func (d *Dir) Remove(name string) error { return d.root.Remove(name) }

// MkdirAll makes a subfolder and what is missing above it, durably.
func (d *Dir) MkdirAll(name string) error {
	name = path.Clean(name)
	if info, err := d.root.Stat(name); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is a file, not a folder", d.Join(name))
		}
		return nil
	}
	parent := path.Dir(name)
	if parent != "." {
		if err := d.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := d.root.Mkdir(name, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.Sync(parent)
}

// Replace writes a file so that its name holds either the old bytes or all of the new ones.
func (d *Dir) Replace(name string, data []byte) error {
	suffix := make([]byte, 8)
	if _, err := rand.Read(suffix); err != nil {
		return err
	}
	folder, base := path.Split(name)
	temp := folder + "." + base + tempMark + hex.EncodeToString(suffix)
	if err := d.writeNew(temp, data); err != nil {
		return err
	}
	if err := d.Rename(temp, name); err != nil {
		if d.Exists(temp) {
			err = errors.Join(err, d.root.Remove(temp))
		}
		return err
	}
	return nil
}

// Create writes a file that must not exist yet; the error matches fs.ErrExist if
// it does. The name is durable after the next [Dir.Sync] of its folder. A crash
// can leave a part of the file, so the name must mean nothing until something
// else refers to it.
func (d *Dir) Create(name string, data []byte) error {
	return d.writeNew(name, data)
}

func (d *Dir) writeNew(name string, data []byte) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.root.Remove(name))
	}
	return nil
}

// AppendInPlace overwrites a file from offset on. It is neither atomic nor
// durable: for files that can be rebuilt.
func (d *Dir) AppendInPlace(name string, offset int64, data []byte) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, offset)
	return errors.Join(err, f.Close())
}

// Sync makes the names in a subfolder durable; "." is the folder itself.
func (d *Dir) Sync(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
