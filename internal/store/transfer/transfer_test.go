package transfer_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/transfer"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var (
	ctx   = context.Background()
	epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

func files(t *testing.T) store.Carrier {
	t.Helper()
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return storetest.Files(dir)
}

func database(t *testing.T) store.Carrier {
	t.Helper()
	d, err := pgstore.Open(pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if _, _, err := d.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	return d.Store(store.Place{Key: "host/owner/name"})
}

// both runs a test from files into a database, and the other way round.
func both(t *testing.T, test func(t *testing.T, from, into store.Carrier)) {
	t.Helper()
	t.Run("files to a database", func(t *testing.T) { test(t, files(t), database(t)) })
	t.Run("a database to files", func(t *testing.T) { test(t, database(t), files(t)) })
	t.Run("files to files", func(t *testing.T) { test(t, files(t), files(t)) })
}

func create(t *testing.T, b store.Backend, name string) *workflow.Session {
	t.Helper()
	s := workflow.Default().NewSession(uuid.NewString(), "build "+name, "/p", "test", epoch)
	if err := b.Create(ctx, s, storetest.Numbered(name)); err != nil {
		t.Fatal(err)
	}
	return s
}

// move adds an entry to the history, and a text.
func move(t *testing.T, b store.Backend, id, text string) {
	t.Helper()
	if _, err := b.Update(ctx, id, func(tx store.Tx, s *workflow.Session) error {
		refs, err := tx.Put(ctx, []store.Text{{Stage: workflow.PO, Kind: "final_result", Body: text, At: epoch}})
		if err == nil {
			s.Record(workflow.PO).FinalResultRef = &refs[0]
			s.Append(workflow.Transition{At: epoch, By: "test", Feedback: text})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, b store.Carrier, now time.Time) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := transfer.Export(ctx, b, "host/owner/name", now, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func bring(t *testing.T, into store.Carrier, archive []byte) transfer.Outcome {
	t.Helper()
	out, project, err := transfer.Import(ctx, archive, into)
	if err != nil || project != "host/owner/name" {
		t.Fatal(project, err)
	}
	return out
}

// TestThereAndBack: what is exported, imported and exported again is the same, byte for byte but for the date.
func TestThereAndBack(t *testing.T) {
	both(t, func(t *testing.T, from, into store.Carrier) {
		for n := range 5 {
			s := create(t, from, fmt.Sprintf("task-%d", n))
			move(t, from, s.SessionID, "first \x00 \xff 界")
			move(t, from, s.SessionID, "second")
		}
		archive := export(t, from, epoch)
		if out := bring(t, into, archive); out != (transfer.Outcome{New: 5}) {
			t.Errorf("imported %+v", out)
		}
		if again := export(t, into, epoch); !bytes.Equal(archive, again) {
			t.Error("the second export differs")
		}
		if later := export(t, into, epoch.Add(time.Hour)); len(later) != len(archive) || bytes.Equal(later, archive) {
			t.Error("another date changes more than the date, or nothing")
		}
		if out := bring(t, into, archive); out != (transfer.Outcome{Same: 5}) {
			t.Errorf("imported again: %+v", out)
		}
		all, err := from.All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s := all.Sessions[0]
		if id, err := into.Find(ctx, s.TaskName); err != nil || id != s.SessionID {
			t.Errorf("by its name: %s, %v", id, err)
		}
		if out, err := transfer.Copy(ctx, from, into); err != nil || out != (transfer.Outcome{Same: 5}) {
			t.Errorf("copied: %+v, %v", out, err)
		}
	})
}

// TestForks: of two states of a session the longer one stays, if it continues the other; else both do.
func TestForks(t *testing.T) {
	both(t, func(t *testing.T, from, into store.Carrier) {
		s := create(t, from, "task")
		move(t, from, s.SessionID, "first")
		shorter := export(t, from, epoch)
		bring(t, into, shorter)
		move(t, from, s.SessionID, "second")
		longer := export(t, from, epoch)
		if out := bring(t, into, longer); out != (transfer.Outcome{Longer: 1}) {
			t.Errorf("the longer one: %+v", out)
		}
		if out := bring(t, into, shorter); out != (transfer.Outcome{Same: 1}) {
			t.Errorf("the shorter one: %+v", out)
		}
		move(t, into, s.SessionID, "here")
		move(t, from, s.SessionID, "there")
		forked := export(t, from, epoch)
		before, err := into.Stored(ctx, s.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range []transfer.Outcome{{Forked: 1}, {Same: 1}} {
			if out := bring(t, into, forked); out != want {
				t.Errorf("import %d of a fork: %+v, want %+v", n, out, want)
			}
		}
		if after, err := into.Stored(ctx, s.SessionID); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the fork has changed the one that was there: %v", err)
		}
		id, err := into.Find(ctx, "task-2")
		if err != nil {
			t.Fatal(err)
		}
		other, err := into.Get(ctx, id)
		if err != nil || string(other.Extra["forked_from"]) != `"`+s.SessionID+`"` {
			t.Fatalf("%+v, %v", other.Extra, err)
		}
		if text, err := into.Read(ctx, *other.Record(workflow.PO).FinalResultRef); err != nil || text != "there" {
			t.Errorf("its text is %q, %v", text, err)
		}
	})
}

func TestTakenName(t *testing.T) {
	both(t, func(t *testing.T, from, into store.Carrier) {
		s, other := create(t, from, "task"), create(t, into, "task")
		archive := export(t, from, epoch)
		for n, want := range []transfer.Outcome{{Renamed: 1}, {Same: 1}} {
			if out := bring(t, into, archive); out != want {
				t.Errorf("import %d: %+v, want %+v", n, out, want)
			}
		}
		move(t, from, s.SessionID, "more")
		if out := bring(t, into, export(t, from, epoch)); out != (transfer.Outcome{Longer: 1}) {
			t.Errorf("the longer one: %+v", out)
		}
		for name, want := range map[string]string{"task": other.SessionID, "task-2": s.SessionID} {
			if id, err := into.Find(ctx, name); err != nil || id != want {
				t.Errorf("%s leads to %s, %v, want %s", name, id, err, want)
			}
		}
	})
}

// TestHostileArchives: an archive that is not what an export writes is refused, and nothing of it is stored.
func TestHostileArchives(t *testing.T) {
	from := files(t)
	one := create(t, from, "one")
	move(t, from, one.SessionID, "a text of it")
	create(t, from, "two")
	whole := export(t, from, epoch)
	rewrite := func(change func(h *tar.Header, data []byte) []byte) []byte {
		var out bytes.Buffer
		r, w := tar.NewReader(bytes.NewReader(whole)), tar.NewWriter(&out)
		for {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			data, _ := io.ReadAll(r)
			data, h.Format = change(h, data), tar.FormatPAX // with room for long names
			if h.Size = int64(len(data)); h.Typeflag != tar.TypeReg {
				h.Size, data = 0, nil
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Close()
		return out.Bytes()
	}
	rename := func(to string) []byte {
		return rewrite(func(h *tar.Header, data []byte) []byte {
			if strings.Contains(h.Name, "/temp/") {
				h.Name = to
			}
			return bytes.ReplaceAll(data, []byte(`"path": ".bmad-task/temp/`), []byte(`"path": "`+to))
		})
	}
	old, size, sum := "", 0, ""
	archives := map[string][]byte{
		"a name with NUL": rewrite(func(h *tar.Header, data []byte) []byte {
			if h.Name != store.SessionPath(one.SessionID) { // the manifest agrees with it
				data = bytes.ReplaceAll(data, []byte(old), []byte(sum))
				return bytes.ReplaceAll(data, fmt.Appendf(nil, `"size": %d`, size), fmt.Appendf(nil, `"size": %d`, size+len(`\u0000`)))
			}
			old, size = workflow.Hash(data), len(data)
			data = bytes.Replace(data, []byte(`"task_name": "one`), []byte(`"task_name": "one\u0000`), 1)
			sum = workflow.Hash(data)
			return data
		}),
		"a changed text": rewrite(func(_ *tar.Header, data []byte) []byte {
			return bytes.ReplaceAll(data, []byte("a text of it"), []byte("a lie in its "))
		}),
		"a path out of it":      rename("../../evil.md"),
		"a path out of a place": rename(".bmad-task/temp/" + one.SessionID + "/../../evil.md"),
		"an absolute path":      rename("/etc/evil.md"),
		"a folder's name":       rename(".bmad-task/temp/" + one.SessionID + "/.."),
		"a name of a folder":    rename(".bmad-task/temp/" + one.SessionID + "/."),
		"a name too long":       rename(".bmad-task/temp/" + one.SessionID + "/" + strings.Repeat("x", 256)),
		"another's folder":      rename(".bmad-task/temp/" + uuid.NewString() + "/x.md"),
		"a link": rewrite(func(h *tar.Header, data []byte) []byte {
			if strings.Contains(h.Name, "/temp/") {
				h.Typeflag, h.Linkname = tar.TypeSymlink, "/etc/passwd"
			}
			return data
		}),
		"a hard link": rewrite(func(h *tar.Header, data []byte) []byte {
			if strings.Contains(h.Name, "/temp/") {
				h.Typeflag, h.Linkname = tar.TypeLink, "/etc/passwd"
			}
			return data
		}),
		"a file after it":  bytes.Join([][]byte{whole[:len(whole)-1024], block("late.md", 4, tar.TypeReg), pad("evil"), make([]byte, 1024)}, nil),
		"two manifests":    bytes.Join([][]byte{whole[:len(whole)-1024], whole[len(whole)-2048:]}, nil),
		"two archives":     append(slices.Clip(whole), whole...),
		"junk after it":    append(slices.Clip(whole), "junk"...),
		"a run between":    bytes.Join([][]byte{whole, []byte("junk"), make([]byte, 4096)}, nil),
		"no archive":       []byte("hello"),
		"another archive":  append([]byte("\x1f\x8b\x08 compressed"), make([]byte, 2048)...),
		"a text, no bytes": bytes.Repeat([]byte("hello\n"), 500),
		"nothing":          nil,
		"only an end":      make([]byte, 10240),
	}
	for n := 0; n < len(whole); n += 317 {
		archives[fmt.Sprintf("cut at byte %d", n)] = whole[:n]
	}
	archives["cut before its end"] = whole[:len(whole)-1024]
	into := files(t)
	for name, archive := range archives {
		if out, _, err := transfer.Import(ctx, archive, into); !fault.Is(err, fault.InvalidArgument) || out != (transfer.Outcome{}) {
			t.Errorf("%s: got %+v, %v", name, out, err)
		}
	}
	if all, err := into.All(ctx); err != nil || len(all.Sessions)+len(all.Broken) != 0 {
		t.Errorf("stored %+v, %v", all, err)
	}
}

// TestMoveLosesNothing: what writers are told is stored while the runs move is in the store that they move to.
func TestMoveLosesNothing(t *testing.T) {
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	const sessions, writers = 4, 3
	var kept sync.Map // by the id of a session, the number of changes that were acknowledged
	var ready, ended sync.WaitGroup
	for n := range sessions {
		s := create(t, storetest.Files(dir), fmt.Sprintf("task-%d", n))
		count := new(atomic.Int64)
		kept.Store(s.SessionID, count)
		for range writers {
			ready.Add(1)
			ended.Go(func() {
				other, first := storetest.Files(dir), sync.OnceFunc(ready.Done)
				for {
					_, err := other.Update(ctx, s.SessionID, func(tx store.Tx, s *workflow.Session) error {
						_, err := tx.Put(ctx, []store.Text{{Stage: workflow.PO, Kind: "final_result", Body: "x", At: epoch}})
						s.Append(workflow.Transition{At: epoch, By: "test"})
						return err
					})
					if err != nil {
						if !strings.Contains(err.Error(), `were moved to the store "elsewhere"`) {
							t.Error(err)
						}
						return
					}
					count.Add(1)
					first()
				}
			})
		}
	}
	ended.Go(func() {
		for n := 0; ; n++ {
			s := workflow.Default().NewSession(uuid.NewString(), "more", "/p", "test", epoch)
			if err := storetest.Files(dir).Create(ctx, s, storetest.Numbered("more")); err != nil {
				return
			}
			kept.Store(s.SessionID, new(atomic.Int64))
		}
	})
	ready.Wait()
	from, into := storetest.Files(dir), files(t)
	if _, err := from.Leave(ctx, "elsewhere"); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Copy(ctx, from, into); err != nil {
		t.Fatal(err)
	}
	ended.Wait()
	kept.Range(func(id, count any) bool {
		s, err := into.Get(ctx, id.(string))
		if err != nil {
			t.Error("it stays behind:", err)
		} else if want := int(count.(*atomic.Int64).Load()); len(s.History) != want+1 {
			t.Errorf("%d changes were acknowledged, %d moved", want, len(s.History)-1)
		}
		return true
	})
}

// TestMoveGivesUp: a move that waits for a change in vain leaves the files as they were.
func TestMoveGivesUp(t *testing.T) {
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	from := storetest.Files(dir)
	s := create(t, from, "task")
	if _, err := from.Update(ctx, s.SessionID, func(store.Tx, *workflow.Session) error {
		short, cancel := context.WithCancel(ctx)
		cancel()
		undo, err := from.Leave(short, "elsewhere")
		if err == nil {
			t.Error("it did not wait")
		}
		return undo()
	}); err != nil {
		t.Fatal(err)
	}
	move(t, from, s.SessionID, "goes on")
}

// failing is a store that keeps so many sessions, and then none.
type failing struct {
	store.Carrier
	left int
}

func (f *failing) Bring(ctx context.Context, p store.Parcel, over string) error {
	if f.left--; f.left < 0 {
		return fault.New(fault.Storage, "the store is gone").WithHint("check it; nothing was changed")
	}
	return f.Carrier.Bring(ctx, p, over)
}

// TestInterrupted: who imports is told how many runs were stored before a failure, and a repetition brings the others.
func TestInterrupted(t *testing.T) {
	from, into := files(t), files(t)
	for _, name := range []string{"one", "two", "three"} {
		create(t, from, name)
	}
	whole := export(t, from, epoch)
	for stored, want := range []string{"the store is gone", "after 1 runs were stored: the store is gone"} {
		out, _, err := transfer.Import(ctx, whole, &failing{into, stored})
		if !fault.Is(err, fault.Storage) || err.Error() != want || out.New != stored {
			t.Errorf("after %d: %+v, %v", stored, out, err)
		}
		if hint := fault.From(err).Hint; stored > 0 && strings.Contains(hint, "nothing was changed") {
			t.Errorf("after %d: %s", stored, hint)
		}
	}
	if out := bring(t, into, whole); out.New != 2 || out.Same != 1 {
		t.Errorf("repeated: %+v", out)
	}
}
