package codebase_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/codebase"
)

// tree is a project of files by their names, with a cache.
type tree struct {
	codebase.Source
	path string
}

func newTree(t testing.TB, files map[string]string) *tree {
	t.Helper()
	root := t.TempDir()
	w := &tree{path: filepath.Join(root, "project")}
	if err := os.Mkdir(w.path, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		w.write(t, name, text)
	}
	dir, err := durable.OpenDir(w.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	w.Source = codebase.Source{
		Dir: dir, IsClosed: func(string) bool { return false }, Cache: filepath.Join(root, "cache"), Language: lang.English,
		Now: func() time.Time { return time.Unix(1_700_000_000, 0) },
	}
	return w
}

func (w *tree) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(w.path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func all(string) bool { return true }

func (w *tree) find(t testing.TB, text string) codebase.Found {
	t.Helper()
	found, err := w.Search(t.Context(), codebase.Query{Text: text, IsWanted: all, Limit: 8, MaxBytes: 14000})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// filesOf returns the files of the results, in order and each once.
func filesOf(found codebase.Found) string {
	var out []string
	for _, p := range found.Results {
		if len(out) == 0 || out[len(out)-1] != p.File {
			out = append(out, p.File)
		}
	}
	return strings.Join(out, " ")
}

// index returns the path of the only index in the cache.
func (w *tree) index(t testing.TB) string {
	t.Helper()
	entries, err := os.ReadDir(w.Cache)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the cache has %v (%v)", entries, err)
	}
	return filepath.Join(w.Cache, entries[0].Name())
}

// shop is a project whose places are described in words that are not the identifiers.
var shop = map[string]string{
	"net/retry.go": "package net\n\n// backoff waits longer before each attempt, with some jitter, up to a limit.\n" +
		"func backoff(n int) time.Duration {\n\treturn min(limit, base<<n) + jitter()\n}\n",
	"net/retry_test.go": "package net\n\nfunc TestBackoff(t *testing.T) {\n\t// waits longer before each attempt, with some jitter\n" +
		"\tif backoff(3) < backoff(2) {\n\t\tt.Error(\"attempt\")\n\t}\n}\n",
	"store/orders.py": "class Orders:\n    def cancel(self, order):\n        \"\"\"Cancel an order and give the items back to the stock.\"\"\"\n" +
		"        order.status = 'cancelled'\n        self.stock.release(order.items)\n",
	"web/login.ts": "export async function signIn(user: string, password: string) {\n  // five wrong passwords lock the account for an hour\n" +
		"  if (failures(user) >= 5) throw new AccountLocked(user)\n}\n",
	"web/upload.ts":     "export function saveAttachment(file: File) {\n  if (file.size > MAX_SIZE) throw new Error('too large')\n}\n",
	"docs/guide.md":     "# Guide\n\n## Returns\n\nA customer sends an order back within two weeks.\n",
	"config/limits.yml": "upload:\n  max_size: 10MB\n",
	"logo.png":          "\x89PNG\x00\x01retry backoff attempt",
	"empty.go":          "",
}

// TestSearch: a question finds the place in the first results, in words, forms of words, identifiers and Chinese.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := newTree(t, shop)
	for _, c := range []struct{ question, file, name, text string }{
		{"how long do we wait between attempts", "net/retry.go", "backoff", "jitter"},
		{"too many wrong passwords", "web/login.ts", "signIn", "five wrong passwords"},
		{"what happens to the stock when an order is cancelled", "store/orders.py", "cancel", "stock.release"},
		{"maximal size of uploads", "web/upload.ts", "saveAttachment", "MAX_SIZE"},
		{"pause before the next try, up to a maximum", "net/retry.go", "backoff", "jitter"},
		{"saveAttachment", "web/upload.ts", "saveAttachment", "file.size"},
		{"a customer sends it back within two weeks", "docs/guide.md", "Returns", "two weeks"},
		{"取消订单", "store/orders.py", "cancel", "Cancel an order"},
	} {
		found := w.find(t, c.question)
		if len(found.Results) == 0 || found.Searched != 7 || found.LeftOut.NotText != 1 {
			t.Fatalf("%s: %+v", c.question, found)
		}
		first := found.Results[0]
		if first.File != c.file || first.Name != c.name || !strings.Contains(first.Text, c.text) || found.NothingClose || first.From != 1 {
			t.Errorf("%s: got %+v, nothing close: %v", c.question, first, found.NothingClose)
		}
	}
	for _, question := range []string{"quantum chromodynamics", "what is it", "的", strings.Repeat("a", 400), "!!!"} {
		if found := w.find(t, question); !found.NothingClose || len(found.Results) > 0 {
			t.Errorf("%s: got %+v", question, found)
		}
	}
	found, err := w.Search(t.Context(), codebase.Query{Text: "order", IsWanted: func(name string) bool { return strings.HasSuffix(name, ".md") }, Limit: 8, MaxBytes: 14000})
	if err != nil || filesOf(found) != "docs/guide.md" || found.Searched != 1 {
		t.Errorf("got %+v (%v)", found, err)
	}
	found, err = w.Search(t.Context(), codebase.Query{Text: "order wait password", IsWanted: all, Limit: 8, MaxBytes: 300})
	if err != nil || len(found.Results) != 1 || len(found.Results[0].Text) > 200 {
		t.Errorf("in 300 bytes: got %+v (%v)", found, err)
	}
}

// TestChangedFiles: a search answers from the files as they are now.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	w := newTree(t, shop)
	w.find(t, "attempts")
	before, _ := os.Stat(w.index(t))
	w.find(t, "attempts")
	if after, _ := os.Stat(w.index(t)); !os.SameFile(before, after) {
		t.Error("an unchanged project is indexed again")
	}
	w.write(t, "net/retry.go", "package net\n\n// the invoice is sent by courier\n")
	w.write(t, "net/new.go", "package net\n\n// attempts are counted per host\n")
	if err := os.Remove(filepath.Join(w.path, "web/login.ts")); err != nil {
		t.Fatal(err)
	}
	for question, file := range map[string]string{"invoice by courier": "net/retry.go", "attempts counted per host": "net/new.go"} {
		if got, _, _ := strings.Cut(filesOf(w.find(t, question)), " "); got != file {
			t.Errorf("%s: got %s", question, got)
		}
	}
	if found := w.find(t, "wrong passwords lock the account"); strings.Contains(filesOf(found), "login") || found.Searched != 7 {
		t.Errorf("a removed file is found: %+v", found)
	}
	// The same size and time, as of a file that is written while it is read: the text is the present one.
	path := filepath.Join(w.path, "net/new.go")
	info, _ := os.Stat(path)
	w.write(t, "net/new.go", "package net\n\n// ATTEMPTS are counted per user\n")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if found := w.find(t, "attempts counted per host"); !strings.Contains(found.Results[0].Text, "per user") {
		t.Errorf("got %+v", found.Results[0])
	}
}

