package durabletest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// view is a disk as a durable.FS.
type view struct{ *Disk }

func (v view) Tree() fs.FS  { return tree(v) }
func (v view) Close() error { return nil }

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

func (v view) Create(name string) (durable.File, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.countStep("create", name); err != nil {
		return nil, err
	}
	if !fs.ValidPath(name) {
		return nil, pathError("create", name, fs.ErrInvalid)
	}
	folder, base, err := v.folderOf(name)
	if err == nil && folder.entries[base] != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return nil, pathError("create", name, err)
	}
	n := &node{}
	v.changeNames(change{to: folder, toName: base, what: n})
	return &writer{v.Disk, n, name}, nil
}

func (v view) Append(name string) (durable.File, bool, error) {
	v.mu.Lock()
	n, err := v.findNode(path.Clean(name))
	v.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		f, err := v.Create(name)
		return f, false, err
	}
	if err != nil || n.folder {
		return nil, false, pathError("append", name, fs.ErrInvalid)
	}
	return &writer{v.Disk, n, name}, len(n.data) > 0 && n.data[len(n.data)-1] != '\n', nil
}

// Together implements durable.AtOnce: in one of two orders, by the step of the fault to come, so a cut can
// leave any one of the steps done.
func (v view) Together(steps []func() error) error {
	v.mu.Lock()
	backwards := v.fault.Step%2 == 1
	v.mu.Unlock()
	steps = slices.Clone(steps)
	if backwards {
		slices.Reverse(steps)
	}
	var err error
	for _, step := range steps {
		err = errors.Join(err, step())
	}
	return err
}

func (v view) Mkdir(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.countStep("mkdir", name); err != nil {
		return err
	}
	folder, base, err := v.folderOf(name)
	if err == nil && folder.entries[base] != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return pathError("mkdir", name, err)
	}
	v.changeNames(change{to: folder, toName: base, what: newFolder()})
	return nil
}

func (v view) Rename(from, to string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.countStep("rename", to); err != nil {
		return err
	}
	source, sourceName, err := v.folderOf(from)
	if err != nil {
		return pathError("rename", from, err)
	}
	target, targetName, err := v.folderOf(to)
	if err != nil {
		return pathError("rename", to, err)
	}
	n, old := source.entries[sourceName], target.entries[targetName]
	switch {
	case n == nil:
		return pathError("rename", from, fs.ErrNotExist)
	case old != nil && (old.folder != n.folder || len(old.entries) > 0):
		return pathError("rename", to, fs.ErrExist)
	}
	v.changeNames(change{from: source, fromName: sourceName, to: target, toName: targetName, what: n})
	return nil
}

func (v view) Remove(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.countStep("remove", name); err != nil {
		return err
	}
	folder, base, err := v.folderOf(name)
	if err != nil {
		return pathError("remove", name, err)
	}
	n := folder.entries[base]
	switch {
	case n == nil:
		return pathError("remove", name, fs.ErrNotExist)
	case len(n.entries) > 0:
		return pathError("remove", name, fs.ErrExist)
	}
	v.changeNames(change{from: folder, fromName: base, what: n})
	return nil
}

func (v view) SyncDir(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.countStep("fsync folder", name); err != nil {
		return err
	}
	n, err := v.findNode(path.Clean(name))
	if err != nil {
		return pathError("fsync", name, err)
	}
	v.names = slices.DeleteFunc(v.names, func(c change) bool {
		if c.from != n && c.to != n {
			return false
		}
		c.makeDurable()
		return true
	})
	return nil
}

func (v view) TryLock(name, holder string) (func() error, bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.countStep("lock", name); err != nil {
		return nil, false, err
	}
	folder, base, err := v.folderOf(name)
	if err != nil || !fs.ValidPath(name) {
		return nil, false, pathError("lock", name, fs.ErrInvalid)
	}
	if v.locks[name] {
		return nil, false, nil
	}
	v.locks[name] = true
	// Nothing depends on a lock file after a power loss, so losing it is not tried.
	n := &node{data: []byte(holder), synced: []byte(holder)}
	folder.entries[base], folder.kept[base] = n, n
	return func() error {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.locks, name)
		return nil
	}, true, nil
}

// writer is a file being written.
type writer struct {
	disk *Disk
	node *node
	name string
}

func (w *writer) Write(data []byte) (int, error) {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	err := w.disk.countStep("write", w.name)
	if err != nil {
		data = data[:w.disk.partOf(len(data))]
	}
	w.node.data, w.node.written = slices.Concat(w.node.data, data), writes.Add(1)
	return len(data), err
}

func (w *writer) Sync() error {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	if err := w.disk.countStep("fsync", w.name); err != nil {
		return err
	}
	w.node.synced = w.node.data
	return nil
}

func (w *writer) Close() error {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	return w.disk.countStep("close", w.name)
}

// tree is a disk for reading.
type tree view

func (t tree) nodeOf(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, pathError(op, name, fs.ErrInvalid)
	}
	n, err := t.findNode(name)
	if err != nil {
		return nil, pathError(op, name, err)
	}
	return n, nil
}

// Open implements fs.FS.
func (t tree) Open(name string) (fs.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.nodeOf("open", name)
	if err != nil {
		return nil, err
	}
	return &reader{newInfo(path.Base(name), n), bytes.NewReader(n.data)}, nil
}

// ReadFile implements fs.ReadFileFS.
func (t tree) ReadFile(name string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.nodeOf("open", name)
	if err == nil && n.folder {
		err = pathError("read", name, fs.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(n.data), nil
}

// ReadDir implements fs.ReadDirFS.
func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.nodeOf("open", name)
	if err != nil {
		return nil, err
	}
	var out []fs.DirEntry
	for _, base := range slices.Sorted(maps.Keys(n.entries)) {
		child := n.entries[base]
		out = append(out, fs.FileInfoToDirEntry(newInfo(base, child)))
	}
	return out, nil
}

// Stat implements fs.StatFS.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.nodeOf("stat", name)
	if err != nil {
		return nil, err
	}
	return newInfo(path.Base(name), n), nil
}

// Lstat and ReadLink implement fs.ReadLinkFS; there are no links.
func (t tree) Lstat(name string) (fs.FileInfo, error) { return t.Stat(name) }

// ReadLink always fails.
func (t tree) ReadLink(name string) (string, error) {
	return "", pathError("readlink", name, fs.ErrInvalid)
}

type reader struct {
	info
	io.Reader
}

func (r *reader) Stat() (fs.FileInfo, error) { return r.info, nil }
func (r *reader) Close() error               { return nil }

// info describes a node.
type info struct {
	name string
	node *node
	size int64
}

func newInfo(name string, n *node) info { return info{name, n, int64(len(n.data))} }

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) IsDir() bool        { return i.node.folder }
func (i info) ModTime() time.Time { return time.Unix(0, i.node.written) }

// Sys tells one file from another, as an inode does.
func (i info) Sys() any { return i.node }
func (i info) Mode() fs.FileMode {
	if i.node.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
