package filestore

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// Leave marks the sessions as moved to another store, and waits until no change is under way: from then on all are
// refused, and what was acknowledged can be read. undo takes the mark away, unless it was there before.
func (s *Store) Leave(ctx context.Context, to string) (undo func() error, err error) {
	undo = func() error { return s.dir.Remove(store.MovedFile) }
	if store.Moved(s.dir) != nil {
		undo = func() error { return nil }
	}
	if _, err := s.dir.MkdirAll(LocksFolder); err != nil {
		return nil, s.storageError(err)
	}
	if err := s.dir.Ignore(Folder); err != nil {
		return nil, s.storageError(err)
	}
	if err := s.dir.Replace(store.MovedFile, []byte(to+"\n")); err != nil {
		return nil, s.storageError(err)
	}
	// Changes before the mark are waited for: each change looks for the mark once it has its lock.
	if err := awaitLock(ctx, s.dir, ProjectLock); err != nil { // from here on there are no new sessions
		return undo, s.storageError(err)
	}
	all, err := s.All(ctx)
	for _, known := range all.Sessions {
		if err == nil {
			err = awaitLock(ctx, s.dir, SessionLock(known.SessionID))
		}
	}
	return undo, s.storageError(err)
}

// awaitLock waits until a lock is free.
func awaitLock(ctx context.Context, dir *durable.Dir, name string) error {
	lock, err := dir.Lock(ctx, name)
	if err != nil {
		return err
	}
	return lock.Unlock()
}

// lockForChange takes a lock for a change, unless the sessions were moved away.
func (s *Store) lockForChange(ctx context.Context, name string) (*durable.Lock, error) {
	lock, err := s.dir.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := store.Moved(s.dir); err != nil {
		_ = lock.Unlock()
		return nil, err
	}
	return lock, nil
}
