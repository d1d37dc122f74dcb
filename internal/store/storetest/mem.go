package storetest

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Mem keeps everything in memory, in the stored form. It is safe for concurrent use.
type Mem struct {
	mu       sync.Mutex
	sessions map[string][]byte
	names    map[string]string // task name → id

	// contents has a separate lock: texts are read even during a change.
	contentsMu sync.Mutex
	contents   map[string]string // path → text
}

// NewMem returns an empty store.
func NewMem() *Mem {
	return &Mem{sessions: map[string][]byte{}, names: map[string]string{}, contents: map[string]string{}}
}

// Create stores a new session.
func (m *Mem) Create(ctx context.Context, s *workflow.Session, names store.Names) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.SessionID] != nil {
		return fault.New(fault.Conflict, "run %q exists already", s.SessionID)
	}
	n := store.FirstFree(func(n int) bool {
		name := names.Candidate(n)
		return m.names[name] != "" || (names.Taken != nil && names.Taken(name))
	})
	if err := names.Give(s, names.Candidate(n)); err != nil {
		return err
	}
	data, err := store.Encode(s)
	if err != nil {
		return err
	}
	m.sessions[s.SessionID], m.names[s.TaskName] = data, s.SessionID
	return nil
}

// Get returns a session by id.
func (m *Mem) Get(ctx context.Context, id string) (*workflow.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(id)
}

func (m *Mem) get(id string) (*workflow.Session, error) {
	data, ok := m.sessions[id]
	if !ok {
		return nil, store.NotFound(id)
	}
	return store.Decode(data, id)
}

// Find returns the id for an id or a task name.
func (m *Mem) Find(ctx context.Context, ref string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[ref] != nil {
		return ref, nil
	}
	if id := m.names[ref]; id != "" {
		return id, nil
	}
	return "", store.NotFound(ref, slices.Collect(maps.Keys(m.names))...)
}

// All lists all sessions.
func (m *Mem) All(ctx context.Context) (store.Listing, error) {
	if err := ctx.Err(); err != nil {
		return store.Listing{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]workflow.Summary, 0, len(m.sessions))
	var bad []store.Broken
	for id, data := range m.sessions {
		s, err := store.DecodeSummary(data, id)
		if err != nil {
			bad = append(bad, store.Broken{Path: id, Err: err})
			continue
		}
		all = append(all, s)
	}
	return store.NewListing(all, bad), nil
}

// Latest lists all sessions.
func (m *Mem) Latest(ctx context.Context, _ int) (store.Listing, error) { return m.All(ctx) }

// TaskNames returns the task names in use.
func (m *Mem) TaskNames(ctx context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.names)), ctx.Err()
}

// Stored returns the stored form of a session.
func (m *Mem) Stored(ctx context.Context, id string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.sessions[id]; ok {
		return bytes.Clone(data), nil
	}
	return nil, store.NotFound(id)
}

// StoredHash returns the hash of the stored form.
func (m *Mem) StoredHash(ctx context.Context, id string) (string, error) {
	data, err := m.Stored(ctx, id)
	if err != nil {
		return "", err
	}
	return workflow.Hash(data), nil
}

// Confirm does nothing: the visible state is the only one.
func (m *Mem) Confirm(ctx context.Context, _ string) error { return ctx.Err() }

// Update changes a session.
func (m *Mem) Update(ctx context.Context, id string, change store.Change) (*workflow.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.get(id)
	if err != nil {
		return nil, err
	}
	tx := &memTx{Mem: m, id: id}
	err = change(tx, s)
	var data []byte
	if err == nil {
		s.Revision++
		data, err = store.Encode(s)
	}
	if err != nil {
		m.contentsMu.Lock()
		defer m.contentsMu.Unlock()
		for _, ref := range tx.put {
			delete(m.contents, ref.FilePath)
		}
		return nil, err
	}
	m.sessions[id] = data
	return s, nil
}

// memTx is an update under way.
type memTx struct {
	*Mem
	id  string
	put []workflow.ContentRef
}

// Put stores texts; they are dropped if the update fails.
func (t *memTx) Put(ctx context.Context, texts []store.Text) ([]workflow.ContentRef, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.contentsMu.Lock()
	defer t.contentsMu.Unlock()
	refs := make([]workflow.ContentRef, len(texts))
	for i, text := range texts {
		path := store.ContentPath(t.id, text, 0)
		for n := 1; t.has(path); n++ {
			path = store.ContentPath(t.id, text, n)
		}
		t.contents[path] = text.Body
		refs[i] = store.NewRef(path, text)
	}
	t.put = append(t.put, refs...)
	return refs, nil
}

func (m *Mem) has(path string) bool { _, ok := m.contents[path]; return ok }

// Read returns the text behind a reference.
func (m *Mem) Read(ctx context.Context, ref workflow.ContentRef) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m.contentsMu.Lock()
	defer m.contentsMu.Unlock()
	body, ok := m.contents[ref.FilePath]
	if !ok {
		return "", store.MissingContent(ref, fs.ErrNotExist)
	}
	return body, nil
}
