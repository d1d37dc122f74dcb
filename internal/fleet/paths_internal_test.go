package fleet

import (
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// TestPathsIn has words of stories, in a project with a few files.
func TestPathsIn(t *testing.T) {
	known := newFileNames([]string{"list.go", "cmd/todo/main.go", "web/app.js", "web/main.go", "docs/设计.md", "docs/run.md", "Makefile", ".ci/run", "example.d/x/y", "src/Dockerfile"})
	for text, want := range map[string][]string{
		"":                                           nil,
		"It adds the list.":                          nil,
		"It changes `list.go`, and cmd/todo/.":       {"cmd/todo", "list.go"},
		"See internal/list/list.go, list.go.":        {"internal/list/list.go", "list.go"},
		"list.go list.go":                            {"list.go"},
		"Read /etc/passwd or ../../x/y.":             {"x/y"},
		"a/../../b and ..":                           nil,
		"e.g. this, i.e. that, and/or N/A by 5 p.m.": nil,
		"half of 1/2 day, version 1.2, AC-1.1":       nil,
		"(src/app.ts:12) [docs](docs/run.md)":        {"docs/run.md", "src/app.ts"},
		"web/node_modules/@types/x":                  {"web/node_modules/@types/x"},
		".github/workflows/ci.yml":                   {".github/workflows/ci.yml"},
		// Technologies, addresses and routes are none.
		"A Node.js service on example.com, see https://example.com/docs/list and TCP/IP.": nil,
		"`github.com/acme/x` has GET /api/tasks, and `Node.js`; ann@example.com":          nil,
		"It calls `fmt.Println`, socket.io and json.Marshal.":                             nil,
		"GET /docs/run.md": {"docs/run.md"},
		// Files of the project are, with and without an ending; their last part is enough if only one has it.
		"The Makefile gets a target, the src is built by a Dockerfile.": {"Makefile", "src/Dockerfile"},
		"It changes app.js and main.go":                                 {"main.go", "web/app.js"},
		"Run it; `run` is the script, docs/ the pages, `web` the page":  {".ci/run", "docs", "web"},
		"例如修改docs/设计.md，或`docs/计划.md`、docs/run.md文件。":                   {"docs", "docs/run.md", "docs/计划.md"},
		"See docs/设计.md and 设计.md":                                      {"docs/设计.md"},
		// New ones have the ending of others, or stand in backquotes.
		"It adds print.go and print.py, `dates.rs`, `Containerfile`": {"dates.rs", "print.go"},
		"One ` alone.\nprint.py, `print.rs`":                         {"print.rs"},
	} {
		if got := known.pathsIn(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestOverlap has pairs of lists.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want string
	}{
		{nil, nil, ""}, {[]string{"a.go"}, nil, ""}, {[]string{"a.go"}, []string{"b.go"}, ""},
		{[]string{"a.go"}, []string{"a.go"}, "a.go"}, {[]string{"x/a.go"}, []string{"a.go"}, ""},
		{[]string{"x"}, []string{"x/a.go"}, "x/a.go"}, {[]string{"x/y/a.go"}, []string{"b", "x/y"}, "x/y/a.go"},
		{[]string{"x"}, []string{"xy/a.go"}, ""}, {[]string{"x-y"}, []string{"x"}, ""},
	} {
		if got, back := overlap(c.a, c.b), overlap(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %q, and %q the other way, want %q", c.a, c.b, got, back, c.want)
		}
	}
}

// TestPathsOf reads the paths of each sprint by itself.
func TestPathsOf(t *testing.T) {
	got := newFileNames(nil).pathsOf("# Plan\n\nIn all.go.\n\n## Sprint 1: one\n\n`one.go`\n\n### Story\n\n`x/two.go`\n\n" +
		"## Sprint 2: two\n\nNothing.\n\n## Sprint 3: three\n\n`one.go`\n")
	if len(got) != 3 || !slices.Equal(got[1], []string{"one.go", "x/two.go"}) || len(got[2]) != 0 || !slices.Equal(got[3], []string{"one.go"}) {
		t.Errorf("the paths are %v", got)
	}
}

// FuzzPathsIn looks for texts with a path that leads out of the project, or overlaps differently from the other side.
func FuzzPathsIn(f *testing.F) {
	for _, text := range []string{"a.go b/c.go", "../../etc/passwd", "a/../..//b.c", "x/./y/", "@/a", "-/-.a", "a//b.go", "\xff/a.go", "..a/b"} {
		f.Add(text, "b/c.go x")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		known := newFileNames([]string{"b/c.go", "Makefile", "设计"})
		a, b := known.pathsIn(text), known.pathsIn(other)
		for _, name := range a {
			if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." {
				t.Errorf("%q: %q", text, name)
			}
		}
		if overlap(a, a) == "" && len(a) > 0 {
			t.Errorf("%q does not overlap itself", a)
		}
		if (overlap(a, b) == "") != (overlap(b, a) == "") {
			t.Errorf("%q and %q overlap one way only", a, b)
		}
	})
}
