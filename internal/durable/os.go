package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

const (
	fileMode fs.FileMode = 0o644
	dirMode  fs.FileMode = 0o755
)

// osFS is a folder of the operating system.
type osFS struct {
	root *os.Root
}

// OpenDir opens an existing folder; the error for a file matches syscall.ENOTDIR.
func OpenDir(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		if info, statErr := os.Stat(name); statErr == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
		}
		return nil, err
	}
	return NewDir(name, osFS{root}), nil
}

// ErrOutside is the error for a folder that does not lie in the one it has to.
var ErrOutside = lang.Errorf("the folder lies elsewhere")

// OpenDirIn opens an existing folder in another one, through which no link leads out while
// it is opened either. path is what the Dir calls itself.
func OpenDirIn(root, rel, path string) (*Dir, error) {
	around, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = around.Close() }()
	inner, err := around.OpenRoot(rel)
	if err == nil {
		return NewDir(path, osFS{inner}), nil
	}
	if info, statErr := around.Stat(rel); statErr == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	if strings.Contains(err.Error(), "escapes") { // the library has no error to compare with
		return nil, ErrOutside
	}
	return nil, err
}

func (o osFS) Tree() fs.FS { return quietTree{o.root, o.root.FS()} }

func (o osFS) Create(name string) (File, error) {
	f, err := o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (o osFS) Mkdir(name string) error      { return o.root.Mkdir(name, dirMode) }
func (o osFS) Rename(from, to string) error { return o.root.Rename(from, to) }
func (o osFS) Remove(name string) error     { return o.root.Remove(name) }
func (o osFS) Close() error                 { return o.root.Close() }

func (o osFS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // a folder cannot be synced there
	}
	f, err := o.root.OpenFile(name, openFlags, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (o osFS) TryLock(name, holder string) (func() error, bool, error) {
	// Opening through the root keeps a planted link from leading the lock out of the folder.
	f, err := openQuietly(name, func() (*os.File, error) {
		return o.root.OpenFile(name, os.O_CREATE|os.O_RDWR|openFlags, fileMode)
	}, func() (fs.FileInfo, error) { return o.root.Stat(name) })
	if err != nil {
		return nil, false, err
	}
	_, err = regular(f, name)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, false, err
	}
	lock := flock.New(filepath.Join(o.root.Name(), filepath.FromSlash(name)), flock.SetPermissions(fileMode), flock.SetFlag(os.O_CREATE|os.O_RDWR|openFlags))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil, false, err
	}
	if holder == "" {
		return lock.Unlock, true, nil
	}
	// For the message of a caller that waits in vain; it may fail without harm.
	_ = o.root.WriteFile(name, []byte(holder), fileMode)
	return func() error {
		_ = o.root.WriteFile(name, nil, fileMode)
		return lock.Unlock()
	}, true, nil
}
