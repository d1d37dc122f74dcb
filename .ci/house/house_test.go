package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planted is a small module whose figures are known.
var planted = map[string]string{
	"go.mod": "module example.com/planted\n\ngo 1.26\n",
	"ring/top.go": `// Package ring has three files in a circle.
package ring

// Top calls down.
func Top() int { return middle() }
`,
	"ring/middle.go": `package ring

func middle() int { return low{}.number() }
`,
	"ring/low.go": `package ring

type low struct{}

// Steps has a method that others get by embedding it.
type Steps struct{}

// Climb climbs.
func (Steps) Climb() {}

func (low) number() int { return 1 }
func (low) again() int  { return Top() }

func Bare(a, b int, c bool) int {
	if a > b && c {
		for range a {
			b++
		}
	} else if c {
		return a
	}
	return b
}
`,
	"ring/ring_test.go": "package ring\n",
	"wide/wide.go": `// Package wide has types of every shape.
package wide

import (
	"go/ast"
	_ "strings"

	"example.com/planted/ring"
)

type room struct{ a, b, c int }

func (*room) enter()             {}
func leave(*room, int)           {}
func paint(r room)               { _ = ring.Top() }
func all(...room)                {}
func second(int, room)           {}
func walk(*ast.File)             {}
func list[T any](l pile[T]) bool { return len(l.of) > 0 || l.a && l.b }

type pile[T any] struct {
	of   []T
	a, b bool
}

type floor struct {
	room
	low
}

type low struct{ ring.Steps }

type letter struct {
	To, From string ` + "`" + `json:"to"` + "`" + `
	Text     string ` + "`" + `yaml:"text"` + "`" + `
	size     int
}
`,
	"helpertest/helper.go": "// Package helpertest is for tests.\npackage helpertest\n\nfunc named() bool { return true || true && (false || true) }\n",
}

func plant(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range planted {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func measurePlanted(t *testing.T) *figures {
	t.Helper()
	f, err := measure(plant(t))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := measurePlanted(t).print(&out, []gauge{{"rooms, in %", 2.071, goal{want: 1, today: 3}}, {"doors", 2, goal{want: 4}}}); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"lines of production 68",
		"lines of tests 1 (0.01), and of test support 4",
		"file lines, median / p90 / max 5 / 23 / 37 (wide/wide.go)",
		"function lines, median / p90 / p95 / max 1 / 1 / 1 / 10 (low.go:Bare)",
		"cyclomatic complexity, median / p95 / max 1 / 3 / 5 (low.go:Bare)",
		"parameters, median / p95 / max 1 / 2 / 3 (low.go:Bare)",
		"nesting, median / p95 / max 0 / 0 / 2 (low.go:Bare)",
		"exported names with a comment 3 of 4",
		"comment lines 7 %",
		"methods of a type ring.low 2, wide.floor 2, ring.Steps 1, wide.low 1, wide.room 1, wide.letter 0, wide.pile 0",
		"fields of a struct, wire formats apart wide.pile 3, wide.room 3, wide.floor 2, wide.low 1, ring.Steps 0",
		"arrows back up between the files of a package ring 1, helpertest 0, wide 0, 1 of 3 in all",
		"rooms, in % 2.07, at most 3, goal 1",
		"doors 2, at most 4",
		"lines of wide 37 lines of ring 31",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", out.String(), want)
		}
	}
}

