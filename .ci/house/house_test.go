package main

import (
	"os"
	"path/filepath"
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

func TestFigures(t *testing.T) {
	f, err := measure(plant(t))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := f.print(&out); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"production / test lines 25 / 1 (0.04)",
		"file lines, median / p90 / max 5 / 5 / 17 (ring/low.go)",
		"function lines, median / p90 / p95 / max 1 / 1 / 1 / 10 (low.go:Bare)",
		"cyclomatic complexity, median / p95 / max 1 / 1 / 5 (low.go:Bare)",
		"parameters, median / p95 / max 0 / 0 / 3 (low.go:Bare)",
		"nesting, median / p95 / max 0 / 0 / 2 (low.go:Bare)",
		"exported names with a comment 1 of 2",
		"comment lines 8 %",
		"types with the most methods ring.low 2",
		"arrows in ring 3, 1 back up",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", out.String(), want)
		}
	}
}

func TestBrokenLimits(t *testing.T) {
	f, err := measure(plant(t))
	if err != nil {
		t.Fatal(err)
	}
	kept := limit{file: 17, methods: 1, wider: map[string]int{"ring.low": 2}, up: map[string]int{"ring": 1}}
	if err := kept.check(f); err != nil {
		t.Errorf("got %v, want no broken limit", err)
	}
	err = limit{file: 16, methods: 1, up: map[string]int{"ring": 0, "gone": 0}}.check(f)
	for _, want := range []string{"ring/low.go has 17 lines", "ring.low has 2 methods", "ring has 1 arrows back up", " -> ", "package gone"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
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
