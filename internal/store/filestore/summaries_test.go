package filestore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// counted counts the run files that are opened.
type counted struct {
	durable.FS
	mu    sync.Mutex
	opens map[string]int
	lists int // of the folder of sessions
}

func (c *counted) Tree() fs.FS { return countedTree{c.FS.Tree(), c} }

// take returns how many were opened, and counts from 0 again.
func (c *counted) take() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, times := range c.opens {
		n += times
	}
	c.opens = map[string]int{}
	return n
}

type countedTree struct {
	fs.FS
	to *counted
}

func (c countedTree) Open(name string) (fs.File, error) {
	if base := path.Base(name); strings.HasPrefix(base, "session-") {
		c.to.mu.Lock()
		c.to.opens[base]++
		c.to.mu.Unlock()
	}
	return c.FS.Open(name)
}

func (c countedTree) Stat(name string) (fs.FileInfo, error)  { return fs.Stat(c.FS, name) }
func (c countedTree) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(c.FS, name) }
func (c countedTree) ReadLink(name string) (string, error)   { return fs.ReadLink(c.FS, name) }
func (c countedTree) ReadDir(name string) ([]fs.DirEntry, error) {
	c.to.mu.Lock()
	c.to.lists++
	c.to.mu.Unlock()
	return fs.ReadDir(c.FS, name)
}

// process has the stores of one process on a folder.
type process struct {
	t     *testing.T
	dir   *durable.Dir
	opens *counted
	kept  *filestore.Summaries
	now   time.Time
}

// newProcess returns a process whose clock is an hour ahead, so that every file has settled.
func newProcess(t *testing.T, folder string) *process {
	t.Helper()
	dir, err := durable.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	p := &process{t: t, opens: &counted{FS: dir.FS, opens: map[string]int{}}, now: time.Now().Add(time.Hour)}
	p.dir = durable.NewDir(folder, p.opens)
	p.kept = filestore.NewSummaries(func() time.Time { return p.now })
	return p
}

// lists lists all sessions with a new store, as each call does, and checks how many files that
// opens.
func (p *process) lists(after string, opens int) store.Listing {
	p.t.Helper()
	p.opens.take()
	all, err := p.kept.Store(p.dir).All(ctx)
	if err != nil {
		p.t.Fatalf("%s: %v", after, err)
	}
	if got := p.opens.take(); got != opens {
		p.t.Errorf("%s: a listing opens %d session files, want %d", after, got, opens)
	}
	return all
}

// objective returns that of a session in a listing; "" if it is not there.
func objective(all store.Listing, id string) string {
	for _, s := range all.Sessions {
		if s.SessionID == id {
			return s.Objective
		}
	}
	return ""
}

// edit replaces a text in a file in place, by one of the same length.
func edit(t *testing.T, file, old, text string) {
	t.Helper()
	before := contentOf(t, file)
	if len(old) != len(text) || strings.Count(before, old) != 1 {
		t.Fatalf("%q in %s", old, file)
	}
	overwrite(t, file, strings.Replace(before, old, text, 1))
}

