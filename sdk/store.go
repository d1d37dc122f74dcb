package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Store keeps sessions, as bytes that it does not read. Methods may be called at the same time, writing ones
// for different sessions only.
type Store interface {
	// Save replaces the state of a session; once it returns, the state is durable.
	Save(ctx context.Context, id string, state []byte) error
	// Append adds lines to the events of a session.
	Append(ctx context.Context, id string, lines []byte) error
	// Load returns the state and Events the events of a session; [ErrNotFound] if there is none.
	Load(ctx context.Context, id string) ([]byte, error)
	Events(ctx context.Context, id string) ([]byte, error)
	List(ctx context.Context) (ids []string, err error)
	Delete(ctx context.Context, id string) error
	// Lock holds a session against other processes until the returned function is called;
	// [ErrLocked] if one of them holds it.
	Lock(ctx context.Context, id string) (unlock func() error, err error)
}

// The limits of files to read, in bytes.
const (
	maxState  = 256 << 20
	maxEvents = 256 << 20
)

// DirStore keeps each session in a folder: state.json, and events.jsonl.
type DirStore struct {
	dir  *durable.Dir
	base string
}

// projectFolder is the place of a project's sessions; the ignore file keeps them out of version
// control.
const (
	projectFolder = ".bmad-task/conversations"
	ignoreFile    = ".bmad-task/.gitignore"
)

// OpenDirStore returns the store of a project's folder. The folder below is made by the first
// session.
func OpenDirStore(project string) (*DirStore, error) {
	dir, err := durable.OpenDir(project)
	if err != nil {
		return nil, err
	}
	return &DirStore{dir: dir, base: projectFolder}, nil
}

// OpenPrivateStore returns a store in a folder readable by this person only, and makes the folder.
func OpenPrivateStore(folder string) (*DirStore, error) {
	dir, err := durable.OpenPrivateDir(folder)
	if err != nil {
		return nil, err
	}
	return &DirStore{dir: dir, base: "conversations"}, nil
}

// StateFile returns the file of a session, from the project's folder.
func StateFile(id string) string { return projectFolder + "/" + id + "/state.json" }

func (d *DirStore) filePath(id, file string) string { return d.base + "/" + id + "/" + file }

func (d *DirStore) makeFolder(id string) error {
	if _, err := d.dir.MkdirAll(d.base + "/" + id); err != nil {
		return err
	}
	if d.base == projectFolder && !d.dir.Exists(ignoreFile) {
		return d.dir.Replace(ignoreFile, []byte("*\n"))
	}
	return nil
}

// Save implements Store.
func (d *DirStore) Save(_ context.Context, id string, state []byte) error {
	if err := d.makeFolder(id); err != nil {
		return err
	}
	return d.dir.Replace(d.filePath(id, "state.json"), state)
}

// Append implements Store.
func (d *DirStore) Append(_ context.Context, id string, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if err := d.makeFolder(id); err != nil {
		return err
	}
	return d.dir.AppendLines(d.filePath(id, "events.jsonl"), lines)
}

// Load implements Store.
func (d *DirStore) Load(_ context.Context, id string) ([]byte, error) {
	return d.read(d.filePath(id, "state.json"), maxState)
}

// Events implements Store.
func (d *DirStore) Events(_ context.Context, id string) ([]byte, error) {
	return d.read(d.filePath(id, "events.jsonl"), maxEvents)
}

func (d *DirStore) read(name string, limit int64) ([]byte, error) {
	data, err := d.dir.ReadFile(name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	return data, err
}

// List implements Store.
func (d *DirStore) List(context.Context) (ids []string, err error) {
	entries, err := d.dir.ReadDir(d.base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && checkID(e.Name()) == nil {
			ids = append(ids, e.Name())
		}
	}
	return ids, err
}

// Delete implements Store.
func (d *DirStore) Delete(ctx context.Context, id string) (err error) {
	unlock, err := d.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	folder := d.base + "/" + id
	entries, err := d.dir.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	// The state goes last: a session removed in part can be removed again.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if err = errors.Join(err, d.dir.Remove(folder+"/"+e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(err, d.dir.Remove(folder), d.dir.SyncDir(d.base))
}

// lockWait is how long another process may hold a session before it counts as at work.
const lockWait = 200 * time.Millisecond

// Lock implements Store.
func (d *DirStore) Lock(ctx context.Context, id string) (func() error, error) {
	folder := d.base + "/_locks"
	if _, err := d.dir.MkdirAll(folder); err != nil {
		return nil, err
	}
	brief := *d.dir
	brief.LockTimeout = lockWait
	lock, err := brief.Lock(ctx, folder+"/"+id+".lock")
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

// isUnlocked reports whether no process is at work on a session.
func (d *DirStore) isUnlocked(id string) bool {
	lock := d.base + "/_locks/" + id + ".lock"
	if !d.dir.Exists(lock) {
		return true
	}
	holder, err := d.dir.Holder(lock)
	return err == nil && holder == ""
}

// MemStore keeps sessions in memory.
type MemStore struct {
	mu     sync.Mutex
	states map[string][]byte
	events map[string][]byte
	locked map[string]bool
}

// NewMemStore returns an empty store.
func NewMemStore() *MemStore {
	return &MemStore{states: map[string][]byte{}, events: map[string][]byte{}, locked: map[string]bool{}}
}

// Save implements Store.
func (m *MemStore) Save(_ context.Context, id string, state []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[id] = bytes.Clone(state)
	return nil
}

// Append implements Store.
func (m *MemStore) Append(_ context.Context, id string, lines []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events[id] = append(m.events[id], lines...)
	return nil
}

// Load implements Store.
func (m *MemStore) Load(_ context.Context, id string) ([]byte, error) { return m.read(m.states, id) }

// Events implements Store.
func (m *MemStore) Events(_ context.Context, id string) ([]byte, error) { return m.read(m.events, id) }

func (m *MemStore) read(from map[string][]byte, id string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := from[id]
	if !ok {
		return nil, ErrNotFound
	}
	return bytes.Clone(data), nil
}

// List implements Store.
func (m *MemStore) List(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.states)), nil
}

