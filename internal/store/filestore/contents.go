package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Put stores texts durably, with one fsync of the folder for all of them.
func (s *Store) Put(ctx context.Context, sessionID string, texts []store.Text) ([]workflow.ContentRef, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, ok := parseID(sessionID)
	if !ok {
		return nil, fault.New(fault.InvalidArgument, "%q is no session id", sessionID)
	}
	folder := store.ContentFolder(id)
	made, err := s.dir.MkdirAll(folder)
	if err != nil {
		return nil, s.storage(err)
	}
	drop := func(refs []workflow.ContentRef) {
		s.Drop(refs)
		s.dir.RemoveEmpty(made)
	}
	refs := make([]workflow.ContentRef, 0, len(texts))
	for _, t := range texts {
		for n := 0; ; n++ {
			name := store.ContentPath(id, t, n)
			err := s.dir.CreateUnsynced(name, []byte(t.Body))
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			if err != nil {
				drop(refs)
				return nil, s.storage(err)
			}
			refs = append(refs, store.NewRef(name, t))
			break
		}
	}
	if err := s.dir.SyncDir(folder); err != nil {
		drop(refs)
		return nil, s.storage(err)
	}
	return refs, nil
}

// Read returns the text behind a reference.
func (s *Store) Read(ctx context.Context, ref workflow.ContentRef) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	data, err := s.dir.ReadFile(ref.FilePath, durable.TextLimit(ref.Size))
	if err != nil {
		return "", store.MissingContent(ref, err)
	}
	return string(data), nil
}

// Drop removes texts, as far as the disk lets it.
func (s *Store) Drop(refs []workflow.ContentRef) {
	for _, ref := range refs {
		_ = s.dir.Remove(ref.FilePath)
		_ = s.dir.Remove(path.Dir(ref.FilePath)) // fails unless it is empty
	}
}