// TestOnlyChangesAreRead: an unchanged file is not read again, and every change is seen, whoever makes it and
// however.
func TestOnlyChangesAreRead(t *testing.T) {
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, 30)
	p, other := newProcess(t, folder), newProcess(t, folder)
	file := func(n int) string { return sessionFile(folder, ids[n]) }
	const was, is = "Build a to-do list for the terminal", "Build a to-do list for the browsers"

	if all := p.lists("a cold start", 30); len(all.Sessions) != 30 || len(all.Broken) != 0 || all.Sessions[0].SessionID != ids[29] {
		t.Fatalf("%d sessions, %v", len(all.Sessions), all.Broken)
	}
	p.lists("nothing", 0)
	other.lists("a cold start of another process", 30)

	// Another process continues a session.
	if _, err := other.kept.Store(other.dir).Update(ctx, ids[3], func(_ store.Tx, s *workflow.Session) error {
		s.Objective = "changed by another process"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if all := p.lists("a change by another process", 1); objective(all, ids[3]) != "changed by another process" {
		t.Errorf("%q", objective(all, ids[3]))
	}
	p.lists("nothing", 0)

	edit(t, file(4), `"objective": "`+was, `"objective": "`+is)
	if all := p.lists("an edit in place", 1); objective(all, ids[4]) != is {
		t.Errorf("%q", objective(all, ids[4]))
	}

	// A file of the same size and time takes the place of another.
	info, err := os.Stat(file(5))
	if err != nil {
		t.Fatal(err)
	}
	replacement := filepath.Join(folder, "replacement.json")
	overwrite(t, replacement, strings.Replace(contentOf(t, file(5)), `"objective": "`+was, `"objective": "`+is, 1))
	if err := errors.Join(os.Chtimes(replacement, info.ModTime(), info.ModTime()), os.Rename(replacement, file(5))); err != nil {
		t.Fatal(err)
	}
	if all := p.lists("a replaced file", 1); objective(all, ids[5]) != is {
		t.Errorf("%q", objective(all, ids[5]))
	}

	if err := os.Remove(file(6)); err != nil {
		t.Fatal(err)
	}
	if all := p.lists("a removed file", 0); len(all.Sessions) != 29 || objective(all, ids[6]) != "" {
		t.Errorf("%d sessions", len(all.Sessions))
	}
	start(t, p.kept.Store(p.dir), "new")
	if all := p.lists("a start", 1); len(all.Sessions) != 30 {
		t.Errorf("%d sessions", len(all.Sessions))
	}

	// A renamed file holds another run than its name says.
	if err := os.Rename(file(7), file(6)); err != nil {
		t.Fatal(err)
	}
	for n, opens := range []int{1, 0} {
		all := p.lists("a renamed file", opens)
		if len(all.Sessions) != 29 || len(all.Broken) != 1 || !strings.Contains(all.Broken[0].Err.Error(), "holds another run") {
			t.Errorf("list %d: %d sessions, %v", n, len(all.Sessions), all.Broken)
		}
	}
	if err := os.Rename(file(6), file(7)); err != nil {
		t.Fatal(err)
	}
	if all := p.lists("the name put back", 1); len(all.Sessions) != 30 || len(all.Broken) != 0 {
		t.Errorf("%d sessions, %v", len(all.Sessions), all.Broken)
	}

	// A broken file is reported by every listing and read by one.
	whole := contentOf(t, file(8))
	overwrite(t, file(8), whole[:len(whole)/2])
	for n, opens := range []int{1, 0, 0} {
		if all := p.lists("a broken file", opens); len(all.Sessions) != 29 || len(all.Broken) != 1 || !fault.Is(all.Broken[0].Err, fault.Storage) {
			t.Errorf("list %d: %d sessions, %v", n, len(all.Sessions), all.Broken)
		}
	}
	overwrite(t, file(8), strings.Replace(whole, `"objective":`, `"their_key": {"a": 1}, "objective":`, 1))
	if all := p.lists("a fixed file with a key of others", 1); objective(all, ids[8]) != was || len(all.Broken) != 0 {
		t.Errorf("%q, %v", objective(all, ids[8]), all.Broken)
	}
	p.lists("nothing", 0)
	if sum, err := p.kept.Store(p.dir).StoredHash(ctx, ids[8]); err != nil || sum != workflow.Hash([]byte(contentOf(t, file(8)))) || p.opens.take() != 0 {
		t.Errorf("the hash of a known file: %s, %v", sum, err)
	}
	edit(t, file(8), `"objective": "`+was, `"objective": "`+is)
	if sum, err := p.kept.Store(p.dir).StoredHash(ctx, ids[8]); err != nil || sum != workflow.Hash([]byte(contentOf(t, file(8)))) || p.opens.take() != 1 {
		t.Errorf("the hash of a changed file: %s, %v", sum, err)
	}
	if err := os.RemoveAll(filepath.Join(folder, ".bmad-task")); err != nil {
		t.Fatal(err)
	}
	if all := p.lists("all of it removed", 0); len(all.Sessions)+len(all.Broken) != 0 {
		t.Errorf("%v", all)
	}
}

// editKeepingTime changes the objective in a session file, and puts the time of its change back.
func editKeepingTime(t *testing.T, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, file, `"objective": "Build a`, `"objective": "Break a`)
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// TestTimePutBackIsSeen: programs can set the time of a file, but not the one that the system notes.
func TestTimePutBackIsSeen(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system does not say when a file was changed in any way")
	}
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, 2)
	p := newProcess(t, folder)
	p.lists("a cold start", 2)
	file := sessionFile(folder, ids[0])
	editKeepingTime(t, file)
	if all := p.lists("an edit with the time put back", 1); !strings.HasPrefix(objective(all, ids[0]), "Break a") {
		t.Errorf("%q", objective(all, ids[0]))
	}
}