// Delete implements Store.
func (m *MemStore) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.states[id]; !ok {
		return ErrNotFound
	}
	if m.locked[id] {
		return ErrLocked
	}
	delete(m.states, id)
	delete(m.events, id)
	return nil
}

// Lock implements Store.
func (m *MemStore) Lock(_ context.Context, id string) (func() error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked[id] {
		return nil, ErrLocked
	}
	m.locked[id] = true
	return func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locked, id)
		return nil
	}, nil
}

// listSummaries lists the stored sessions.
func listSummaries(ctx context.Context, store Store) ([]Summary, error) {
	ids, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	out := []Summary{}
	d, onDisk := store.(*DirStore)
	for _, id := range ids {
		folder := ""
		if onDisk {
			folder = d.dir.Join(d.base + "/" + id)
		}
		data, err := store.Load(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		var s *state
		if err == nil {
			s, err = parseState(id, data)
		}
		if err != nil {
			out = append(out, Summary{ID: id, Folder: folder, Problem: err.Error()})
			continue
		}
		if onDisk && s.Status == Processing && d.isUnlocked(id) {
			s.Status = Paused // as if it were opened
		}
		failed := ""
		if n := len(s.Turns); n > 0 && s.Status == Idle {
			failed = s.Turns[n-1].Problem
		}
		out = append(out, Summary{ID: id, Folder: folder, Failed: failed, Kind: s.Kind, Agent: s.Agent.ID, Title: s.Title, Status: s.Status, Questions: s.Questions,
			Model: s.Provider.Model, Provider: s.Provider.Provider, FilesOf: s.FilesOf, Turns: len(s.Turns),
			Spent: price.NewBudget(nil, 0, s.Models...).Report().Spent, Created: s.Created, Updated: s.Updated})
	}
	slices.SortStableFunc(out, func(a, b Summary) int { return b.Updated.Compare(a.Updated) })
	return out, nil
}

// storedEvents reads the saved events. A line cut by a crash is left out.
func storedEvents(ctx context.Context, store Store, id string) ([]Event, error) {
	data, err := store.Events(ctx, id)
	if err != nil {
		return nil, err
	}
	events, last := []Event{}, int64(0)
	for line := range bytes.Lines(data) {
		var e Event
		if json.Unmarshal(line, &e) == nil && e.Seq > last { // a failing disk may have written them twice
			events, last = append(events, e), e.Seq
		}
	}
	return events, nil
}

// checkID refuses a text unfit for an id, before it becomes the name of a folder.
func checkID(id string) error {
	if id == "" || len(id) > 64 {
		return ErrNotFound
	}
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return ErrNotFound
		}
	}
	return nil
}

// Summary describes a saved session.
type Summary struct {
	ID string `json:"id"`
	// Folder has the files of the session, if a [DirStore] keeps it.
	Folder string `json:"folder,omitempty"`
	Kind   string `json:"kind"`
	Agent  string `json:"agent"`
	Title  string `json:"title,omitempty"`
	Status Status `json:"status"`
	// Questions are the open ones, the oldest first.
	Questions []Question `json:"questions,omitempty"`
	Model     string     `json:"model"`
	// Provider is the kind of the model's server.
	Provider string `json:"provider,omitempty"`
	// FilesOf is "caller" if the session was started with files of the caller's, for OpenWith.
	FilesOf string      `json:"files_of,omitempty"`
	Turns   int         `json:"turns"`
	Spent   price.Money `json:"spent_nano_usd"`
	Created time.Time   `json:"created_at"`
	Updated time.Time   `json:"updated_at"`
	// Problem says why the session cannot be opened; "" if it can.
	Problem string `json:"problem,omitempty"`
	// Failed says why the last turn of an idle conversation failed.
	Failed string `json:"failed,omitempty"`
}
