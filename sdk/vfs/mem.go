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

// Mem keeps files in memory. Its methods may be called at the same time.
type Mem struct{ *layer }

// NewMem returns an empty file system. clock is nil if files have no times.
func NewMem(clock func() time.Time) *Mem { return &Mem{newLayer(nil, clock)} }

// Give adds a file for the agent to read. It counts as given until the agent changes it. The data
// must not be changed afterwards.
func (m *Mem) Give(name string, data []byte) error { return m.put(name, data, "", true) }

// GiveLater is Give for a file that is read when it is needed, and has about a size. It does not count to
// the size of all files, and a snapshot leaves it out.
func (m *Mem) GiveLater(name string, size int64, read func() ([]byte, error)) error {
	name, err := Clean(name)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nodes[name] != nil {
		return fmt.Errorf("%s is there already", name)
	}
	if err := m.room(name); err != nil {
		return err
	}
	m.mkdir(path.Dir(name), true)
	m.add(&node{info: Info{Path: name, Size: size, Given: true}, read: read})
	return nil
}

// layer keeps files in memory, over another file system if there is one.
type layer struct {
	base  FS // nil for none
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
	// below is the hash of the file of the base at its first change; "" if there was none.
	below string
	in    map[string]*node // the entries of a folder, by path
}

func folder(info Info) *node {
	info.Dir = true
	return &node{info: info, in: map[string]*node{}}
}

func newLayer(base FS, clock func() time.Time) *layer {
	if clock == nil {
		clock = func() time.Time { return time.Time{} }
	}
	return &layer{base: base, clock: clock, nodes: map[string]*node{"/": folder(Info{Path: "/", Given: true})}}
}

