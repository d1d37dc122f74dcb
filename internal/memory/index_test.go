package memory_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// keeper counts the indexes that are kept and read.
type keeper struct {
	trust.UserState
	kept, read atomic.Int64
	fails      error
}

func (k *keeper) Derived(name string) []byte {
	data := k.UserState.Derived(name)
	if data != nil {
		k.read.Add(1)
	}
	return data
}

func (k *keeper) KeepDerived(name string, data []byte) error {
	if k.fails != nil {
		return k.fails
	}
	k.kept.Add(1)
	return k.UserState.KeepDerived(name, data)
}

// file returns the file of the only index.
func (k *keeper) file(t *testing.T) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(string(k.UserState), "derived", "*"))
	if len(files) != 1 {
		t.Fatalf("the files of indexes are %v", files)
	}
	return files[0]
}

// process opens the notes as a new program does.
func (k *keeper) process(t *testing.T, path string) shelf {
	t.Helper()
	o := memory.Options{Now: time.Now}
	if k != nil {
		o.Derived = k
	}
	return openWith(t, path, memory.New(o), config.Default())
}

// lay writes notes of the numbers from one to another.
func (s shelf) lay(t *testing.T, from, to int) {
	t.Helper()
	var lines strings.Builder
	for n, sentence := 0, sentences(3); n < to; n++ {
		if text := sentence(n); n >= from {
			fmt.Fprintf(&lines, `{"v":1,"id":"note-%d","type":"failures","agent":"dev","text":%q,"updated_at":"2026-01-01T00:00:00Z"}`+"\n", n, text)
		}
	}
	s.write(t, "failures.jsonl", lines.String())
}

// sameAs checks that a program finds what one without a kept index finds.
func (s shelf) sameAs(t *testing.T, about string) {
	t.Helper()
	none := (*keeper)(nil).process(t, s.path)
	for _, q := range []string{"case 17", "case 399", "the gate of the person", "session folder lock", "sesion", "会话"} {
		got, want := s.recall(t, memory.Query{Text: q}), none.recall(t, memory.Query{Text: q})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %q: got %+v, want %+v", about, q, got, want)
		}
	}
}

// TestIndexIsKept: a second program reads the index that a write of the first one has kept, outside of the project,
// and a few changes do not have it written again. A search keeps none.
func TestIndexIsKept(t *testing.T) {
	t.Parallel()
	k := &keeper{UserState: trust.UserState(t.TempDir())}
	path := folder(t, "p")
	s := k.process(t, path)
	s.lay(t, 0, 100)
	s.sameAs(t, "few")
	if n := k.kept.Load(); n != 0 {
		t.Errorf("an index of a few notes was kept %d times", n)
	}
	s = k.process(t, path)
	s.lay(t, 0, 400)
	s.sameAs(t, "first")
	if n := k.kept.Load(); n != 0 {
		t.Errorf("a search kept an index %d times", n)
	}
	s.remember(t, notes.Note{Text: "keep it"}, notes.Created)
	if kept, read := k.kept.Load(), k.read.Load(); kept != 1 || read != 0 {
		t.Fatalf("kept %d times, read %d times", kept, read)
	}
	s = k.process(t, path)
	s.sameAs(t, "second")
	s.remember(t, notes.Note{Text: "the gate of the person is case 17"}, notes.Created)
	s.sameAs(t, "second with a note more")
	k.process(t, path).sameAs(t, "third")
	if kept, read := k.kept.Load(), k.read.Load(); kept != 1 || read != 2 {
		t.Errorf("kept %d times, read %d times", kept, read)
	}
	if entries, _ := os.ReadDir(path); len(entries) > 2 { // .claude and .bmad-task, which has a lock
		t.Errorf("the project has %v", entries)
	}
}

