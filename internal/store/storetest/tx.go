package storetest

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// putTexts stores texts in a separate update.
func putTexts(t *testing.T, b Backend, id string, texts []store.Text) (refs []workflow.ContentRef) {
	t.Helper()
	_, err := b.Update(context.Background(), id, func(tx store.Tx, _ *workflow.Session) (err error) {
		refs, err = tx.Put(context.Background(), texts)
		return err
	})
	if err != nil || len(refs) != len(texts) {
		t.Fatalf("got %d references, %v, want %d", len(refs), err, len(texts))
	}
	return refs
}

// testUpdateFails checks that a failed update leaves nothing.
func testUpdateFails(t *testing.T, b Backend, reopen func() Backend) {
	s := createSession(t, b, 1, "task")
	no := errors.New("no")
	var refs []workflow.ContentRef
	_, err := b.Update(context.Background(), s.SessionID, func(tx store.Tx, _ *workflow.Session) (err error) {
		for range 2 {
			more, err := tx.Put(context.Background(), []store.Text{{Stage: workflow.PO, Kind: "final_result", Body: "text", At: epoch}})
			if err != nil {
				return err
			}
			refs = append(refs, more...)
		}
		return no
	})
	if !errors.Is(err, no) || len(refs) != 2 {
		t.Fatalf("got %v, references %v", err, refs)
	}
	for _, ref := range refs {
		if body, err := reopen().Read(context.Background(), ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a failed update left %s: %q, %v", ref.FilePath, body, err)
		}
	}
}

// testContentsInUpdate checks that an update sees the texts in it and the earlier ones.
func testContentsInUpdate(t *testing.T, b Backend, reopen func() Backend) {
	s := createSession(t, b, 1, "task")
	before := putTexts(t, b, s.SessionID, []store.Text{{Stage: workflow.PO, Kind: "final_result", Body: "before", At: epoch}})[0]
	var own workflow.ContentRef
	_, err := b.Update(context.Background(), s.SessionID, func(tx store.Tx, s *workflow.Session) error {
		refs, err := tx.Put(context.Background(), []store.Text{{Stage: workflow.PO, Kind: "final_result", Body: "own", At: epoch}})
		if err != nil {
			return err
		}
		own = refs[0]
		for ref, want := range map[string]string{before.FilePath: "before", own.FilePath: "own"} {
			if got, err := tx.Read(context.Background(), workflow.ContentRef{FilePath: ref}); err != nil || got != want {
				t.Errorf("%s: got %q, %v, want %q", ref, got, err, want)
			}
		}
		s.Record(workflow.PO).FinalResultRef = &own
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	again, err := reopen().Get(context.Background(), s.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := reopen().Read(context.Background(), *again.Record(workflow.PO).FinalResultRef); err != nil || got != "own" {
		t.Errorf("got %q, %v, want %q", got, err, "own")
	}
}

// testStored checks that the stored form comes from the codec, and equals the session as read.
func testStored(t *testing.T, b Backend, reopen func() Backend) {
	s := createSession(t, b, 1, "task")
	want, err := store.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := reopen().Stored(context.Background(), s.SessionID); err != nil || string(got) != string(want) {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	for _, id := range []string{uuid.NewString(), "../../etc/passwd"} {
		if got, err := b.Stored(context.Background(), id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: got %q, %v, want not found", id, got, err)
		}
	}
	if err := b.Confirm(context.Background(), s.SessionID); err != nil {
		t.Error(err)
	}
}
