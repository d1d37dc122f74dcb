package filestore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// tx is an update in progress.
type tx struct {
	store.Contents
	files *Store
	id    string
	// made are the new folders.
	made []string
	// written are the texts not yet durable.
	written []*durable.Unsynced
}

// syncSteps returns the independent steps to make the texts durable.
func (t *tx) syncSteps() []func() error {
	if len(t.written) == 0 {
		return nil
	}
	out := []func() error{func() error { return t.files.dir.SyncDir(store.ContentFolder(t.id)) }}
	for _, text := range t.written {
		out = append(out, text.Sync)
	}
	return out
}

// Put writes texts. They become durable together with the session, right before the session is stored.
func (t *tx) Put(ctx context.Context, texts []store.Text) ([]workflow.ContentRef, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder := store.ContentFolder(t.id)
	made, err := t.files.dir.MkdirAll(folder)
	if err != nil {
		return nil, t.files.storageError(err)
	}
	refs := make([]workflow.ContentRef, 0, len(texts))
	t.made = append(t.made, made...)
	for _, text := range texts {
		ref, err := t.putText(text)
		if err != nil {
			return nil, t.files.storageError(err)
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// putText stores a text under the first free name.
func (t *tx) putText(text store.Text) (workflow.ContentRef, error) {
	for n := 0; ; n++ {
		name := store.ContentPath(t.id, text, n)
		written, err := t.files.dir.Write(name, []byte(text.Body))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			t.written = append(t.written, written)
		}
		return store.NewRef(name, text), err
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

// dropTexts removes the texts, as far as the disk allows.
func (t *tx) dropTexts() {
	for _, text := range t.written {
		_ = text.Drop()
	}
	if len(t.written) > 0 {
		_ = t.files.dir.Remove(store.ContentFolder(t.id)) // fails unless it is empty
	}
	t.written = nil
	t.files.dir.RemoveEmpty(t.made)
}
