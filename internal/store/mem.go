package store

import (
	"context"
	"slices"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Mem keeps everything in memory, in the stored form. It is safe for concurrent use.
type Mem struct {
	mu       sync.Mutex
	sessions map[string][]byte
	names    map[string]string // task name → id

	// contents has a lock of its own: a change under Update puts texts.
	contentsMu sync.Mutex
	contents   map[string]string // path → text
}

// NewMem returns an empty store.
func NewMem() *Mem {
	return &Mem{sessions: map[string][]byte{}, names: map[string]string{}, contents: map[string]string{}}
}

// Create stores a new session.
func (m *Mem) Create(ctx context.Context, s *workflow.Session, names Names) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.SessionID] != nil {
		return fault.New(fault.Conflict, "session %q exists already", s.SessionID)
	}
	n := FirstFree(func(n int) bool {
		name := names.Candidate(n)
		return m.names[name] != "" || (names.Taken != nil && names.Taken(name))
	})
	s.TaskName = names.Candidate(n)
	data, err := Encode(s)
	if err != nil {
		return err
	}
	m.sessions[s.SessionID], m.names[s.TaskName] = data, s.SessionID
	return nil
}

// Get returns a session by its id.
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
		return nil, NotFound(id)
	}
	return Decode(data, id)
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
	return "", NotFound(ref)
}

// List returns every session, the oldest first.
func (m *Mem) List(ctx context.Context) ([]workflow.Summary, []Broken, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]workflow.Summary, 0, len(m.sessions))
	var bad []Broken
	for id := range m.sessions {
		s, err := m.get(id)
		if err != nil {
			bad = append(bad, Broken{Path: id, Err: err})
			continue
		}
		out = append(out, s.Summary())
	}
	SortByAge(out)
	return out, bad, nil
}

// Latest returns the sessions changed last.
func (m *Mem) Latest(ctx context.Context, n int) ([]workflow.Summary, error) {
	all, _, err := m.List(ctx)
	slices.SortStableFunc(all, func(a, b workflow.Summary) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all[:min(n, len(all))], err
}

// Update changes a session.
func (m *Mem) Update(ctx context.Context, id string, change func(*workflow.Session) error, undo ...func()) (*workflow.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.update(id, change)
	if err != nil {
		for _, u := range undo {
			u()
		}
		return nil, err
	}
	return s, nil
}

func (m *Mem) update(id string, change func(*workflow.Session) error) (*workflow.Session, error) {
	s, err := m.get(id)
	if err != nil {
		return nil, err
	}
	if err := change(s); err != nil {
		return nil, err
	}
	s.Revision++
	data, err := Encode(s)
	if err != nil {
		return nil, err
	}
	m.sessions[id] = data
	return s, nil
}

// Put stores texts.
func (m *Mem) Put(ctx context.Context, sessionID string, texts []Text) ([]workflow.ContentRef, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.contentsMu.Lock()
	defer m.contentsMu.Unlock()
	refs := make([]workflow.ContentRef, len(texts))
	for i, t := range texts {
		n := 0
		path := ContentPath(sessionID, t, n)
		for {
			if _, taken := m.contents[path]; !taken {
				break
			}
			n++
			path = ContentPath(sessionID, t, n)
		}
		m.contents[path] = t.Body
		refs[i] = NewRef(path, t)
	}
	return refs, nil
}

// Read returns the text behind a reference.
func (m *Mem) Read(ctx context.Context, ref workflow.ContentRef) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m.contentsMu.Lock()
	defer m.contentsMu.Unlock()
	body, ok := m.contents[ref.FilePath]
	if !ok {
		return "", MissingContent(ref, nil)
	}
	return body, nil
}

// Drop removes texts.
func (m *Mem) Drop(refs []workflow.ContentRef) {
	m.contentsMu.Lock()
	defer m.contentsMu.Unlock()
	for _, ref := range refs {
		delete(m.contents, ref.FilePath)
	}
}