// TestTimeIsBounded: a search takes in files for 20 seconds and counts the others; the next ones go on with them.
func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("f%02d.go", i)] = fmt.Sprintf("package p\n\n// number %d of the widgets\n", i)
	}
	w := newTree(t, files)
	now := time.Unix(1_700_000_000, 0)
	w.Now = func() time.Time { now = now.Add(time.Second); return now }
	left := []int{}
	for range 4 {
		found := w.find(t, "widgets")
		left = append(left, found.LeftOut.NotIndexed)
		if found.Searched+found.LeftOut.NotIndexed != 50 || len(found.Results) == 0 {
			t.Errorf("got %+v", found)
		}
	}
	if fmt.Sprint(left) != "[30 10 0 0]" {
		t.Errorf("left are %v", left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Search(ctx, codebase.Query{Text: "widgets", IsWanted: all, Limit: 8, MaxBytes: 14000}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestMeaning: places alike in meaning come first, and a server that fails leaves the order by words.
func TestMeaning(t *testing.T) {
	t.Parallel()
	w := newTree(t, shop)
	w.write(t, "config/app.env.go", "package config\n\nconst password = \"hunter2hunter2\" // the order of attempts\n")
	words := filesOf(w.find(t, "order attempts"))
	var sent string
	w.Likeness = func(_ context.Context, query string, texts []string) (out []float64, err error) {
		sent = query + strings.Join(texts, "\n")
		for _, text := range texts {
			out = append(out, 0)
			if strings.HasPrefix(text, "docs/guide.md") {
				out[len(out)-1] = 0.9
			}
		}
		return out, nil
	}
	found := w.find(t, "order attempts")
	if first, _, _ := strings.Cut(filesOf(found), " "); strings.HasPrefix(words, "docs") || first == "" || found.Degraded != "" {
		t.Errorf("by words %s, by meaning %s", words, filesOf(found))
	}
	if rank := strings.Index(filesOf(found), "docs/guide.md"); rank < 0 || rank >= strings.Index(words+" docs/guide.md", "docs/guide.md") {
		t.Errorf("by words %s, by meaning %s", words, filesOf(found))
	}
	if !strings.Contains(sent, "order attempts") || strings.Contains(sent, "hunter2") || !strings.Contains(sent, "[masked]") {
		t.Errorf("the server got %s", sent)
	}
	w.Likeness = func(context.Context, string, []string) ([]float64, error) {
		return nil, errors.New("the server is down")
	}
	if found := w.find(t, "order attempts"); found.Degraded != "found by words only: the server is down" || filesOf(found) != words {
		t.Errorf("got %+v", found)
	}
}

// TestSearchesAtOnce: several searches of a new project leave an index that the next one can use.
func TestSearchesAtOnce(t *testing.T) {
	t.Parallel()
	w := newTree(t, shop)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			got, err := w.Search(t.Context(), codebase.Query{Text: "attempts", IsWanted: all, Limit: 8, MaxBytes: 14000})
			if err != nil || got.Degraded != "" || got.Searched != 7 {
				t.Errorf("got %+v (%v)", got, err)
			}
		})
	}
	running.Wait()
	before, _ := os.Stat(w.index(t))
	w.find(t, "attempts")
	if after, _ := os.Stat(w.index(t)); !os.SameFile(before, after) {
		t.Error("the index is not whole")
	}
}

