package vfs

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Mem keeps files in memory. Its methods may be called at the same time.
type Mem struct {
	clock func() time.Time

	mu    sync.RWMutex
	nodes map[string]*node
	size  int64
}

// node is a file or folder. Its data is never changed, but replaced.
type node struct {
	info Info
	data []byte
	in   map[string]*node // what lies in a folder, by path
}

func folder(info Info) *node {
	info.Dir = true
	return &node{info: info, in: map[string]*node{}}
}

// NewMem returns an empty file system. clock is nil for files without times.
func NewMem(clock func() time.Time) *Mem {
	if clock == nil {
		clock = func() time.Time { return time.Time{} }
	}
	return &Mem{clock: clock, nodes: map[string]*node{"/": folder(Info{Path: "/", Given: true})}}
}

// Read implements FS.
func (m *Mem) Read(name string) ([]byte, error) {
	name, err := Clean(name)
	if err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := m.nodes[name]
	switch {
	case n == nil:
		return nil, absent(name)
	case n.info.Dir:
		return nil, fmt.Errorf("%s is a folder", name)
	}
	return bytes.Clone(n.data), nil
}

// Write implements FS.
func (m *Mem) Write(name string, data []byte) error { return m.put(name, bytes.Clone(data), false) }

// Give adds a file for the agent to read. It counts as given until the agent changes it. The data
// must not be changed afterwards.
func (m *Mem) Give(name string, data []byte) error { return m.put(name, data, true) }

func (m *Mem) put(name string, data []byte, given bool) error {
	name, err := Clean(name)
	if err == nil {
		err = checkSize(name, int64(len(data)))
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, now := m.nodes[name], m.clock().UTC()
	n := &node{info: Info{Path: name, Size: int64(len(data)), Created: now, Modified: now, Given: given}, data: data}
	size := m.size + n.info.Size
	if old != nil {
		n.info.Created = old.info.Created
		size -= old.info.Size
	}
	switch {
	case old != nil && old.info.Dir:
		return fmt.Errorf("%s is a folder", name)
	case size > MaxMem:
		return fmt.Errorf("the files would have more than %d bytes together", MaxMem)
	}
	if old == nil {
		if err := m.room(name); err != nil {
			return err
		}
		m.mkdir(path.Dir(name), given)
	}
	m.add(n)
	m.size = size
	return nil
}

func (m *Mem) add(n *node) {
	m.nodes[n.info.Path] = n
	m.nodes[path.Dir(n.info.Path)].in[n.info.Path] = n
}

// Mkdir implements FS.
func (m *Mem) Mkdir(name string) error {
	name, err := Clean(name)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.nodes[name]; n != nil && n.info.Dir {
		return nil
	}
	if err := m.room(name); err != nil {
		return err
	}
	m.mkdir(name, false)
	return nil
}

// room refuses a path that goes through a file, and one that needs more files and folders than there
// may be.
func (m *Mem) room(name string) error {
	needed := 0
	for ; m.nodes[name] == nil; name = path.Dir(name) {
		needed++
	}
	switch {
	case !m.nodes[name].info.Dir:
		return fmt.Errorf("%s is a file, not a folder", name)
	case len(m.nodes)+needed > MaxFiles:
		return fmt.Errorf("there are %d files and folders already; the limit is %d", len(m.nodes), MaxFiles)
	}
	return nil
}

// mkdir makes a folder and those above it, for which there is room.
func (m *Mem) mkdir(name string, given bool) {
	if m.nodes[name] == nil {
		m.mkdir(path.Dir(name), given)
		now := m.clock().UTC()
		m.add(folder(Info{Path: name, Created: now, Modified: now, Given: given}))
	}
}

// Stat implements FS.
func (m *Mem) Stat(name string) (Info, error) {
	name, err := Clean(name)
	if err != nil {
		return Info{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := m.nodes[name]
	if n == nil {
		return Info{}, absent(name)
	}
	return n.info, nil
}

// List implements FS.
func (m *Mem) List(name string) ([]Info, error) {
	name, err := Clean(name)
	if err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	switch n := m.nodes[name]; {
	case n == nil:
		return nil, absent(name)
	case !n.info.Dir:
		return nil, fmt.Errorf("%s is a file, not a folder", name)
	}
	out := make([]Info, 0, len(m.nodes[name].in))
	for _, n := range m.nodes[name].in {
		out = append(out, n.info)
	}
	sortInfos(out)
	return out, nil
}

func sortInfos(infos []Info) {
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.Path, b.Path) })
}

// Snapshot is the content of a file system, for saving.
type Snapshot struct {
	Entries []Entry `json:"entries"`
}

// Entry is a file or folder of a [Snapshot].
type Entry struct {
	Info
	// Text is the content where it is UTF-8, else Base64 is.
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"`
	// Base is the SHA-256 of the file that an [Overlay] has replaced, in hex.
	Base string `json:"base_sha256,omitempty"`
}

// Snapshot returns all files and folders, sorted by path.
func (m *Mem) Snapshot() Snapshot {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := Snapshot{Entries: []Entry{}}
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		if n := m.nodes[name]; name != "/" {
			s.Entries = append(s.Entries, entryOf(n))
		}
	}
	return s
}

func entryOf(n *node) Entry {
	e := Entry{Info: n.info}
	if utf8.Valid(n.data) {
		e.Text = string(n.data)
	} else {
		e.Base64 = base64.StdEncoding.EncodeToString(n.data)
	}
	return e
}

// Restore replaces all files and folders. Where the snapshot is not one, nothing is changed.
func (m *Mem) Restore(s Snapshot) error {
	fresh := NewMem(m.clock)
	for _, e := range s.Entries {
		data, err := e.data()
		if err == nil && e.Dir {
			err = fresh.Mkdir(e.Path)
		} else if err == nil {
			err = fresh.put(e.Path, data, e.Given)
		}
		if err != nil {
			return fmt.Errorf("the entry %q of the snapshot cannot be used: %w", e.Path, err)
		}
		name, _ := Clean(e.Path)
		info := e.Info
		info.Path, info.Size = name, int64(len(data))
		fresh.nodes[name].info = info
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes, m.size = fresh.nodes, fresh.size
	return nil
}

func (e Entry) data() ([]byte, error) {
	if e.Base64 == "" {
		return []byte(e.Text), nil
	}
	if e.Text != "" {
		return nil, errors.New("it has two contents")
	}
	return base64.StdEncoding.DecodeString(e.Base64)
}

// walk visits what lies below a folder, each folder before its content, until visit returns false.
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
	sortInfos(out)
	return out
}
