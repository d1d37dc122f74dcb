// Package methodtest has installations for the tests of the method's packages, and helpers to read them.
package methodtest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// Layouts are the archives of testdata/layouts, covered by all tests.
var Layouts = []string{
	"v4", "source-v4", "v6-alpha", "v6-alpha-dot", "v6-anyname", "v6-files", "v6-mixed", "v6-skills-63", "v6-skills", "next", "source-v6", "source-module", "broken",
}

// Shop is the folder of the fixtures' projects. It is on no disk: it only stands for
// {project-root} and for paths below it.
const Shop = "/srv/shop"

// Target is the target to resolve items for.
var Target = resolve.Target{Project: Shop, Now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}

// Layout returns fixtures as one file system, the later over the earlier.
func Layout(t testing.TB, names ...string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for _, name := range names {
		a, err := txtar.ParseFile(filepath.Join("..", "catalog", "testdata", "layouts", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			out[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o600}
		}
	}
	return out
}

// With returns a file system with some texts in place of, or beside, the files of another.
func With(files fstest.MapFS, texts map[string]string) fstest.MapFS {
	out := maps.Clone(files)
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

// Source returns a file system as the project.
func Source(files fs.FS) catalog.Source {
	return catalog.Source{Name: catalog.Project, Dir: Shop, FS: files}
}

// Project returns a project with the files of some fixtures.
func Project(t testing.TB, names ...string) *catalog.Catalog {
	t.Helper()
	return catalog.Open(Source(Layout(t, names...)))
}

// OnDisk writes files into a new folder and returns it as a project.
func OnDisk(t testing.TB, files fstest.MapFS) catalog.Source {
	t.Helper()
	dir := t.TempDir()
	Write(t, dir, files)
	return OpenSource(t, catalog.Project, dir)
}

// Write writes files into a folder.
func Write(t testing.TB, dir string, files fstest.MapFS) {
	t.Helper()
	for name, f := range files {
		Put(t, filepath.Join(dir, filepath.FromSlash(name)), string(f.Data))
	}
}

// Put writes a file.
func Put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// OpenSource returns a folder of the disk as a source.
func OpenSource(t testing.TB, name, dir string) catalog.Source {
	t.Helper()
	folder, err := durable.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return catalog.Source{Name: name, Dir: dir, FS: folder.Tree()}
}

// Find returns the item of a name, which has to be there.
func Find(t testing.TB, c *catalog.Catalog, kind catalog.Kind, name string) catalog.Item {
	t.Helper()
	i, err := c.Find(kind, name)
	if err != nil {
		t.Fatalf("%s %s: %v", kind, name, err)
	}
	return i
}

// ResolveItem returns an item resolved, which has to succeed.
func ResolveItem(t testing.TB, c *catalog.Catalog, kind catalog.Kind, name string) *resolve.Resolved {
	t.Helper()
	r, err := resolve.Item(c, Find(t, c, kind, name), Target)
	if err != nil {
		t.Fatalf("%s %s: %v", kind, name, err)
	}
	return r
}

// Words returns the texts of a resolved item, one after the other.
func Words(r *resolve.Resolved) string {
	var out []string
	for _, p := range r.Parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

// More returns the files an item refers to, a line each, whatever the view.
func More(r *resolve.Resolved) string {
	return strings.ReplaceAll(Addresses(r), "?view=resolved", "")
}

// Addresses returns the references of an item, a line each.
func Addresses(r *resolve.Resolved) string {
	var out []string
	for _, m := range r.More {
		out = append(out, strings.TrimSpace(m.URI+" "+m.What))
	}
	return strings.Join(out, "\n")
}

// Read returns the text at an address, which has to be there.
func Read(t testing.TB, c *catalog.Catalog, address string) string {
	t.Helper()
	file, err := Follow(c, address)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return string(file.Data)
}

// Follow reads an address in the view it asks for.
func Follow(c *catalog.Catalog, address string) (catalog.TextFile, error) {
	ref, err := catalog.ParseRef(address)
	if err != nil {
		return catalog.TextFile{}, err
	}
	if ref.Resolved {
		file, _, err := resolve.Text(c, ref, Target)
		return file, err
	}
	return c.Read(ref)
}

// AsJSON returns a value as indented JSON.
func AsJSON(t testing.TB, v any) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// WantFault checks the code of an error, and parts of the message and of the hint.
func WantFault(t testing.TB, what string, err error, code fault.Code, message, hint string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %s: %s", what, code, message)
		return
	}
	got := fault.From(err)
	if got.Code != code || !strings.Contains(got.Message, message) || !strings.Contains(got.Hint, hint) || got.Hint == "" {
		t.Errorf("%s: %s: %s (%s)\nwant %s: %s (%s)", what, got.Code, got.Message, got.Hint, code, message, hint)
	}
}

// Describe writes a resolved item for people, and for comparing.
func Describe(t testing.TB, r *resolve.Resolved) string {
	t.Helper()
	var b strings.Builder
	section := func(title string, v any) {
		text, ok := v.(string)
		if !ok {
			text = AsJSON(t, v)
		}
		if strings.TrimSpace(text) != "" && strings.TrimSpace(text) != "null" {
			b.WriteString("## " + title + "\n\n" + strings.TrimRight(text, "\n") + "\n\n")
		}
	}
	section("item", r.Item)
	section("persona", r.Persona)
	section("settings", r.Settings)
	config := ""
	for _, s := range r.Config {
		config += s.Key + " = " + s.Value + "\n"
	}
	section("config", config)
	section("custom", strings.Join(r.Custom, "\n"))
	section("notes", strings.Join(r.Notes, "\n"))
	section("open", strings.Join(r.Open, "\n"))
	section("more", Addresses(r))
	for _, p := range r.Parts {
		section("text "+p.URI, p.Text)
	}
	return b.String()
}

// Readable checks that every address of a resolved item leads to a text, each once.
func Readable(t *testing.T, c *catalog.Catalog, what string, r *resolve.Resolved) {
	t.Helper()
	var addresses []string
	for _, p := range r.Parts {
		addresses = append(addresses, p.URI)
	}
	for _, m := range r.More {
		if slices.Contains(addresses, m.URI) {
			t.Errorf("%s refers to %s twice", what, m.URI)
		}
		if file, err := Follow(c, strings.TrimSuffix(m.URI, "?view=resolved")); err == nil && m.Size != int64(len(file.Data)) {
			t.Errorf("%s: %s has %d bytes, %d are told", what, m.URI, len(file.Data), m.Size)
		}
		addresses = append(addresses, m.URI)
	}
	for _, address := range append(addresses, r.Custom...) {
		if _, err := Follow(c, address); err != nil {
			t.Errorf("%s: %s: %v", what, address, err)
		}
	}
}
