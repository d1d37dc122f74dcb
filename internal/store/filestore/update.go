package filestore

import (
	"context"
	"errors"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Update changes a session under its lock.
func (s *Store) Update(ctx context.Context, id string, change store.Change) (*workflow.Session, error) {
	canonical, ok := store.ParseID(id)
	if !ok || s.isGone(store.SessionPath(canonical)) {
		return nil, s.missingError(id)
	}
	session, err := s.updateLocked(ctx, canonical, change)
	if err != nil {
		return nil, s.storageError(err)
	}
	s.repairDerived(ctx, session)
	return session, nil
}

func (s *Store) updateLocked(ctx context.Context, id string, change store.Change) (*workflow.Session, error) {
	if _, err := s.dir.MkdirAll(LocksFolder); err != nil {
		return nil, err
	}
	lock, err := s.lockForChange(ctx, SessionLock(id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	t := &tx{Contents: s, files: s, id: id}
	session, stored, err := s.changeSession(t, change)
	if err != nil && !stored {
		t.dropTexts()
	}
	return session, err
}

// changeSession changes a session; the caller holds the lock. stored reports whether the change is visible
// to everyone, even after an error about the confirmation.
func (s *Store) changeSession(t *tx, change store.Change) (session *workflow.Session, stored bool, err error) {
	if session, err = s.freshCopy(t.id); err != nil {
		return nil, false, err
	}
	if err := change(t, session); err != nil {
		return nil, false, err
	}
	session.Revision++
	data, err := store.Encode(session)
	if err != nil {
		return nil, false, err
	}
	err = s.dir.ReplaceAfter(t.syncSteps(), store.SessionPath(t.id), data)
	var unconfirmed *durable.UnconfirmedError
	return session, err == nil || errors.As(err, &unconfirmed), err
}

// repairPatience bounds the wait of a stored update for the lock to repair derived files: the holder is
// likely to repair them too.
var repairPatience = 200 * time.Millisecond

// repairDerived recreates the mapping and the session's name if they are missing. A problem with them must
// not fail a stored update.
func (s *Store) repairDerived(ctx context.Context, session *workflow.Session) {
	isWhole, name := s.mappingLooksWhole(), namePath(session.TaskName)
	isNamed := !PlainName(session.TaskName) || !s.isGone(name) || s.isGone(NamesFolder)
	if isWhole && isNamed {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, repairPatience)
	defer cancel()
	lock, err := s.dir.Lock(ctx, ProjectLock)
	if err != nil {
		return
	}
	defer func() { _ = lock.Unlock() }()
	if !isWhole && !s.mappingLooksWhole() { // another process may have been faster
		_ = s.writeMapping(ctx, nil)
	}
	if !isNamed && s.dir.CreateUnsynced(name, []byte(session.SessionID+"\n")) == nil { // changed by hand
		_ = s.dir.SyncDir(NamesFolder)
	}
}