// find returns the node of a path in this layer; nil if the base has to be asked.
func (l *layer) find(name string) (clean string, n *node, err error) {
	clean, err = Clean(name)
	if err != nil {
		return "", nil, err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if n = l.nodes[clean]; n == nil && l.base == nil {
		return "", nil, absent(clean)
	}
	return clean, n, nil
}

// Read implements FS.
func (l *layer) Read(name string) ([]byte, error) {
	name, n, err := l.find(name)
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
	name, err := l.free(name, false)
	if err != nil {
		return err
	}
	below := ""
	if _, own, _ := l.find(name); own == nil && l.base != nil {
		if below, err = hashOf(l.base, name); err != nil {
			return err
		}
	}
	return l.put(name, bytes.Clone(data), below, false)
}

// put makes or replaces a file. below is the hash of the one in the base.
func (l *layer) put(name string, data []byte, below string, given bool) error {
	name, err := Clean(name)
	if err == nil {
		err = checkSize(name, int64(len(data)))
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old, now := l.nodes[name], l.clock().UTC()
	n := &node{info: Info{Path: name, Size: int64(len(data)), Created: now, Modified: now, Given: given}, data: data, below: below}
	size := l.size + n.info.Size
	if old != nil {
		n.info.Created, n.below = old.info.Created, old.below
		size -= int64(len(old.data))
	}
	switch {
	case old != nil && old.info.Dir:
		return fmt.Errorf("%s is a folder", name)
	case size > MaxMem:
		return fmt.Errorf("the files would have more than %d bytes together", MaxMem)
	}
	if old == nil {
		if err := l.room(name); err != nil {
			return err
		}
		l.mkdir(path.Dir(name), given)
	}
	l.add(n)
	l.size = size
	return nil
}

func (l *layer) add(n *node) {
	l.nodes[n.info.Path] = n
	l.nodes[path.Dir(n.info.Path)].in[n.info.Path] = n
}

// Mkdir implements FS.
func (l *layer) Mkdir(name string) error {
	name, err := l.free(name, true)
	if err != nil {
		return err
	}
	if info, err := l.Stat(name); err == nil && info.Dir {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.room(name); err != nil {
		return err
	}
	l.mkdir(name, false)
	return nil
}

// free refuses a path that goes through a file, a file in the place of a folder, and names that Apply could
// not write.
func (l *layer) free(name string, dir bool) (string, error) {
	name, err := Clean(name)
	if err != nil || l.base == nil { // all that is there is in this layer: put and room look at it
		return name, err
	}
	if dir, ok := l.base.(*Dir); ok {
		if _, _, err := dir.mayWrite(name); err != nil {
			return "", err
		}
	}
	for at := name; at != "/"; at = path.Dir(at) {
		info, err := l.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case info.Dir && at == name && !dir:
			return "", fmt.Errorf("%s is a folder", name)
		case !info.Dir && (at != name || dir):
			return "", fmt.Errorf("%s is a file, not a folder", at)
		}
	}
	return name, nil
}

// room refuses a path that goes through a file, and one that needs more files and folders than there
// may be.
func (l *layer) room(name string) error {
	needed := 0
	for ; l.nodes[name] == nil; name = path.Dir(name) {
		needed++
	}
	switch {
	case !l.nodes[name].info.Dir:
		return fmt.Errorf("%s is a file, not a folder", name)
	case len(l.nodes)+needed > MaxFiles:
		return fmt.Errorf("there are %d files and folders already; the limit is %d", len(l.nodes), MaxFiles)
	}
	return nil
}

// mkdir makes a folder and those above it, for which there is room.
func (l *layer) mkdir(name string, given bool) {
	if l.nodes[name] == nil {
		l.mkdir(path.Dir(name), given)
		now := l.clock().UTC()
		l.add(folder(Info{Path: name, Created: now, Modified: now, Given: given}))
	}
}

// Stat implements FS.
func (l *layer) Stat(name string) (Info, error) {
	name, n, err := l.find(name)
	if err != nil {
		return Info{}, err
	}
	if l.base != nil && (n == nil || n.info.Dir) {
		if below, err := l.base.Stat(name); err == nil || n == nil {
			below.Given = true
			return below, err
		}
	}
	return n.info, nil
}

// List implements FS.
func (l *layer) List(name string) ([]Info, error) {
	name, n, err := l.find(name)
	if err != nil {
		return nil, err
	}
	if n != nil && !n.info.Dir {
		return nil, fmt.Errorf("%s is a file, not a folder", name)
	}
	var below []Info
	if l.base != nil {
		below, err = l.base.List(name)
		if err != nil && (n == nil || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	var own map[string]*node
	if n != nil {
		own = n.in
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	out, shared := make([]Info, 0, len(below)+len(own)), map[string]bool{}
	for _, info := range below {
		if over := own[info.Path]; over == nil || over.info.Dir {
			info.Given = true
			out = append(out, info)
			if over != nil {
				shared[info.Path] = true
			}
		}
	}
	for _, over := range own {
		if !shared[over.info.Path] {
			out = append(out, over.info)
		}
	}
	slices.SortFunc(out, byPath)
	return out, nil
}

func byPath(a, b Info) int { return strings.Compare(a.Path, b.Path) }

// sortedNodes returns all files and folders of the layer, by path.
func (l *layer) sortedNodes() []*node {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := slices.SortedFunc(maps.Values(l.nodes), func(a, b *node) int { return byPath(a.info, b.info) })
	return out[1:] // without the root
}

// walk visits all files and folders below a folder, each folder before its content, until visit returns false.
func walk(fsys FS, dir string, visit func(Info) bool) error {
	_, err := walkIn(fsys, dir, visit)
	return err
}

func walkIn(fsys FS, dir string, visit func(Info) bool) (more bool, err error) {
	infos, err := fsys.List(dir)
	if err != nil {
		return false, err
	}
	for _, info := range infos {
		if !visit(info) {
			return false, nil
		}
		if info.Dir { // one that cannot be listed hides nothing but itself
			if more, err := walkIn(fsys, info.Path, visit); !more && err == nil {
				return false, nil
			}
		}
	}
	return true, nil
}

// Documents returns the files that an agent has made or changed, sorted by path.
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
