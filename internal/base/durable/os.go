package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

const (
	fileMode fs.FileMode = 0o644
	dirMode  fs.FileMode = 0o755
)

// osFS is a folder of the operating system.
type osFS struct {
	root *os.Root
	// near are the folders in it that are kept open; with nil, none are.
	near *near
	// file and dir are the permissions of new files and folders.
	file, dir fs.FileMode
	// group is nil for a folder whose files are never shared.
	group *group
}

// ordinary returns the file system of a folder as the person has set it up.
func ordinary(root *os.Root) osFS {
	return osFS{root: root, file: fileMode, dir: dirMode, group: &group{}}
}

// OpenDir opens an existing folder; the error for a file matches syscall.ENOTDIR.
func OpenDir(name string) (*Dir, error) { return openDir(name, ordinary(nil)) }

// OpenPrivateDir opens an existing folder in which the files and folders that are made are
// private to their owner.
func OpenPrivateDir(name string) (*Dir, error) {
	return openDir(name, osFS{file: 0o600, dir: 0o700})
}

func openDir(name string, with osFS) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if info, statErr := os.Stat(name); statErr == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
		}
		return nil, err
	}
	with.root = root
	return NewDir(name, with), nil
}

// ErrOutside is the error for a folder that does not lie in the required one.
var ErrOutside = errors.New("the folder lies elsewhere")

// OpenDirIn opens an existing folder in another one, through which no link leads out while it is opened either.
// path is the name of the Dir in errors.
func OpenDirIn(root, rel, path string) (*Dir, error) {
	around, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		return NewDir(path, ordinary(around)), nil
	}
	defer func() { _ = around.Close() }()
	inner, err := around.OpenRoot(rel)
	if err == nil {
		return NewDir(path, ordinary(inner)), nil
	}
	if info, statErr := around.Stat(rel); statErr == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	if strings.Contains(err.Error(), "escapes") { // the library has no error to compare with
		return nil, ErrOutside
	}
	return nil, err
}

func (o osFS) Tree() fs.FS { return quietTree{o} }

func (o osFS) Create(name string) (File, error) {
	// Without O_NONBLOCK the library sets and clears it, which takes four more calls.
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | openFlags
	f, err := o.open(name, flags)
	if errors.Is(err, fs.ErrNotExist) { // others may have replaced the folder
		o.near.forget(".")
		f, err = o.open(name, flags)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (o osFS) Append(name string) (File, bool, error) {
	f, err := o.open(name, os.O_RDWR|os.O_CREATE|os.O_APPEND|openFlags&^os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotRegularError{Name: name, Mode: info.Mode()}
	}
	last := []byte{'\n'}
	if err == nil && info.Size() > 0 {
		_, err = f.ReadAt(last, info.Size()-1)
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, last[0] != '\n', nil
}

// open opens a file without waiting for it.
func (o osFS) open(name string, flags int) (f *os.File, err error) {
	err = o.at("openat", name, func(in *os.Root, name string) error {
		f, err = in.OpenFile(name, flags, o.file)
		return err
	})
	if err == nil && flags&os.O_CREATE != 0 {
		o.share(f)
	}
	return f, err
}

func (o osFS) Mkdir(name string) error {
	o.near.forget(name) // the earlier one is gone
	return o.at("mkdirat", name, func(in *os.Root, name string) error {
		err := in.Mkdir(name, o.dir)
		if err != nil || !o.isShared() {
			return err
		}
		if f, err := in.Open(name + "/"); err == nil {
			o.share(f)
			_ = f.Close() // nothing was written
		}
		return nil
	})
}

func (o osFS) Rename(from, to string) error {
	o.near.forget(from)
	o.near.forget(to)
	if path.Dir(from) != path.Dir(to) {
		return o.root.Rename(from, to)
	}
	return o.at("renameat", from, func(in *os.Root, name string) error {
		return in.Rename(name, path.Join(path.Dir(name), path.Base(to)))
	})
}

func (o osFS) Remove(name string) error {
	o.near.forget(name)
	return o.at("removeat", name, func(in *os.Root, name string) error { return in.Remove(name) })
}

func (o osFS) Close() error {
	o.near.forget(".")
	return o.root.Close()
}

// Together implements AtOnce.
func (o osFS) Together(steps []func() error) error {
	errs := make([]error, len(steps))
	var wg sync.WaitGroup
	for i, step := range steps[1:] {
		wg.Go(func() { errs[i+1] = step() })
	}
	errs[0] = steps[0]()
	wg.Wait()
	return errors.Join(errs...)
}

func (o osFS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil // a folder cannot be synced there
	}
	f, err := o.open(name, openFlags)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (o osFS) TryLock(name, holder string) (func() error, bool, error) {
	// Opening through the root keeps a planted link from leading the lock out of the folder,
	// and all who look for the lock now meet on the file that has the name now.
	f, err := openQuietly(name, func() (*os.File, error) {
		return o.root.OpenFile(name, os.O_CREATE|os.O_RDWR|openFlags, fileMode)
	}, func() (fs.FileInfo, error) { return o.root.Stat(name) })
	if err != nil {
		return nil, false, err
	}
	o.share(f)
	unlock, ok, err := lockFile(o.root, f, name, holder)
	return unlock, ok, err
}
