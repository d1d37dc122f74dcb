package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Create stores a new session under the first free task name.
func (s *Store) Create(ctx context.Context, session *workflow.Session, names store.Names) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	id, ok := store.ParseID(session.SessionID)
	if !ok {
		return fault.New(fault.InvalidArgument, "%q is not a session id", session.SessionID)
	}
	if s.dir.Exists(store.SessionPath(id)) {
		_ = s.dir.SyncDir(Folder) // the process which stored it may have died before the confirmation
		return fault.New(fault.Conflict, "run %q exists already", id)
	}
	if _, err := s.dir.MkdirAll(LocksFolder); err != nil {
		return s.storageError(err)
	}
	if err := s.createLocked(ctx, id, session, names); err != nil {
		return s.storageError(err)
	}
	// The session is visible, so nobody takes its name: others need not wait for the disk.
	return s.storageError(s.dir.Confirm(store.SessionPath(id)))
}

func (s *Store) createLocked(ctx context.Context, id string, session *workflow.Session, names store.Names) error {
	lock, err := s.lockForChange(ctx, ProjectLock)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	if err := s.prepareFiles(ctx); err != nil {
		return err
	}
	name, written, err := s.reserveName(ctx, id, names)
	if err != nil {
		return err
	}
	var syncs []func() error
	if written != nil {
		syncs = []func() error{written.Sync, func() error { return s.dir.SyncDir(NamesFolder) }}
	}
	if err = names.Give(session, name); err == nil {
		err = s.storeNew(ctx, id, session, syncs)
	}
	if err != nil && s.isGone(store.SessionPath(id)) {
		// If this fails, the next start takes both over.
		if written != nil {
			_ = written.Drop()
		} else {
			_ = s.dir.Remove(namePath(name))
		}
		_ = s.dropUnstored()
	}
	return err
}

// storeNew stores a session with a given name: in the mapping, and then by itself. Everything needed before
// becomes durable at the same time, by syncs. A crash before the session is stored leaves an unused name
// and entry, which the next start takes over. The caller holds the project lock.
func (s *Store) storeNew(ctx context.Context, id string, session *workflow.Session, syncs []func() error) error {
	data, err := store.Encode(session)
	if err != nil {
		return err
	}
	name := store.SessionPath(id)
	temp := path.Dir(name) + "/" + durable.TempName(path.Base(name))
	written, err := s.dir.Write(temp, data)
	if err != nil {
		return err
	}
	if err = s.addToMapping(ctx, session, append(syncs, written.Sync)); err == nil {
		err = s.dir.Rename(temp, name)
	}
	if err != nil {
		_ = written.Drop()
	}
	return err
}

// prepareFiles makes the files of the store. Missing names are taken from the sessions, for example in a project
// used by an older server before.
func (s *Store) prepareFiles(ctx context.Context) error {
	if err := s.dir.Ignore(Folder); err != nil {
		return err
	}
	if s.dir.Exists(NamesFolder) {
		return nil
	}
	sessions, broken, err := s.byAge(ctx)
	if err != nil {
		return err
	}
	sessions = append(sessions, s.mappedOnly(sessions, broken)...)
	// Under another name first, so the folder appears complete.
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
