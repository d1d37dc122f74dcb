package web_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// reads counts the calls that open, describe and list in the folders of projects.
type reads struct {
	mu    sync.Mutex
	times map[string]int
}

func (r *reads) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.times == nil {
		r.times = map[string]int{}
	}
	r.times[name]++
}

// take returns how much was read, with the names, and counts from 0 again.
func (r *reads) take() (n int, times map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	times, r.times = r.times, nil
	for _, some := range times {
		n += some
	}
	return n, times
}

// open opens the folder of a project, and counts the reads in it.
func (r *reads) open(name string) (*durable.Dir, error) {
	r.add("the project " + filepath.Base(name))
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return durable.NewDir(dir.Path(), countedFS{dir.FS, r}), nil
}

type countedFS struct {
	durable.FS
	to *reads
}

func (c countedFS) Tree() fs.FS { return countedTree{c.FS.Tree(), c.to} }

type countedTree struct {
	fs.FS
	to *reads
}

func (c countedTree) Open(name string) (fs.File, error) {
	c.to.add(name)
	return c.FS.Open(name)
}

func (c countedTree) Stat(name string) (fs.FileInfo, error) {
	c.to.add(name)
	return fs.Stat(c.FS, name)
}

func (c countedTree) Lstat(name string) (fs.FileInfo, error) {
	c.to.add(name)
	return fs.Lstat(c.FS, name)
}

func (c countedTree) ReadLink(name string) (string, error) {
	c.to.add(name)
	return fs.ReadLink(c.FS, name)
}

func (c countedTree) ReadDir(name string) ([]fs.DirEntry, error) {
	c.to.add(name)
	entries, err := fs.ReadDir(c.FS, name)
	for i, e := range entries {
		entries[i] = countedEntry{e, c.to}
	}
	return entries, err
}

type countedEntry struct {
	fs.DirEntry
	to *reads
}

func (c countedEntry) Info() (fs.FileInfo, error) {
	c.to.add(c.Name())
	return c.DirEntry.Info()
}

// serve has the pages answered without a network between.
func (w *world) serve(tb testing.TB, path string) []byte {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, path, http.NoBody)
	out := httptest.NewRecorder()
	w.d.Handler().ServeHTTP(out, r)
	if out.Code != http.StatusOK {
		tb.Fatalf("%s: status %d\n%s", path, out.Code, out.Body)
	}
	return out.Body.Bytes()
}

// crowd returns a world whose one project has n sessions of ordinary size, which have settled.
func crowd(tb testing.TB, n int) *world {
	tb.Helper()
	w := newWorld(tb)
	w.clock, w.still = time.Now().Add(time.Hour), true
	folder := w.project("crowd")
	w.play(folder, "webhook-relay", "po 01-po-first.md")
	storetest.Ordinary(tb, folder, n)
	return w
}

// projectPath returns the address of the board of the only project.
func (w *world) projectPath() string {
	w.t.Helper()
	path := regexp.MustCompile(`/p/[0-9a-f]{10}/`).Find(w.serve(w.t, "/"))
	if path == nil {
		w.t.Fatal("the inbox names no project")
	}
	return string(path)
}

// TestListsDoNotGrow: the pages that list runs read no more of a project with many sessions than
// of one with as many as they list.
func TestListsDoNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it makes 1,700 sessions")
	}
	few, many := crowd(t, 200), crowd(t, 1500)
	dir, err := durable.OpenDir(filepath.Join(many.root, "crowd"))
	if err != nil {
		t.Fatal(err)
	}
	still := dir.Stillness(store.Folder)
	_ = dir.Close() // nothing was written
	if still == nil {
		t.Skip("SKIPPED: this file system does not note its changes, so every session is looked at")
	}
	still.Close()
	for name, pages := range map[string][2]string{"inbox": {"/", "/"}, "board": {few.projectPath(), many.projectPath()}, "search": {"/search?q=nowhere", "/search?q=nowhere"}} {
		var read [2]int
		for i, w := range []*world{few, many} {
			w.serve(t, pages[i]) // from then on the facts are known, and need no read
			w.serve(t, pages[i])
			w.reads.take()
			w.serve(t, pages[i])
			n, times := w.reads.take()
			for file, n := range times {
				if n > 2 && strings.Contains(file, "session-") {
					t.Errorf("%s reads %s %d times", name, file, n)
				}
			}
			read[i] = n
		}
		if read[0] == 0 || float64(read[1]) > 1.3*float64(read[0]) {
			t.Errorf("%s: %d reads with 1,500 sessions, and %d with 200", name, read[1], read[0])
		}
		t.Logf("%s: %d reads with 200 sessions, %d with 1,500", name, read[0], read[1])
	}
}