// TestNames: a place has the name of the declaration that it belongs to, as code and not prose declares it.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, name string }{
		{"a.ts", "type Options = { size: number }\n\nexport const bodyLimit = (options: Options) => {\n  return needle(options)\n}\n", "bodyLimit"},
		{"b.ts", "const plain = async value => {\n  needle(value)\n}\n", "plain"},
		{"c.ts", "export const verify: Verify = async (token) => {\n  const key = needle(token)\n}\n", "verify"},
		{"d.py", "class Task:\n    def run(self):\n        \"\"\"Run it.\n\n        type being a needle\n        \"\"\"\n", "run"},
		{"e.py", "class Scheduler:\n    entries = needle\n", "Scheduler"},
		{"f.go", "/*\nThe type to send is a needle.\n*/\npackage f\n", ""},
		{"g.go", "type Set[T any] struct {\n\tneedle T\n}\n", "Set"},
		{"h.rs", "impl Display for Needle {\n    // needle\n}\n", "Display"},
		{"i.md", "# Needles\n\nA needle is thin.\n", "Needles"},
	} {
		found := newTree(t, map[string]string{c.file: c.text}).find(t, "needle")
		if len(found.Results) != 1 || found.Results[0].Name != c.name {
			t.Errorf("%s: got %+v, want the name %q", c.file, found.Results, c.name)
		}
	}
}
