package filestore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Create stores a new session under the first free task name.
func (s *Store) Create(ctx context.Context, session *workflow.Session, names store.Names) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	id, ok := parseID(session.SessionID)
	if !ok {
		return fault.New(fault.InvalidArgument, "%q is not a session id", session.SessionID)
	}
	if s.dir.Exists(store.SessionPath(id)) {
		_ = s.dir.SyncDir(Folder) // the process that stored it may have died before it was confirmed
		return fault.New(fault.Conflict, "session %q exists already", id)
	}
	if _, err := s.dir.MkdirAll(LocksFolder); err != nil {
		return s.storage(err)
	}
	lock, err := s.dir.Lock(ctx, ProjectLock)
	if err != nil {
		return s.storage(err)
	}
	defer func() { _ = lock.Unlock() }()
	return s.storage(s.create(ctx, id, session, names))
}

// create stores a session: its name, the mapping, and last the session itself. A
// crash before that leaves an unused name and entry, which the next start takes
// over; an error leaves no name. The caller holds the project lock.
func (s *Store) create(ctx context.Context, id string, session *workflow.Session, names store.Names) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	name, err := s.reserve(ctx, id, names)
	if err != nil {
		return err
	}
	session.TaskName = name
	data, err := store.Encode(session)
	if err == nil {
		err = s.addToMapping(ctx, session)
	}
	if err == nil {
		err = s.dir.Replace(store.SessionPath(id), data)
	}
	if err != nil && s.gone(store.SessionPath(id)) {
		// Where this fails, the next start takes both over.
		_ = s.dir.Remove(namePath(name))
		_ = s.dropUnstored()
	}
	return err
}

// prepare makes the files of the store. The names are taken from the sessions
// where they are missing, as in a project that an older server has used.
func (s *Store) prepare(ctx context.Context) error {
	if !s.dir.Exists(IgnoreFile) {
		if err := s.dir.Replace(IgnoreFile, []byte("*\n")); err != nil {
			return err
		}
	}
	if s.dir.Exists(NamesFolder) {
		return nil
	}
	sessions, broken, err := s.byAge(ctx)
	if err != nil {
		return err
	}
	sessions = append(sessions, s.mappedOnly(sessions, broken)...)
	// Under a name of its own first, so that the folder appears complete.
	building := NamesFolder + ".new"
	if _, err := s.dir.MkdirAll(building); err != nil {
		return err
	}
	for _, old := range sessions {
		if !PlainName(old.TaskName) {
			continue
		}
		if err := s.dir.CreateUnsynced(building+"/"+old.TaskName, []byte(old.SessionID+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := s.dir.SyncDir(building); err != nil {
		return err
	}
	return s.dir.Move(building, NamesFolder)
}