// TestLimits: a thing that is over a limit is named, with its parts.
func TestLimits(t *testing.T) {
	f := measurePlanted(t)
	if err := (limit{file: bound{most: 37}, methods: bound{most: 2}, fields: bound{most: 3}, up: bound{most: 1}}).check(f); err != nil {
		t.Errorf("got %v, want no broken limit", err)
	}
	err := limit{
		file:    bound{most: 16, what: "lines", named: map[string]exception{"wide/wide.go": {37, "a reason"}}},
		methods: bound{most: 1, what: "methods", advice: "split it"},
		fields:  bound{most: 3, what: "fields", named: map[string]exception{"wide.pile": {2, "tighter"}, "wide.gone": {9, "a reason"}}},
		up:      bound{what: "arrows"},
	}.check(f)
	if err == nil {
		t.Fatal("got no broken limit")
	}
	want := []string{
		"ring/low.go has 23 lines, at most 16",
		"wide.floor has 2 methods, at most 1 are allowed: split it (0 of its own)", "ring.low has 2 methods",
		"wide.pile has 3 fields, at most 2",
		"an exception for the fields of wide.gone, which is missing",
		"ring has 1 arrows, at most 0", " -> ",
	}
	for _, want := range want {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if n := strings.Count(err.Error(), "at most"); n != 5 {
		t.Errorf("got %v, with %d limits, want 5", err, n)
	}
}

func TestGauges(t *testing.T) {
	gauges := limit{mixed: goal{want: 100}, participles: goal{want: 1}, oneWord: goal{want: 50, today: 100}}.gauges(measurePlanted(t))
	var got []string
	for _, g := range gauges {
		got = append(got, g.name+": "+g.String())
	}
	want := []string{
		"conditions that mix && and || per 1,000 lines: 0, at most 100",
		"lines over 180 columns: 0, at most 0",
		"functions named by a participle alone, in %: 0, at most 1",
		"functions named by one word, in %: 100, at most 100, goal 50",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := checkAll(gauges); err != nil {
		t.Errorf("got %v, want no broken limit", err)
	}
	gauges[1].value++
	if err := checkAll(gauges); err == nil || err.Error() != "lines over 180 columns: 1, at most 0" {
		t.Errorf("got %v, want the long line", err)
	}
}

func TestWingOf(t *testing.T) {
	for pkg, want := range map[string]string{"internal/engine/internal/words": "engine", "internal/web": "web", "sdk/vfs": "sdk", "docs": "docs"} {
		if got := wingOf(pkg); got != want {
			t.Errorf("%s: got %s, want %s", pkg, got, want)
		}
	}
	for pkg, want := range map[string]bool{"internal/store/storetest": true, ".ci/house": true, "internal/testkit/scratch": true, "internal/store": false} {
		if isSupport(pkg) != want {
			t.Errorf("%s: got %t, want %t", pkg, !want, want)
		}
	}
}

func TestLines(t *testing.T) {
	var f figures
	f.lines("a/a.go", []byte("// é\n\t"+strings.Repeat("é", 117)+"\n"+strings.Repeat("x", 180)+"\n"+strings.Repeat("x", 181)+"\n"))
	f.lines("helptest/a.go", []byte(strings.Repeat("x", 200)+"\n"))
	f.lines("a/a_test.go", []byte(strings.Repeat("x", 200)+"\n"))
	if f.production != 4 || f.support != 1 || f.test != 1 || f.comments != 1 || f.wide != 3 || f.long != 1 {
		t.Errorf("got %+v", f)
	}
}

func TestMixedIn(t *testing.T) {
	for condition, want := range map[string]int{
		"a && b || c":                       0,
		"a && b && c && d":                  0,
		"a && (b || c || d)":                1,
		"a || !(b && c) || d":               1,
		"f(a && b || c && d) || e":          1,
		"f(a && b) || c || d":               0,
		"(a && b || c && d) == (e || f)":    1,
		"func() bool { return a && b }()":   0,
		"len(x) > 0 && x[0] == y || z && w": 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nvar x = "+condition, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := mixedIn(file); got != want {
			t.Errorf("%s: got %d, want %d", condition, got, want)
		}
	}
}

func TestParticiple(t *testing.T) {
	for name, want := range map[string]bool{
		"named": true, "unpriced": true, "given": true, "became": true, "unread": false, "unseen": true,
		"addResolved": false, "isInstalled": false, "feed": false, "need": false, "open": false, "read": false, "put": false, "len": false,
	} {
		if got := participle(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// TestSyntax counts the unexported functions, methods among them.
func TestSyntax(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", "package p\ntype t int\nfunc (t) named() {}\nfunc found() {}\nfunc find() {}\nfunc findAll() {}\nfunc Found() {}\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	var f figures
	f.syntax(set, file)
	if f.unexported != 4 || f.participles != 2 || f.oneWord != 3 {
		t.Errorf("got %d participles and %d words of %d, want 2 and 3 of 4", f.participles, f.oneWord, f.unexported)
	}
}

// TestUpward: a chain has no arrow back up, two circles over one file have one each.
func TestUpward(t *testing.T) {
	chain := arrows{}
	chain.add("c", "b")
	chain.add("b", "a")
	chain.add("c", "a")
	if up := chain.upward(); len(up) != 0 {
		t.Errorf("got %v, want no arrow back up", up)
	}
	chain.add("a", "c")
	if up := chain.upward(); strings.Join(up, ", ") != "a -> c" {
		t.Errorf("got %v, want the one that closes the circles", up)
	}
	two := arrows{}
	for _, pair := range []string{"ab", "bc", "ca", "cd", "de", "ec"} {
		two.add(pair[:1], pair[1:])
	}
	if up := two.upward(); len(up) != 2 {
		t.Errorf("got %v, want one of each circle", up)
	}
}