// TestPagesAreSmall: few bytes go over the network for the first page, and for a document of 20 kB with its
// decision, including all that they load.
func TestPagesAreSmall(t *testing.T) {
	w := newWorld(t)
	w.relay()
	loaded := regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`)
	for path, limits := range map[string]struct{ bytes, requests int }{"/": {12_000, 5}, w.waiting(): {40_000, 6}} {
		sent, plain := 0, 0
		seen := map[string]bool{}
		for next := []string{path}; len(next) > 0; next = next[1:] {
			if seen[next[0]] {
				continue
			}
			seen[next[0]] = true
			packed, text := w.fetchPacked(next[0])
			sent, plain = sent+packed, plain+len(text)
			for _, m := range loaded.FindAllStringSubmatch(text, -1) {
				next = append(next, m[1])
			}
			if strings.HasPrefix(next[0], "/assets/") {
				for _, m := range regexp.MustCompile(`from '\./([a-z]+\.js)'`).FindAllStringSubmatch(text, -1) {
					next = append(next, next[0][:strings.LastIndex(next[0], "/")+1]+m[1])
				}
			}
		}
		if len(seen) < 3 || len(seen) > limits.requests {
			t.Errorf("%s takes %d requests: %v", path, len(seen), slices.Sorted(maps.Keys(seen)))
		}
		if sent > limits.bytes || plain < 2*sent {
			t.Errorf("%s takes %d bytes of %d, want at most %d", path, sent, plain, limits.bytes)
		}
		t.Logf("%s: %d requests, %d bytes of %d", path, len(seen), sent, plain)
	}
}

// fetchPacked fetches a file as browsers do. It returns how many bytes were sent, and the text.
func (w *world) fetchPacked(path string) (int, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.server.URL+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
	res, err := w.server.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	sent, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Encoding") != "gzip" {
		w.t.Fatalf("%s: status %d, %q, %v", path, res.StatusCode, res.Header.Get("Content-Encoding"), err)
	}
	z, err := gzip.NewReader(bytes.NewReader(sent))
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(sent), string(text)
}

// TestPagesLeaveNoMemory: many pages leave little in memory.
func TestPagesLeaveNoMemory(t *testing.T) {
	w := newWorld(t)
	w.relay()
	document := w.waiting()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	paths := []string{"/", w.projectPath(), document, document + "?view=source", document + "?view=diff", "/settings", "/memory", "/search?q=relay"}
	for _, path := range paths {
		w.serve(t, path)
	}
	before := heap()
	for i := range 100 {
		w.serve(t, paths[i%len(paths)])
	}
	after := heap()
	const most = 25 << 20 // the play before has left some
	if after > most {
		t.Errorf("the heap has %d bytes after 100 pages, want at most %d", after, most)
	}
	if after > before+2<<20 {
		t.Errorf("100 pages leave %d bytes", after-before)
	}
	t.Logf("%d bytes before, %d after", before, after)
}

// BenchmarkPage measures the pages of a document of 18 kB that waits for a decision, and compares them with
// rendering its Markdown once.
func BenchmarkPage(b *testing.B) {
	w := newWorld(b)
	w.clock, w.still = time.Now().Add(time.Hour), true
	w.play(w.project("webhook-relay"), "webhook-relay", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes",
		"architect 04-architect-first.md", "no explain how ordering is kept for each merchant", "architect 05-architect-second.md")
	text := w.sample("webhook-relay", "05-architect-second.md")
	path := w.waiting()
	b.Run("markdown", func(b *testing.B) {
		for b.Loop() {
			render.Document(text)
		}
	})
	for _, view := range []string{"rendered", "source", "diff", "split"} {
		b.Run(view, func(b *testing.B) {
			began := time.Now()
			const once = 20
			for range once {
				render.Document(text)
			}
			rendered := time.Since(began) / once
			for b.Loop() {
				w.serve(b, path+"?view="+view)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(rendered), "times-the-markdown")
		})
	}
	for name, path := range map[string]string{"run": strings.TrimSuffix(path, "d/architect"), "log": strings.TrimSuffix(path, "d/architect") + "log"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w.serve(b, path)
			}
		})
	}
}

// BenchmarkBoard measures the pages that list runs, by how many sessions the project has.
func BenchmarkBoard(b *testing.B) {
	for _, n := range []int{200, 20_000} {
		if n > 200 && testing.Short() {
			continue
		}
		w := crowd(b, n)
		board := w.projectPath()
		for name, path := range map[string]string{"inbox": "/", "board": board} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				w.serve(b, path)
				for b.Loop() {
					w.serve(b, path)
				}
			})
		}
	}
}
