// Package filestore keeps the sessions of a project as JSON files, to be read with jq and fixed with an
// editor:
//
//	.bmad-task/.gitignore               "*": run state is not for the repository
//	.bmad-task/session-<id>.json        a session; its rename is the one commit point
//	.bmad-task/names/<task name>        the session with that name; its exclusive creation decides
//	.bmad-task/locks/<id>.lock          the lock of a session, never removed
//	.bmad-task/locks/project.lock       held while a session is started
//	.bmad-task/task-mapping*.json       id → name, derived from the sessions
//	.bmad-task/temp/<id>/…              the texts that sessions refer to
//
// Nothing is made before the first session.
//
// # Invariants
//
//   - Texts are written first, then the session's file; its rename is the commit. A crash leaves an
//     unused file, never a reference to a missing one (TestEveryCut, TestEveryFault).
package filestore

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Paths relative to the project.
const (
	// Folder holds the state of all runs of a project.
	Folder = store.Folder
	// IgnoreFile keeps the folder out of version control.
	IgnoreFile = Folder + "/" + durable.IgnoreFile
	// NamesFolder has a file for each task name, with the session's id.
	NamesFolder = Folder + "/names"
	// LocksFolder has the lock files.
	LocksFolder = Folder + "/locks"
	// ProjectLock is held while a session is started.
	ProjectLock = LocksFolder + "/project.lock"
)

// SessionLock returns the name of the lock held while a session changes.
func SessionLock(id string) string { return LocksFolder + "/" + id + ".lock" }

// Store keeps the sessions and contents of one project.
type Store struct {
	// Decode reads the stored form of a session.
	Decode func(data []byte, path string) (*workflow.Session, error)

	dir  *durable.Dir
	kept *Summaries
}

// Get returns a session by id.
func (s *Store) Get(ctx context.Context, id string) (*workflow.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	canonical, ok := store.ParseID(id)
	if !ok {
		return nil, store.NotFound(id)
	}
	return s.freshCopy(canonical)
}

// freshCopy returns a copy of a session in its present stored form. It is decoded again only if the file's
// bytes have changed.
func (s *Store) freshCopy(id string) (*workflow.Session, error) {
	data, err := s.load(id)
	if err != nil {
		return nil, err
	}
	file := s.dir.Join(store.SessionPath(id))
	if session, ok := s.kept.decodedFrom(file, data); ok {
		return session.Clone(), nil
	}
	session, err := s.decode(id, data)
	if err != nil {
		return nil, err
	}
	s.kept.keepDecoded(file, data, session)
	return session.Clone(), nil
}

// missingError returns the error for an unknown session, or the error of the state folder, if the folder itself
// cannot be read.
func (s *Store) missingError(ref string) error {
	info, err := s.dir.Stat(Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.dir.LeadsOut(Folder):
	case err != nil:
		return s.storageError(err)
	case !info.IsDir():
		return s.storageError(syscall.ENOTDIR)
	}
	return store.NotFound(ref)
}

func (s *Store) decode(id string, data []byte) (*workflow.Session, error) {
	session, err := s.Decode(data, store.SessionPath(id))
	if err == nil {
		err = store.CheckID(session.SessionID, id)
	}
	if err != nil {
		return nil, err
	}
	return session, nil
}

func (s *Store) load(id string) ([]byte, error) { return s.loadInto(id, new(durable.Version)) }

// loadInto reads a session file and sets its version.
func (s *Store) loadInto(id string, version *durable.Version) (data []byte, err error) {
	data, *version, err = s.dir.ReadVersion(store.SessionPath(id), durable.MaxText)
	if remedy, ok := fault.Hostile(err); ok {
		return nil, fault.New(fault.Storage, "session file %w", err).WithHint("%s; other runs are not affected", remedy)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.missingError(id)
	}
	return data, s.storageError(err)
}

// Stored returns the stored form of a session.
func (s *Store) Stored(ctx context.Context, id string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	canonical, ok := store.ParseID(id)
	if !ok {
		return nil, store.NotFound(id)
	}
	return s.load(canonical)
}

// Confirm makes the visible state of a session durable.
func (s *Store) Confirm(ctx context.Context, _ string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.storageError(s.dir.SyncDir(Folder))
}

// isGone reports whether a name certainly does not exist; an inconclusive error does not count.
func (s *Store) isGone(name string) bool {
	_, err := s.dir.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// storageError adds a code, the cause and a remedy to an error of the disk.
func (s *Store) storageError(err error) error { return store.Trouble(s.dir, err) }

// Store returns the store of the project in dir, which stays the caller's to close.
func (k *Summaries) Store(dir *durable.Dir) *Store {
	return &Store{Decode: store.Decode, dir: dir, kept: k}
}
