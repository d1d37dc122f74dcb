package filestore

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Take returns a session with its texts.
func (s *Store) Take(ctx context.Context, id string) (store.Parcel, error) {
	data, err := s.Stored(ctx, id)
	if err != nil {
		return store.Parcel{}, err
	}
	p := store.Parcel{ID: id, Session: data, Texts: map[string][]byte{}}
	folder := store.ContentFolder(id)
	entries, err := s.dir.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, s.storageError(err)
	}
	for _, e := range entries {
		if _, temporary := durable.IsTemp(e.Name()); temporary || !e.Type().IsRegular() {
			continue
		}
		name := folder + "/" + e.Name()
		if p.Texts[name], err = s.dir.ReadFile(name, durable.MaxText); err != nil {
			return p, s.storageError(err)
		}
	}
	return p, nil
}

// Bring stores a session unchanged. The rename of the file is the commit, as in Create and Update.
func (s *Store) Bring(ctx context.Context, p store.Parcel, over string) error {
	session, err := s.decode(p.ID, p.Session)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return err
	}
	if _, err := s.dir.MkdirAll(LocksFolder); err != nil {
		return s.storageError(err)
	}
	names, err := s.lockForChange(ctx, ProjectLock)
	if err != nil {
		return s.storageError(err)
	}
	defer func() { _ = names.Unlock() }()
	own, err := s.dir.Lock(ctx, SessionLock(p.ID))
	if err != nil {
		return s.storageError(err)
	}
	defer func() { _ = own.Unlock() }()
	if err := s.prepareFiles(ctx); err != nil {
		return s.storageError(err)
	}
	return s.storageError(s.bringLocked(ctx, p, over, session.TaskName))
}

func (s *Store) bringLocked(ctx context.Context, p store.Parcel, over, name string) error {
	have := ""
	if data, err := s.Stored(ctx, p.ID); err == nil {
		have = workflow.Hash(data)
	} else if !fault.Is(err, fault.NotFound) {
		return err
	}
	if have != over {
		return fault.New(fault.Conflict, "run %q exists already", p.ID)
	}
	syncs := []func() error{}
	if PlainName(name) {
		free, err := s.isFree(ctx, name, store.Names{})
		if owner, ownerErr := s.ownerOf(name); ownerErr == nil && owner == p.ID {
			free = true
		}
		if err != nil || !free {
			return errors.Join(err, nameTaken(name))
		}
		_ = s.dir.Remove(namePath(name)) // left by a dead start
		if err := s.dir.CreateUnsynced(namePath(name), []byte(p.ID+"\n")); err != nil {
			return err
		}
		syncs = append(syncs, func() error { return s.dir.SyncDir(NamesFolder) })
	}
	if len(p.Texts) > 0 {
		if _, err := s.dir.MkdirAll(store.ContentFolder(p.ID)); err != nil {
			return err
		}
		syncs = append(syncs, func() error { return s.dir.SyncDir(store.ContentFolder(p.ID)) })
	}
	for _, text := range slices.Sorted(maps.Keys(p.Texts)) {
		written, err := s.dir.Write(text, p.Texts[text])
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		syncs = append(syncs, written.Sync)
	}
	return s.dir.ReplaceAfter(syncs, store.SessionPath(p.ID), p.Session)
}

func nameTaken(name string) error {
	return fault.New(fault.Conflict, "another run has the task name %q", name)
}
