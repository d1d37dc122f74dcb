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

// KeepFolders keeps the folders in this one open for a moment, so that a path is not walked
// anew for each file. It is for a Dir that serves one call: a folder that others replace
// meanwhile is noticed after keepFor, or when a lock had to be waited for.
func (d *Dir) KeepFolders() {
	// A folder that is open cannot be renamed on Windows.
	if o, ok := d.FS.(osFS); ok && runtime.GOOS != "windows" {
		o.near = &near{open: map[string]kept{}}
		d.FS = o
	}
}

// ForgetFolders closes the folders that KeepFolders keeps open, before or after a wait.
func (d *Dir) ForgetFolders() {
	if o, ok := d.FS.(osFS); ok {
		o.near.forget(".")
	}
}

const (
	// keepFor is longer than an action that waits for nobody.
	keepFor = 250 * time.Millisecond
	// maxNear bounds the folders that are kept open: an action needs fewer, and a walk through a
	// whole tree must not hold them all.
	maxNear = 16
)

// near are folders that are kept open, by their paths in the one that has them. A nil one
// keeps none.
type near struct {
	mu   sync.Mutex
	open map[string]kept
}

// kept is a folder that is kept open since a time.
type kept struct {
	*os.Root
	since time.Time
}

// to returns the open folder that is the nearest to a name, and the path from there. The error says that its folder
// is missing.
func (n *near) to(top *os.Root, name string) (in *os.Root, rel string, err error) {
	folder := path.Dir(name)
	if n == nil || folder == "." || !fs.ValidPath(name) {
		return top, name, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	in, rel = n.nearest(top, folder)
	if rel == "." {
		return in, path.Base(name), nil
	}
	if len(n.open) >= maxNear {
		n.close(".")
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

// nearest returns the nearest folder above a path that is open, or itself, and the path from
// there.
func (n *near) nearest(top *os.Root, name string) (in *os.Root, rel string) {
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

// forget closes a folder and those in it; "." stands for all.
func (n *near) forget(name string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.close(name)
}

// close is forget for a caller that holds the lock.
func (n *near) close(name string) {
	for path, folder := range n.open {
		if name == "." || path == name || strings.HasPrefix(path, name+"/") {
			_ = folder.Close() // nothing was written through it
			delete(n.open, path)
		}
	}
}

// at calls do, which op names, with a name in an open folder. An error of a folder that is kept open does not
// count: a link can lead out of that one and stay inside the whole. Of a name that is missing
// or taken, both say the same.
func (o osFS) at(op, name string, do func(in *os.Root, name string) error) error {
	var named *fs.PathError
	in, rel, err := o.near.to(o.root, name)
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
