package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"
)

// KeepFolders keeps the folders in this one open for a moment, to save the walk along a path for each file.
// It is for a Dir of one call: a folder replaced meanwhile is noticed after keepFor, or after a wait for a
// lock.
func (d *Dir) KeepFolders() {
	// An open folder cannot be renamed on Windows.
	if o, ok := d.FS.(osFS); ok && runtime.GOOS != "windows" {
		o.near = &near{open: map[string]kept{}}
		d.FS = o
	}
}

// ForgetFolders closes the folders left open by KeepFolders, before or after a wait.
func (d *Dir) ForgetFolders() {
	if o, ok := d.FS.(osFS); ok {
		o.near.forgetFolder(".")
	}
}

const (
	// keepFor is longer than an action without a wait.
	keepFor = 250 * time.Millisecond
	// maxNear bounds the open folders: an action needs fewer, and a walk through a whole tree must not hold
	// them all.
	maxNear = 16
)

// near are open folders, by their paths in the top folder. A nil near keeps none.
type near struct {
	mu   sync.Mutex
	open map[string]kept
}

// kept is an open folder, with the time when it was opened.
type kept struct {
	*os.Root
	since time.Time
}

// openNearest returns the open folder nearest to a name, and the path from there. The error reports a missing
// folder.
func (n *near) openNearest(top *os.Root, name string) (in *os.Root, rel string, err error) {
	folder := path.Dir(name)
	if n == nil || folder == "." || !fs.ValidPath(name) {
		return top, name, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	in, rel = n.nearestOpen(top, folder)
	if rel == "." {
		return in, path.Base(name), nil
	}
	if len(n.open) >= maxNear {
		n.closeLocked(".")
		in, rel = top, folder
	}
	// The slash has it opened only if it is a folder: to open a pipe would wait.
	opened, err := in.OpenRoot(rel + "/")
	switch {
	case err == nil:
		n.open[folder] = kept{opened, time.Now()}
		return opened, path.Base(name), nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", err
	}
	return in, rel + "/" + path.Base(name), nil
}

// nearestOpen returns the nearest open folder on a path, or the top folder, and the path from there.
func (n *near) nearestOpen(top *os.Root, name string) (in *os.Root, rel string) {
	for above := name; above != "."; above = path.Dir(above) {
		in, ok := n.open[above]
		if ok && time.Since(in.since) < keepFor {
			return in.Root, path.Clean("./" + name[len(above):])
		}
		if ok {
			_ = in.Close() // nothing was written through it
			delete(n.open, above)
		}
	}
	return top, name
}

// forgetFolder closes a folder and those in it; "." stands for all.
func (n *near) forgetFolder(name string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closeLocked(name)
}

// closeLocked is forgetFolder for a caller that holds the lock.
func (n *near) closeLocked(name string) {
	for path, folder := range n.open {
		if name == "." || path == name || strings.HasPrefix(path, name+"/") {
			_ = folder.Close() // nothing was written through it
			delete(n.open, path)
		}
	}
}

// inOpenFolder calls do, named op in errors, with a name in an open folder. An error from a kept folder does not
// count: a link can lead out of the kept folder and stay inside the top one. About a missing or existing
// name both say the same.
func (o osFS) inOpenFolder(op, name string, do func(in *os.Root, name string) error) error {
	var named *fs.PathError
	in, rel, err := o.near.openNearest(o.root, name)
	if errors.As(err, &named) {
		return &fs.PathError{Op: op, Path: name, Err: named.Err}
	}
	err = do(in, rel)
	switch {
	case err == nil, in == o.root:
		return err
	case errors.As(err, &named) && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)):
		named.Path = name
		return err
	}
	return do(o.root, name)
}