// TestYoungFilesAreReadAgain: within a tick of the file system's clock two states of a file can
// have the same times, so that one that was read so soon after its change is read again.
func TestYoungFilesAreReadAgain(t *testing.T) {
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, 3)
	p := newProcess(t, folder)
	p.now = time.Now().Add(-time.Hour) // a clock that is behind
	p.lists("a cold start", 3)
	p.lists("nothing, while the files are young", 3)

	// They are decoded only if they have other bytes.
	sessions, decoded := p.kept.Store(p.dir), new(atomic.Int32)
	sessions.Decode = func(data []byte, path string) (*workflow.Session, error) {
		decoded.Add(1)
		return store.Decode(data, path)
	}
	if all, err := sessions.All(ctx); err != nil || len(all.Sessions) != 3 || p.opens.take() != 3 || decoded.Load() != 0 {
		t.Errorf("%d of %d sessions with the same bytes were decoded, %v", decoded.Load(), len(all.Sessions), err)
	}
	file := sessionFile(folder, ids[1])
	editKeepingTime(t, file)
	if all := p.lists("a change within the tick", 3); !strings.HasPrefix(objective(all, ids[1]), "Break a") {
		t.Errorf("%q", objective(all, ids[1]))
	}
	p.now = time.Now().Add(time.Hour)
	p.lists("the files have settled", 3)
	p.lists("nothing", 0)
}

// TestLinkIsReadAgain: the description of a link says nothing about the file behind it.
func TestLinkIsReadAgain(t *testing.T) {
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, 2)
	file, target := sessionFile(folder, ids[0]), filepath.Join(folder, "elsewhere.json")
	if err := os.Rename(file, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "elsewhere.json"), file); err != nil {
		t.Skip("no links here:", err)
	}
	p := newProcess(t, folder)
	p.lists("a cold start", 2)
	edit(t, target, `"objective": "Build a`, `"objective": "Break a`)
	if all := p.lists("an edit behind the link", 1); !strings.HasPrefix(objective(all, ids[0]), "Break a") {
		t.Errorf("%q", objective(all, ids[0]))
	}
}

// TestLatestReadsNoMore reads as many files as it is asked for, the ones changed last, and none
// that it knows.
func TestLatestReadsNoMore(t *testing.T) {
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, 40)
	for n, id := range ids {
		at := time.Now().Add(time.Duration(n-40) * time.Minute)
		if err := os.Chtimes(sessionFile(folder, id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	p := newProcess(t, folder)
	latest := func(n, opens, sessions int) store.Listing {
		t.Helper()
		p.opens.take()
		got, err := p.kept.Store(p.dir).Latest(ctx, n)
		if opened := p.opens.take(); err != nil || opened != opens || len(got.Sessions) != sessions {
			t.Fatalf("the latest %d: opened %d, want %d; %d sessions, want %d; %v", n, opened, opens, len(got.Sessions), sessions, err)
		}
		return got
	}
	if got := latest(5, 5, 5); got.Sessions[0].SessionID != ids[39] || got.Sessions[4].SessionID != ids[35] {
		t.Errorf("%v", got.Sessions)
	}
	latest(5, 0, 5)
	latest(1, 0, 5)
	overwrite(t, sessionFile(folder, ids[39]), "{")
	if got := latest(5, 2, 5); got.Sessions[0].SessionID != ids[38] || len(got.Broken) != 1 {
		t.Errorf("%v, %v", got.Sessions, got.Broken)
	}
	p.lists("the latest", 34)
	latest(5, 0, 39)
	if names, err := p.kept.Store(p.dir).TaskNames(ctx); err != nil || len(names) != 0 || p.opens.take() != 0 {
		t.Errorf("no names are stored: %v, %v", names, err)
	}
	start(t, p.kept.Store(p.dir), "new") // takes the names over
	p.opens.take()
	if names, err := p.kept.Store(p.dir).TaskNames(ctx); err != nil || len(names) != 40 || p.opens.take() != 0 {
		t.Errorf("%d names, %v", len(names), err)
	}
}

// TestOneReadsForAll: listings at the same time read each file once.
func TestOneReadsForAll(t *testing.T) {
	folder := t.TempDir()
	storetest.Ordinary(t, folder, 60)
	p := newProcess(t, folder)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if all, err := p.kept.Store(p.dir).All(ctx); err != nil || len(all.Sessions) != 60 {
				t.Errorf("%d sessions, %v", len(all.Sessions), err)
			}
		})
	}
	wg.Wait()
	if got := p.opens.take(); got != 60 {
		t.Errorf("opened %d files", got)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := p.kept.Store(p.dir).All(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled listing: %v", err)
	}
}

