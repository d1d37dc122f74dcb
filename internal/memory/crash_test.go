package memory_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

// write is a change that TestEveryCut cuts.
type write struct {
	name string
	do   func(b *memory.Book) error
}

const cutText = "the relay loses events when the disk is full"

// writes returns every kind of write, each after the ones before.
func writes() []write {
	remember := func(d notes.Note) func(*memory.Book) error {
		return func(b *memory.Book) error {
			_, err := b.Remember(ctx, d)
			return err
		}
	}
	note := notes.Note{Type: notes.Failures, Agent: "dev", Text: cutText}
	const id = "d57c7231-0adc-5895-af22-47be35e356f8"
	tagged := note
	tagged.Tags = []string{"disk"}
	filler := func(n int) func(*memory.Book) error {
		return remember(notes.Note{Type: notes.Failures, Agent: "dev", Text: fmt.Sprint(n, strings.Repeat(" filler", 500))})
	}
	all := []write{{"remember, the first note", remember(note)}, {"remember, another note", filler(0)}, {"remember, new tags", remember(tagged)}}
	all = append(all, write{"", func(b *memory.Book) error { return b.Pad("failures.jsonl", 128<<10-1000) }}) // the first file is full
	return append(all,
		write{"remember, the first note of a part", filler(99)},
		write{"forget", func(b *memory.Book) error { return b.Forget(ctx, "", id, "t") }},
		write{"remember, a deleted note", remember(note)},
		write{"purge", func(b *memory.Book) error { return b.Purge(ctx, "", id, "t") }},
	)
}

// bookOn returns the notes on a simulated disk, as a process that has just begun sees them. Its
// clock shows the number of the write.
func bookOn(disk *durabletest.Disk, n int) *memory.Book { return bookAt(disk, n, "cut") }

// bookAt is bookOn in a folder of its own: folders are known by their paths.
func bookAt(disk *durabletest.Disk, n int, folder string) *memory.Book {
	path := filepath.Join(string(filepath.Separator), "simulated", folder, "p")
	now := func() time.Time { return time.Unix(1_700_000_000+int64(n), 0) }
	return memory.New(memory.Options{Now: now}).Of(&project.Project{Dir: disk.Dir(path), Config: config.Default()})
}

// set lists the content of all notes, deleted ones as well.
func set(t testing.TB, disk *durabletest.Disk) string {
	t.Helper()
	b := bookOn(disk, 0)
	list, err := b.List(ctx, memory.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Problems) > 0 {
		t.Fatalf("lines cannot be read: %v", list.Problems)
	}
	return texts(list.Notes)
}

// TestEveryCut does every kind of write on a simulated disk and, at each of its steps, loses power
// or breaks the disk in every way: the notes are those of before or of after, each acknowledged
// one is there, and the write can be repeated.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	disk := durabletest.New()
	for n, w := range writes() {
		before := disk.Copy()
		if err := w.do(bookOn(disk, n)); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		if w.name == "" {
			continue
		}
		old, after := set(t, before), set(t, disk)
		steps, outcomes := durabletest.Sample(t, before, func(d *durabletest.Disk) error { return w.do(bookOn(d, n)) }, func(o durabletest.Outcome) {
			got := set(t, o.Disk)
			var unconfirmed *durable.UnconfirmedError
			switch {
			case got != old && got != after:
				t.Fatalf("%s, %v: the notes are neither those of before nor of after:\n%s", w.name, o, got)
			case o.Acknowledged && got != after:
				t.Fatalf("%s, %v: an acknowledged write is lost", w.name, o)
			case o.Err != nil && !o.Lost() && !errors.As(o.Err, &unconfirmed) && got != old && w.name != "purge":
				t.Fatalf("%s, %v: %v, yet it was done", w.name, o, o.Err)
			case o.Err != nil && !o.Lost() && (!fault.Is(o.Err, fault.Storage) || fault.From(o.Err).Hint == ""):
				t.Fatalf("%s, %v: the error is %#v", w.name, o, o.Err)
			case o.Err != nil && o.Fault.Kind == durabletest.Broken && got == old && old == "" && hasNotes(t, o.Disk):
				t.Fatalf("%s, %v: the failed write left its folder", w.name, o)
			}
			if got == old && old != after || w.name == "purge" && !fault.Is(w.do(bookOn(o.Disk.Copy(), n)), fault.Conflict) {
				if err := w.do(bookOn(o.Disk, n)); err != nil {
					t.Fatalf("%s, %v: repeated: %v", w.name, o, err)
				}
			}
			if got := set(t, o.Disk); got != after {
				t.Fatalf("%s, %v: after it was repeated the notes are\n%s", w.name, o, got)
			}
			if w.name == "purge" && strings.Contains(files(t, o.Disk), cutText) {
				t.Fatalf("%s, %v: the text is still there", w.name, o)
			}
		})
		t.Logf("%s: %d steps, %d outcomes", w.name, len(steps), outcomes)
	}
}

func hasNotes(t testing.TB, disk *durabletest.Disk) bool {
	t.Helper()
	return bookOn(disk, 0).Exists()
}

// files returns all that stands in the folder of the notes.
func files(t testing.TB, disk *durabletest.Disk) string {
	t.Helper()
	var out strings.Builder
	tree := disk.Dir("p").Tree()
	err := fs.WalkDir(tree, ".claude", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		out.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCost counts the syncs and renames of every write. A note costs two syncs and one rename,
// however many there are; the first note of a project makes folders besides.
func TestCost(t *testing.T) {
	t.Parallel()
	disk := durabletest.New()
	var out strings.Builder
	for n, w := range writes() {
		disk.Plan(durabletest.Fault{})
		if err := w.do(bookAt(disk, n, "cost")); err != nil {
			t.Fatal(err)
		}
		syncs, renames, folders := 0, 0, 0
		for _, s := range disk.Steps() {
			switch {
			case strings.HasPrefix(s.Op, "fsync"):
				syncs++
			case s.Op == "rename":
				renames++
			case s.Op == "mkdir":
				folders++
			}
		}
		if w.name == "" {
			continue
		}
		needSyncs, needRenames := 2+folders, 1
		if folders > 0 {
			needSyncs, needRenames = needSyncs+4, needRenames+2 // .gitignore and .gitattributes
		}
		if w.name == "purge" { // its lines are in two files
			needSyncs, needRenames = 4, 2
		}
		if syncs > needSyncs || renames > needRenames {
			t.Errorf("%s: %d syncs and %d renames; it needs %d and %d", w.name, syncs, renames, needSyncs, needRenames)
		}
		fmt.Fprintf(&out, "%-36s %2d syncs %d renames; needs %2d and %d\n", w.name, syncs, renames, needSyncs, needRenames)
	}
	golden.Check(t, "testdata/cost.txt", out.String())
}
