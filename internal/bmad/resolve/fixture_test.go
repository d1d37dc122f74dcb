package resolve_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/resolve"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// layouts are the archives of testdata/layouts, and all that tests go through.
var layouts = []string{
	"v4", "source-v4", "v6-alpha", "v6-alpha-dot", "v6-anyname", "v6-files", "v6-mixed", "v6-skills-63", "v6-skills", "next", "source-v6", "source-module", "broken",
}

// shop is the folder of the fixtures' projects. It is on no disk: it only stands for
// {project-root} and for paths below it.
const shop = "/srv/shop"

// at is the target that items are resolved for.
var at = resolve.Target{Project: shop, Now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}

// layout returns fixtures as one file system, the later over the earlier.
func layout(t testing.TB, names ...string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for _, name := range names {
		a, err := txtar.ParseFile(filepath.Join("..", "catalog", "testdata", "layouts", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			out[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
		}
	}
	return out
}

// with returns a file system with some texts in place of, or beside, its files.
func with(files fstest.MapFS, texts map[string]string) fstest.MapFS {
	out := maps.Clone(files)
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

// source returns a file system as the project.
func source(files fs.FS) catalog.Source {
	return catalog.Source{Name: catalog.Project, Dir: shop, FS: files}
}

// project returns a project with the files of some fixtures.
func project(t testing.TB, names ...string) *catalog.Catalog {
	t.Helper()
	return catalog.Open(source(layout(t, names...)))
}

// onDisk writes files into a new folder and returns it as a project.
func onDisk(t testing.TB, files fstest.MapFS) catalog.Source {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return openSource(t, catalog.Project, dir)
}

func write(t testing.TB, dir string, files fstest.MapFS) {
	t.Helper()
	for name, f := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), string(f.Data))
	}
}

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// openSource returns a folder of the disk as a source.
func openSource(t testing.TB, name, dir string) catalog.Source {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return catalog.Source{Name: name, Dir: dir, FS: root.FS()}
}

// find returns the item of a name, which has to be there.
func find(t testing.TB, c *catalog.Catalog, kind catalog.Kind, name string) catalog.Item {
	t.Helper()
	i, err := c.Find(kind, name)
	if err != nil {
		t.Fatalf("%s %s: %v", kind, name, err)
	}
	return i
}

// resolveItem returns an item resolved, which has to succeed.
func resolveItem(t testing.TB, c *catalog.Catalog, kind catalog.Kind, name string) *resolve.Resolved {
	t.Helper()
	r, err := resolve.Item(c, find(t, c, kind, name), at)
	if err != nil {
		t.Fatalf("%s %s: %v", kind, name, err)
	}
	return r
}

// words returns the texts of a resolved item, one after the other.
func words(r *resolve.Resolved) string {
	var out []string
	for _, p := range r.Parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

// more returns the files an item refers to, a line each, whatever the view.
func more(r *resolve.Resolved) string {
	return strings.ReplaceAll(addresses(r), "?view=resolved", "")
}

// addresses returns the references of an item, a line each.
func addresses(r *resolve.Resolved) string {
	var out []string
	for _, m := range r.More {
		out = append(out, strings.TrimSpace(m.URI+" "+m.What))
	}
	return strings.Join(out, "\n")
}

// read returns the text at an address, which has to be there.
func read(t testing.TB, c *catalog.Catalog, address string) string {
	t.Helper()
	file, err := follow(c, address)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return string(file.Data)
}

// follow reads an address in the view that it asks for.
func follow(c *catalog.Catalog, address string) (catalog.TextFile, error) {
	ref, err := catalog.ParseRef(address)
	if err != nil {
		return catalog.TextFile{}, err
	}
	if ref.Resolved {
		file, _, err := resolve.Text(c, ref, at)
		return file, err
	}
	return c.Read(ref)
}

// asJSON returns a value as indented JSON.
func asJSON(t testing.TB, v any) string {
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

// wantFault checks the code of an error, and parts of its message and of its hint.
func wantFault(t testing.TB, what string, err error, code fault.Code, message, hint string) {
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

// describe writes a resolved item for people, and for comparing.
func describe(t testing.TB, r *resolve.Resolved) string {
	t.Helper()
	var b strings.Builder
	section := func(title string, v any) {
		text, ok := v.(string)
		if !ok {
			text = asJSON(t, v)
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
	section("more", addresses(r))
	for _, p := range r.Parts {
		section("text "+p.URI, p.Text)
	}
	return b.String()
}
