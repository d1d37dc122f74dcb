// Package filestore keeps the sessions of a project as JSON files that people
// can read with jq and fix with an editor:
//
//	.bmad-task/.gitignore               "*": run state is not for the repository
//	.bmad-task/session-<id>.json        a session; its rename is the one commit point
//	.bmad-task/names/<task name>        the session with that name; its exclusive creation decides
//	.bmad-task/locks/<id>.lock          the lock of a session, never removed
//	.bmad-task/locks/project.lock       held while a session is started
//	.bmad-task/task-mapping*.json       id → name, derived from the sessions
//	.bmad-task/temp/<id>/…              the texts that sessions refer to
//
// Nothing is made before the first session is.
package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Paths relative to the project.
const (
	// Folder holds the state of all runs of a project.
	Folder = store.Folder
	// IgnoreFile keeps the folder out of version control.
	IgnoreFile = Folder + "/.gitignore"
	// NamesFolder has a file for each task name, with the id of its session.
	NamesFolder = Folder + "/names"
	// LocksFolder has the lock files.
	LocksFolder = Folder + "/locks"
	// ProjectLock is held while a session is started.
	ProjectLock = LocksFolder + "/project.lock"
)

// SessionLock returns the lock that is held while a session changes.
func SessionLock(id string) string { return LocksFolder + "/" + id + ".lock" }

// Store keeps the sessions and contents of one project.
type Store struct {
	dir *durable.Dir
}

// New returns the store of the project in dir, which stays the caller's to close.
func New(dir *durable.Dir) *Store { return &Store{dir: dir} }

// parseID returns the canonical form of an id, so that a path is built from nothing else.
func parseID(id string) (string, bool) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 {
		return "", false
	}
	return u.String(), true
}

// Get returns a session by its id.
func (s *Store) Get(ctx context.Context, id string) (*workflow.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	canonical, ok := parseID(id)
	if !ok {
		return nil, store.NotFound(id)
	}
	return s.read(canonical)
}

// missing is the error for a session that does not exist: that of the state folder,
// where the folder itself cannot be read.
func (s *Store) missing(ref string) error {
	info, err := s.dir.Stat(Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.dir.LeadsOut(Folder):
	case err != nil:
		return s.storage(err)
	case !info.IsDir():
		return s.storage(syscall.ENOTDIR)
	}
	return store.NotFound(ref)
}

func (s *Store) read(id string) (*workflow.Session, error) {
	data, err := s.load(id)
	if err != nil {
		return nil, err
	}
	session, err := store.Decode(data, store.SessionPath(id))
	if err == nil {
		err = itself(session.SessionID, id)
	}
	if err != nil {
		return nil, err
	}
	return session, nil
}

// summary reads what a list shows of the session in a file named after id.
func (s *Store) summary(ctx context.Context, id string) (workflow.Summary, error) {
	if err := ctx.Err(); err != nil {
		return workflow.Summary{}, err
	}
	if canonical, ok := parseID(id); !ok || canonical != id {
		return workflow.Summary{}, fault.New(fault.Storage, "session file %s/session-%s.json has no session id in lower case in its name, so it is skipped", Folder, id).
			WithHint("rename it to session-<session_id>.json")
	}
	session, err := s.read(id)
	if err != nil {
		return workflow.Summary{}, err
	}
	return session.Summary(), nil
}

func (s *Store) load(id string) ([]byte, error) {
	data, err := s.dir.ReadFile(store.SessionPath(id), durable.MaxText)
	if remedy, ok := durable.Hostile(err); ok {
		return nil, fault.New(fault.Storage, "session file %w", err).WithHint("%s; other sessions are not affected", remedy)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.missing(id)
	}
	return data, s.storage(err)
}

// itself checks that a session file is named after its session.
func itself(found, id string) error {
	if found == id {
		return nil
	}
	return fault.New(fault.Storage, "session file %s holds another session: %q", store.SessionPath(id), found).
		WithHint("rename the file to session-%s.json, or fix its session_id", found)
}

