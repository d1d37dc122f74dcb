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
	// near are the open folders in it; nil keeps none.
	near *near
	// file and dir are the permissions of new files and folders.
	file, dir fs.FileMode
	// group is nil for a folder whose files are never shared.
	group *group
}

// ordinaryFS returns the file system of a folder with the person's own settings.
func ordinaryFS(root *os.Root) osFS {
	return osFS{root: root, file: fileMode, dir: dirMode, group: &group{}}
}

// OpenDir opens an existing folder; the error for a file matches syscall.ENOTDIR.
func OpenDir(name string) (*Dir, error) { return openDir(name, ordinaryFS(nil)) }

// OpenPrivateDir opens an existing folder. New files and folders in it are private to their owner.
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

// ErrOutside is the error for a folder outside the required one.
var ErrOutside = errors.New("the folder lies elsewhere")

// OpenDirIn opens an existing folder in another one, through which no link leads out while it is opened either.
// path is the name of the Dir in errors.
func OpenDirIn(root, rel, path string) (*Dir, error) {
	around, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		return NewDir(path, ordinaryFS(around)), nil
	}
	defer func() { _ = around.Close() }()
	inner, err := around.OpenRoot(rel)
	if err == nil {
		return NewDir(path, ordinaryFS(inner)), nil
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
		o.near.forgetFolder(".")
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
	err = o.inOpenFolder("openat", name, func(in *os.Root, name string) error {
		f, err = in.OpenFile(name, flags, o.file)
		return err
	})
	if err == nil && flags&os.O_CREATE != 0 {
		o.shareWithGroup(f)
	}
	return f, err
}

func (o osFS) Mkdir(name string) error {
	o.near.forgetFolder(name) // the earlier one is gone
	return o.inOpenFolder("mkdirat", name, func(in *os.Root, name string) error {
		err := in.Mkdir(name, o.dir)
		if err != nil || !o.isShared() {
			return err
		}
		if f, err := in.Open(name + "/"); err == nil {
			o.shareWithGroup(f)
			_ = f.Close() // nothing was written
		}
		return nil
	})
}

func (o osFS) Rename(from, to string) error {
	o.near.forgetFolder(from)
	o.near.forgetFolder(to)
	if path.Dir(from) != path.Dir(to) {
		return o.root.Rename(from, to)
	}
	return o.inOpenFolder("renameat", from, func(in *os.Root, name string) error {
		return in.Rename(name, path.Join(path.Dir(name), path.Base(to)))
	})
}

func (o osFS) Remove(name string) error {
	o.near.forgetFolder(name)
	return o.inOpenFolder("removeat", name, func(in *os.Root, name string) error { return in.Remove(name) })
}

func (o osFS) Close() error {
	o.near.forgetFolder(".")
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
	// Opening through the root keeps a planted link from leading the lock out of the folder, and everyone
	// in search of the lock now meets on the same file.
	f, err := openQuietly(name, func() (*os.File, error) {
		return o.root.OpenFile(name, os.O_CREATE|os.O_RDWR|openFlags, fileMode)
	}, func() (fs.FileInfo, error) { return o.root.Stat(name) })
	if err != nil {
		return nil, false, err
	}
	o.shareWithGroup(f)
	unlock, ok, err := lockFile(o.root, f, name, holder)
	return unlock, ok, err
}
