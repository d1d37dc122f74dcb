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

type letter struct {
	To, From string ` + "`" + `json:"to"` + "`" + `
	Text     string ` + "`" + `yaml:"text"` + "`" + `
	size     int
}
`,
	"helper/helper.go": "// Package helper is for tests.\npackage helper\n\nfunc named() bool { return true || true && (false || true) }\n",
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
	f, err := measure(plant(t), []string{"helper"})
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
		"lines of production 55",
		"lines of tests 1 (0.02), and of test support 4",
		"file lines, median / p90 / max 5 / 17 / 30 (wide/wide.go)",
		"function lines, median / p90 / p95 / max 1 / 1 / 1 / 10 (low.go:Bare)",
		"cyclomatic complexity, median / p95 / max 1 / 3 / 5 (low.go:Bare)",
		"parameters, median / p95 / max 1 / 2 / 3 (low.go:Bare)",
		"nesting, median / p95 / max 0 / 0 / 2 (low.go:Bare)",
		"exported names with a comment 1 of 2",
		"comment lines 5 %",
		"methods of a type wide.room 3, ring.low 2, wide.pile 1, wide.letter 0",
		"fields of a struct, wire formats apart wide.pile 3, wide.room 3, ring.low 0",
		"imports of a package, of this module wide 1, helper 0, ring 0",
		"arrows back up between the files of a package ring 1, helper 0, wide 0, 1 of 3 in all",
		"rooms, in % 2.07, at most 3, goal 1",
		"doors 2, at most 4",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", out.String(), want)
		}
	}
}

// TestLimits: a thing that is over a limit is named, with its parts.
func TestLimits(t *testing.T) {
	f := measurePlanted(t)
	if err := (limit{file: bound{most: 30}, methods: bound{most: 3}, fields: bound{most: 3}, imports: bound{most: 1}, up: bound{most: 1}}).check(f); err != nil {
		t.Errorf("got %v, want no broken limit", err)
	}
	err := limit{
		file:    bound{most: 16, what: "lines", named: map[string]exception{"wide/wide.go": {30, "a reason"}}},
		methods: bound{most: 2, what: "methods", advice: "split it"},
		fields:  bound{most: 3, what: "fields", named: map[string]exception{"wide.pile": {2, "tighter"}, "wide.gone": {9, "a reason"}}},
		imports: bound{what: "imports"},
		up:      bound{what: "arrows"},
	}.check(f)
	if err == nil {
		t.Fatal("got no broken limit")
	}
	want := []string{
		"ring/low.go has 17 lines, at most 16",
		"wide.room has 3 methods, at most 2 are allowed: split it (1 methods and 2 functions)",
		"wide.pile has 3 fields, at most 2",
		"an exception for the fields of wide.gone, which is missing",
		"wide has 1 imports, at most 0",
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
	rooms := []system{{"rings", goal{want: 10, today: 25}, []string{"ring"}}, {"rest", goal{want: 40}, []string{"wide"}}}
	gauges, err := limit{mixed: goal{want: 100}, long: goal{}, participles: goal{want: 1}, systems: rooms}.gauges(measurePlanted(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range gauges {
		got = append(got, g.name+": "+g.String())
	}
	want := []string{
		"conditions that mix && and || per 1,000 lines: 0, at most 100",
		"lines over 180 columns: 0, at most 0",
		"functions named by a participle alone, in %: 0, at most 1",
		"lines of rings: 25, at most 25, goal 10",
		"lines of rest: 30, at most 40",
		"lines of all systems: 55, at most 65, goal 50",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := checkAll(gauges); err != nil {
		t.Errorf("got %v, want no broken limit", err)
	}
	gauges[3].value++
	if err := checkAll(gauges); err == nil || err.Error() != "lines of rings: 26, at most 25, goal 10" {
		t.Errorf("got %v, want the lines of rings", err)
	}
}

// TestTally: every file belongs to one system, by its own name or by its package's.
func TestTally(t *testing.T) {
	rooms := []system{{name: "a", members: []string{"x", "y/one*.go"}}, {name: "b", members: []string{"y"}}, {name: "c", members: []string{"x", "z"}}}
	lines, err := tally(rooms, []sized{{name: "y/one_more.go", size: 1}, {name: "y/two.go", size: 2}, {name: "x/x.go", size: 4}, {name: "q/q.go", size: 8}})
	if len(lines) != 2 || lines["a"] != 1 || lines["b"] != 2 {
		t.Errorf("got %v, want one line of a and two of b", lines)
	}
	for _, want := range []string{"x/x.go belongs to 2 systems [a c]", "q/q.go belongs to 0 systems", "systems.go names z, which is missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestLines(t *testing.T) {
	f := &figures{apart: []string{"help"}}
	f.lines("a/a.go", []byte("// é\n\t"+strings.Repeat("é", 117)+"\n"+strings.Repeat("x", 180)+"\n"+strings.Repeat("x", 181)+"\n"))
	f.lines("help/a.go", []byte(strings.Repeat("x", 200)+"\n"))
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
	file, err := parser.ParseFile(set, "p.go", "package p\ntype t int\nfunc (t) named() {}\nfunc found() {}\nfunc find() {}\nfunc Found() {}\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	var f figures
	f.syntax(set, file)
	if f.unexported != 3 || f.participles != 2 {
		t.Errorf("got %d of %d, want 2 of 3", f.participles, f.unexported)
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