// Find returns the id for an id or a task name.
func (s *Store) Find(ctx context.Context, ref string) (string, error) {
	if id, ok := parseID(ref); ok {
		if s.dir.Exists(store.SessionPath(id)) {
			return id, nil
		}
		return "", s.missing(ref)
	}
	if !PlainName(ref) {
		return "", store.NotFound(ref)
	}
	if id, err := s.owner(ref); err == nil && id != "" {
		return id, nil
	}
	// Names can be missing or changed by hand; the sessions decide.
	return s.findByName(ctx, ref)
}

// findByName asks the sessions themselves.
func (s *Store) findByName(ctx context.Context, name string) (string, error) {
	sessions, _, err := s.All(ctx)
	if err != nil {
		return "", err
	}
	names := make([]string, len(sessions))
	for i, session := range sessions {
		if session.TaskName == name {
			return session.SessionID, nil
		}
		names[i] = session.TaskName
	}
	return "", store.NotFound(name, names...)
}

// List returns the sessions that a query asks for. It reads them all.
func (s *Store) List(ctx context.Context, q store.Query) (store.Page, error) {
	all, broken, err := s.All(ctx)
	if err != nil {
		return store.Page{}, err
	}
	return q.PageOf(all, broken)
}

// All returns every readable session in short, the oldest first, and what could not be read.
func (s *Store) All(ctx context.Context) ([]workflow.Summary, []store.Broken, error) {
	entries, err := s.dir.ReadDir(Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, s.storage(err)
	}
	var files []string
	for _, e := range entries {
		if id, ok := sessionOf(e.Name()); ok {
			files = append(files, id)
		}
	}
	// Decoding is most of the work, and the files do not depend on each other.
	read, errs := make([]workflow.Summary, len(files)), make([]error, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				read[i], errs[i] = s.summary(ctx, files[i])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	sessions := make([]workflow.Summary, 0, len(files))
	var bad []store.Broken
	for i, id := range files {
		if errs[i] != nil {
			bad = append(bad, store.Broken{Path: path.Join(Folder, "session-"+id+".json"), Err: errs[i]})
			continue
		}
		sessions = append(sessions, read[i])
	}
	store.SortByAge(sessions)
	return sessions, bad, nil
}

// sessionOf returns the id in the name of a session's file.
func sessionOf(name string) (id string, ok bool) {
	base, ok := strings.CutPrefix(name, "session-")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(base, ".json")
}

// Latest returns the sessions whose files were changed last.
func (s *Store) Latest(ctx context.Context, n int) ([]workflow.Summary, error) {
	entries, err := s.dir.ReadDir(Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.storage(err)
	}
	type file struct {
		id string
		at time.Time
	}
	var files []file
	for _, e := range entries {
		if id, ok := sessionOf(e.Name()); ok {
			if info, err := e.Info(); err == nil { // else it has gone since
				files = append(files, file{id, info.ModTime()})
			}
		}
	}
	slices.SortStableFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	var out []workflow.Summary
	for _, f := range files {
		if len(out) == n {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if summary, err := s.summary(ctx, f.id); err == nil {
			out = append(out, summary)
		}
	}
	return out, nil
}

// Stored returns the stored form of a session.
func (s *Store) Stored(ctx context.Context, id string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	canonical, ok := parseID(id)
	if !ok {
		return nil, store.NotFound(id)
	}
	return s.load(canonical)
}

// Confirm makes durable what can be seen of a session.
func (s *Store) Confirm(ctx context.Context, _ string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.storage(s.dir.SyncDir(Folder))
}

// gone reports whether a name certainly does not exist; an error that leaves it open does
// not count.
func (s *Store) gone(name string) bool {
	_, err := s.dir.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// storage gives an error of the disk its code, cause and remedy.
func (s *Store) storage(err error) error { return store.Trouble(s.dir, err) }