// TestStillFolderIsNotLookedAt: on a system that notes changes, a large folder is compared with the summaries
// only after one, and once in a while.
func TestStillFolderIsNotLookedAt(t *testing.T) {
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, 1000)
	dir, err := durable.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	probe := dir.Stillness(filestore.Folder)
	if probe == nil {
		t.Skip("the system does not note changes here")
	}
	probe.Close()
	p := newProcess(t, folder)
	looks := func(after string, opens, lists int) store.Listing {
		t.Helper()
		p.opens.lists = 0
		all := p.lists(after, opens)
		if p.opens.lists != lists {
			t.Errorf("%s: the folder was listed %d times, want %d", after, p.opens.lists, lists)
		}
		return all
	}
	looks("a cold start", 1000, 1)
	looks("the second time, from which on changes are noted", 0, 1)
	for range 3 {
		looks("nothing", 0, 0)
	}
	edit(t, sessionFile(folder, ids[3]), `"objective": "Build a`, `"objective": "Break a`)
	if all := looks("an edit in place", 1, 1); !strings.HasPrefix(objective(all, ids[3]), "Break a") {
		t.Errorf("%q", objective(all, ids[3]))
	}
	looks("nothing", 0, 0)
	if err := os.Remove(sessionFile(folder, ids[4])); err != nil {
		t.Fatal(err)
	}
	if all := looks("a removed file", 0, 1); len(all.Sessions) != 999 {
		t.Errorf("%d sessions", len(all.Sessions))
	}
	p.now = p.now.Add(time.Hour)
	looks("an hour", 0, 1)
	looks("nothing", 0, 0)
	p.now = p.now.Add(-2 * time.Hour)
	looks("a clock that was set back", 0, 1)
	p.now = p.now.Add(2 * time.Hour)

	// The file behind a link changes elsewhere.
	target := filepath.Join(folder, "elsewhere.json")
	if err := errors.Join(os.Rename(sessionFile(folder, ids[5]), target), os.Symlink(filepath.Join("..", "elsewhere.json"), sessionFile(folder, ids[5]))); err != nil {
		t.Fatal(err)
	}
	looks("a link", 1, 1)
	edit(t, target, `"objective": "Build a`, `"objective": "Break a`)
	if all := looks("an edit behind it", 1, 1); !strings.HasPrefix(objective(all, ids[5]), "Break a") {
		t.Errorf("%q", objective(all, ids[5]))
	}
	if err := os.Remove(sessionFile(folder, ids[5])); err != nil {
		t.Fatal(err)
	}
	looks("the link removed", 0, 1)
	looks("nothing", 0, 0)

	// Another folder takes the place, with other sessions.
	state := filepath.Join(folder, ".bmad-task")
	if err := os.Rename(state, state+"-old"); err != nil {
		t.Fatal(err)
	}
	storetest.Ordinary(t, folder, 2)
	if all := looks("another folder", 2, 1); len(all.Sessions) != 2 {
		t.Errorf("%d sessions", len(all.Sessions))
	}
}

// TestDamageDeepInside is reported by lists as far as they decode files whole, when a session is used, and if
// all are read.
func TestDamageDeepInside(t *testing.T) {
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, 520)
	old, young := ids[3], ids[519]
	for n, id := range ids {
		if id == old || id == young {
			file := sessionFile(folder, id)
			overwrite(t, file, strings.Replace(contentOf(t, file), `"iteration": 1`, `"iteration": "one"`, 1))
		}
		at := time.Now().Add(time.Duration(n-520) * time.Minute)
		if err := os.Chtimes(sessionFile(folder, id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	p := newProcess(t, folder)
	all := p.lists("a cold start", 520)
	if len(all.Broken) != 1 || !strings.Contains(all.Broken[0].Path, young) || objective(all, old) == "" {
		t.Errorf("%d sessions, %v", len(all.Sessions), all.Broken)
	}
	if _, err := p.kept.Store(p.dir).Get(ctx, old); !fault.Is(err, fault.Storage) {
		t.Errorf("used: %v", err)
	}
	p.opens.take()
	n := 0
	broken, err := p.kept.Store(p.dir).Each(ctx, func(*workflow.Session) error { n++; return nil })
	if opened := p.opens.take(); err != nil || n != 518 || len(broken) != 2 || opened != 520 {
		t.Errorf("read %d of %d opened, %v, %v", n, opened, broken, err)
	}
	if all := p.lists("all were read", 0); len(all.Broken) != 2 {
		t.Errorf("%v", all.Broken)
	}
}
