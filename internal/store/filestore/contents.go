package filestore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// tx is an update that is under way.
type tx struct {
	*Store
	id   string
	undo []func()
}

// OnFailure notes how to take something back if nothing is stored.
func (t *tx) OnFailure(undo func()) { t.undo = append(t.undo, undo) }

// rollback takes back all that was done for the change.
func (t *tx) rollback() {
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
}

// Put stores texts durably, with one fsync of the folder for all of them.
func (t *tx) Put(ctx context.Context, texts []store.Text) ([]workflow.ContentRef, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder := store.ContentFolder(t.id)
	made, err := t.dir.MkdirAll(folder)
	if err != nil {
		return nil, t.storage(err)
	}
	refs := make([]workflow.ContentRef, 0, len(texts))
	t.OnFailure(func() {
		t.drop(refs)
		t.dir.RemoveEmpty(made)
	})
	for _, text := range texts {
		ref, err := t.put(text)
		if err != nil {
			return nil, t.storage(err)
		}
		refs = append(refs, ref)
	}
	if err := t.dir.SyncDir(folder); err != nil {
		return nil, t.storage(err)
	}
	return refs, nil
}

// put stores a text under the first free name.
func (t *tx) put(text store.Text) (workflow.ContentRef, error) {
	for n := 0; ; n++ {
		name := store.ContentPath(t.id, text, n)
		err := t.dir.CreateUnsynced(name, []byte(text.Body))
		if !errors.Is(err, fs.ErrExist) {
			return store.NewRef(name, text), err
		}
	}
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

// Stat describes the text behind a reference.
func (s *Store) Stat(ctx context.Context, ref workflow.ContentRef) (store.Stat, error) {
	if err := ctx.Err(); err != nil {
		return store.Stat{}, err
	}
	data, err := s.dir.ReadFile(ref.FilePath, durable.TextLimit(ref.Size))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return store.Stat{}, nil
	case err != nil:
		return store.Stat{}, s.storage(err)
	}
	return store.StatOf(data), nil
}

// drop removes texts, as far as the disk lets it.
func (s *Store) drop(refs []workflow.ContentRef) {
	for _, ref := range refs {
		_ = s.dir.Remove(ref.FilePath)
		_ = s.dir.Remove(path.Dir(ref.FilePath)) // fails unless it is empty
	}
}
