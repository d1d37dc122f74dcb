package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mem keeps files in memory. Methods may be called at the same time.
type Mem struct{ *layer }

// NewMem returns an empty file system. clock is nil if files have no times.
func NewMem(clock func() time.Time) *Mem { return &Mem{newLayer(nothing{}, clock)} }

// nothing is the base of files in memory alone. It is never written to.
type nothing struct{ FS }

func (nothing) Read(name string) ([]byte, error) { return nil, errAbsent(name) }
func (nothing) Stat(name string) (Info, error)   { return Info{}, errAbsent(name) }
func (nothing) List(name string) ([]Info, error) { return nil, errAbsent(name) }

// Give adds a file for the agent to read. It counts as given until the agent changes it. The data
// must not be changed afterwards.
func (m *Mem) Give(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, err := m.checkFree(name, false)
	if err != nil {
		return err
	}
	return m.putFile(name, data, "", true)
}

// GiveLater is Give for a file read on demand, of about a size. It does not count to the size of all files, and
// a snapshot leaves it out.
func (m *Mem) GiveLater(name string, size int64, read func() ([]byte, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, err := m.checkFree(name, false)
	if err != nil {
		return err
	}
	if m.nodes[name] != nil {
		return fmt.Errorf("%s is there already", name)
	}
	return m.addNode(&node{info: Info{Path: name, Size: size, Given: true}, read: read})
}

// layer keeps files in memory, over another file system.
type layer struct {
	base  FS
	clock func() time.Time

	mu    sync.RWMutex
	nodes map[string]*node
	size  int64
}

// node is a file or folder. A file is never changed, but replaced.
type node struct {
	info Info
	data []byte
	read func() ([]byte, error) // in place of data, if it is not nil
	// below is the hash of the file of the base at the first change; "" if there was none.
	below string
	in    map[string]*node // the entries of a folder, by path
}

func newFolder(info Info) *node {
	info.Dir = true
	return &node{info: info, in: map[string]*node{}}
}

func newLayer(base FS, clock func() time.Time) *layer {
	if clock == nil {
		clock = func() time.Time { return time.Time{} }
	}
	return &layer{base: base, clock: clock, nodes: map[string]*node{"/": newFolder(Info{Path: "/", Given: true})}}
}

// findNode returns the node of a path in this layer; nil if the base has to be asked.
func (l *layer) findNode(name string) (clean string, n *node, err error) {
	if clean, err = Clean(name); err != nil {
		return "", nil, err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return clean, l.nodes[clean], nil
}

// Read implements FS.
func (l *layer) Read(name string) ([]byte, error) {
	name, n, err := l.findNode(name)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return l.base.Read(name)
	case n.info.Dir:
		return nil, fmt.Errorf("%s is a folder", name)
	case n.read != nil:
		return n.read()
	}
	return bytes.Clone(n.data), nil
}

// Write implements FS.
func (l *layer) Write(name string, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name, err := l.checkFree(name, false)
	if err != nil {
		return err
	}
	below := ""
	if l.nodes[name] == nil {
		before, err := l.base.Read(name)
		if err == nil {
			below = hash(before)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.putFile(name, bytes.Clone(data), below, false)
}

// putFile makes or replaces a file whose place is free for it. below is the hash of the one in the base.
func (l *layer) putFile(name string, data []byte, below string, given bool) error {
	now := l.clock().UTC()
	n := &node{info: Info{Path: name, Size: int64(len(data)), Created: now, Modified: now, Given: given}, data: data, below: below}
	size := l.size + n.info.Size
	if old := l.nodes[name]; old != nil {
		n.info.Created, n.below = old.info.Created, old.below
		size -= int64(len(old.data))
	}
	if err := checkSize(name, n.info.Size); err != nil {
		return err
	}
	if size > MaxMem {
		return fmt.Errorf("the files would have more than %d bytes together", MaxMem)
	}
	if err := l.addNode(n); err != nil {
		return err
	}
	l.size = size
	return nil
}

// Mkdir implements FS.
func (l *layer) Mkdir(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name, err := l.checkFree(name, true)
	if err != nil {
		return err
	}
	if _, err := l.statNode(name, l.nodes[name]); err == nil {
		return nil
	}
	now := l.clock().UTC()
	return l.addNode(newFolder(Info{Path: name, Created: now, Modified: now}))
}

// CheckWrite returns the error of a Write to a path as far as it is known before.
func (l *layer) CheckWrite(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.checkFree(name, false)
	return err
}

// checkFree refuses a path through a file, a file in the place of a folder, and names Apply could not write.
// The caller holds the lock for this and for the change.
func (l *layer) checkFree(name string, dir bool) (string, error) {
	name, err := Clean(name)
	if err != nil {
		return "", err
	}
	if dir, ok := l.base.(*Dir); ok {
		if _, _, err := dir.mayWrite(name); err != nil {
			return "", err
		}
	}
	for at := name; ; at = path.Dir(at) {
		info, err := l.statNode(at, l.nodes[at])
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case info.Dir && at == name && !dir:
			return "", fmt.Errorf("%s is a folder", name)
		case !info.Dir && (at != name || dir):
			return "", fmt.Errorf("%s is a file, not a folder", at)
		}
		if at == "/" {
			return name, nil
		}
	}
}

// addNode puts a file or folder in place, unless there are too many.
func (l *layer) addNode(n *node) error {
	needed := 0
	for name := n.info.Path; l.nodes[name] == nil; name = path.Dir(name) {
		needed++
	}
	if len(l.nodes)+needed > MaxFiles {
		return fmt.Errorf("there are %d files and folders already; the limit is %d", len(l.nodes), MaxFiles)
	}
	l.insertNode(n)
	return nil
}

// insertNode puts a file or folder in place, and makes the folders above it.
func (l *layer) insertNode(n *node) {
	dir := path.Dir(n.info.Path)
	if l.nodes[dir] == nil {
		l.insertNode(newFolder(Info{Path: dir, Created: n.info.Modified, Modified: n.info.Modified, Given: n.info.Given}))
	}
	l.nodes[n.info.Path] = n
	l.nodes[dir].in[n.info.Path] = n
}

// Stat implements FS.
func (l *layer) Stat(name string) (Info, error) {
	name, n, err := l.findNode(name)
	if err != nil {
		return Info{}, err
	}
	return l.statNode(name, n)
}

// statNode describes the file or folder of a path, of which the layer has a node or nil.
func (l *layer) statNode(name string, n *node) (Info, error) {
	if n == nil || n.info.Dir {
		if below, err := l.base.Stat(name); err == nil || n == nil {
			below.Given = true
			return below, err
		}
	}
	return n.info, nil
}

// List implements FS.
func (l *layer) List(name string) ([]Info, error) {
	name, n, err := l.findNode(name)
	if err != nil {
		return nil, err
	}
	if n != nil && !n.info.Dir {
		return nil, fmt.Errorf("%s is a file, not a folder", name)
	}
	out, err := l.base.List(name)
	if n == nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return markGiven(out), err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	shared := map[string]bool{}
	out = slices.DeleteFunc(markGiven(out), func(info Info) bool {
		over := n.in[info.Path]
		shared[info.Path] = over != nil && over.info.Dir
		return over != nil && !over.info.Dir
	})
	out = slices.Grow(out, len(n.in))
	for _, over := range n.in {
		if !shared[over.info.Path] {
			out = append(out, over.info)
		}
	}
	slices.SortFunc(out, byPath)
	return out, nil
}

// markGiven marks files and folders as the base's.
func markGiven(infos []Info) []Info {
	for i := range infos {
		infos[i].Given = true
	}
	return infos
}

func byPath(a, b Info) int { return strings.Compare(a.Path, b.Path) }

// sortedNodes returns all files and folders of the layer, by path.
func (l *layer) sortedNodes() []*node {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := slices.SortedFunc(maps.Values(l.nodes), func(a, b *node) int { return byPath(a.info, b.info) })
	return out[1:] // without the root
}

// walk visits all files and folders below a folder, each folder before its content. It ends with fs.SkipAll if
// visit returns false. A folder without a list hides nothing but itself.
func walk(fsys FS, dir string, visit func(Info) bool) error {
	infos, err := fsys.List(dir)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if !visit(info) || info.Dir && errors.Is(walk(fsys, info.Path, visit), fs.SkipAll) {
			return fs.SkipAll
		}
	}
	return nil
}

// Documents returns the files made or changed by an agent, sorted by path.
func Documents(fsys FS) []Info {
	var out []Info
	_ = walk(fsys, "/", func(info Info) bool {
		if !info.Dir && !info.Given {
			out = append(out, info)
		}
		return true
	})
	slices.SortFunc(out, byPath)
	return out
}