// TestKeptIndexIsOfThisPerson: an index that is cut, changed, of older or newer notes or of another person
// changes no answer, and is written anew if it has too little.
func TestKeptIndexIsOfThisPerson(t *testing.T) {
	t.Parallel()
	k := &keeper{UserState: trust.UserState(t.TempDir())}
	path := folder(t, "p")
	s := k.process(t, path)
	s.lay(t, 0, 400)
	s.remember(t, notes.Note{Text: "the first"}, notes.Created)
	whole, err := os.ReadFile(k.file(t))
	if err != nil {
		t.Fatal(err)
	}
	stranger := &keeper{UserState: trust.UserState(t.TempDir())}
	other := stranger.process(t, path)
	other.lay(t, 300, 700)
	other.remember(t, notes.Note{Text: "of the stranger"}, notes.Created)
	s.lay(t, 0, 400)
	theirs, err := os.ReadFile(stranger.file(t))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(whole, []byte("note-17"), []byte("note-71"), 1)
	for name, data := range map[string][]byte{"cut": whole[:len(whole)/2], "empty": {}, "changed": changed, "of another person": theirs} {
		if err := os.WriteFile(k.file(t), data, 0o600); err != nil {
			t.Fatal(err)
		}
		before, again := k.kept.Load(), k.process(t, path)
		again.sameAs(t, name)
		again.remember(t, notes.Note{Text: name}, notes.Created)
		if now := k.kept.Load(); now != before+1 {
			t.Errorf("%s: kept %d times", name, now-before)
		}
	}
	// The notes go back to what they were, and the times of their file with them.
	s.lay(t, 50, 390)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.file("failures.jsonl"), old, old); err != nil {
		t.Fatal(err)
	}
	k.process(t, path).sameAs(t, "newer than its notes")
	s.lay(t, 50, 395)
	k.process(t, path).sameAs(t, "older than its notes")
}

// TestKeptIndexOfTwo: two programs keep the index at once, and a third finds what is there.
func TestKeptIndexOfTwo(t *testing.T) {
	t.Parallel()
	k := &keeper{UserState: trust.UserState(t.TempDir())}
	path := folder(t, "p")
	k.process(t, path).lay(t, 0, 400)
	both := []shelf{k.process(t, path), k.process(t, path)}
	var wg sync.WaitGroup
	for i, s := range both {
		wg.Go(func() {
			if _, err := s.Remember(ctx, notes.Note{Type: notes.Decisions, Agent: "dev", Text: fmt.Sprint("case of program ", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	k.process(t, path).sameAs(t, "after both")
	if k.read.Load() == 0 {
		t.Error("no index was read")
	}
}

// TestIndexThatCannotBeKept: a full disk, or a state folder that cannot be one, costs no answer.
func TestIndexThatCannotBeKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]*keeper{
		"full": {UserState: trust.UserState(t.TempDir()), fails: errors.New("no space left on device")}, "none": {}, "a file": {UserState: trust.UserState(file)},
	} {
		s := k.process(t, folder(t, "p"))
		s.lay(t, 0, 400)
		s.sameAs(t, name)
		s.remember(t, notes.Note{Text: "session folder lock"}, notes.Created)
		s.sameAs(t, name)
	}
}

// TestKeptIndexForgets: the words of a note that is purged are not in the kept index.
func TestKeptIndexForgets(t *testing.T) {
	t.Parallel()
	k := &keeper{UserState: trust.UserState(t.TempDir())}
	path := folder(t, "p")
	s := k.process(t, path)
	s.lay(t, 0, 400)
	secret := s.remember(t, notes.Note{Text: "the word is xylophonist"}, notes.Created)
	if data, err := os.ReadFile(k.file(t)); err != nil || !bytes.Contains(data, []byte("xylophonist")) {
		t.Fatalf("the index does not have the word: %v", err)
	}
	if err := k.process(t, path).Purge(ctx, "", secret.ID, "t"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(string(k.UserState), "derived", "*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	s.lay(t, 0, 1000)
	s.remember(t, notes.Note{Text: "one more"}, notes.Created)
	if data, err := os.ReadFile(k.file(t)); err != nil || bytes.Contains(data, []byte("xylophonist")) {
		t.Errorf("the index has the word again: %v", err)
	}
}
