package project_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// TestTree compares the files of a project without git with those before.
func TestTree(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(w *world)
		before func(before string) string
		want   string
	}{
		"nothing":        {func(*world) {}, nil, "same"},
		"touched":        {func(w *world) { _ = os.Chtimes(w.at("p/a.go"), time.Unix(1, 0), time.Unix(1, 0)) }, nil, "same"},
		"the same again": {func(w *world) { _ = os.Remove(w.at("p/a.go")); w.write("p/a.go", "a") }, nil, "same"},
		"its content":    {func(w *world) { w.write("p/a.go", "b") }, nil, "changed"},
		"its name":       {func(w *world) { _ = os.Rename(w.at("p/a.go"), w.at("p/c.go")) }, nil, "changed"},
		"two names": {func(w *world) {
			_ = os.Rename(w.at("p/a.go"), w.at("p/c.go"))
			_ = os.Rename(w.at("p/b.go"), w.at("p/a.go"))
		}, nil, "changed"},
		"a hidden file":      {func(w *world) { w.write("p/.eslintrc", "{}") }, nil, "changed"},
		"a link for a file":  {func(w *world) { _ = os.Remove(w.at("p/a.go")); w.link("p/b.go", "p/a.go") }, nil, "changed"},
		"a folder left out":  {func(w *world) { w.write("p/out/a", "b"); w.write("p/own/a/b", "c"); w.write("p/own.md", "d") }, nil, "same"},
		"a document":         {func(w *world) { w.write("p/report.md", "done") }, nil, "same"},
		"document and work":  {func(w *world) { w.write("p/report.md", "done"); w.write("p/c.go", "c") }, nil, "changed"},
		"by another program": {func(*world) {}, func(string) string { return "blake:00ff" }, "unknown"},
		"half of it":         {func(*world) {}, func(before string) string { return before[:40] }, "unknown"},
		"no number":          {func(*world) {}, func(string) string { return "files:xyz" }, "unknown"},
		"nothing recorded":   {func(*world) {}, func(string) string { return "" }, "unknown"},
		"once by git":        {func(*world) {}, func(before string) string { return "git:" + before[len("files:"):][:64] }, "unknown"},
		"sizes, the same":    {func(*world) {}, func(before string) string { return "sizes:" + before[len("files:"):][:64] }, "unknown"},
		"sizes, changed":     {func(w *world) { w.write("p/a.go", "longer") }, func(before string) string { return "sizes:" + before[len("files:"):][:64] }, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("p/a.go", "a")
			w.write("p/b.go", "b")
			p, err := w.finder(project.Options{}).Open(w.at("p"))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			leave, documents := []string{"own/", "own.md"}, []string{"report.md", "gone.md"}
			first, err := p.ReadTree(t.Context(), "", leave, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := first.String()
			tt.change(w)
			if tt.before != nil {
				before = tt.before(before)
			}
			now, err := p.ReadTree(t.Context(), before, leave, documents)
			if err != nil {
				t.Fatal(err)
			}
			got := "unknown"
			if same, known := now.Same(before); known {
				got = map[bool]string{true: "same", false: "changed"}[same]
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestTreeOfMuch checks that a project with too much to read counts by sizes, which show a change but not that there is
// none; and that a call that was given up says so.
func TestTreeOfMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p/large", "")
	if err := os.Truncate(w.at("p/large"), 1<<30+1); err != nil { // without a block on the disk
		t.Skip(err)
	}
	p, err := w.finder(project.Options{}).Open(w.at("p"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first, err := p.ReadTree(t.Context(), "", nil, nil)
	if err != nil || !strings.HasPrefix(first.String(), "sizes:") {
		t.Fatalf("got %v, %v", first, err)
	}
	if _, known := first.Same(first.String()); known {
		t.Error("sizes show that nothing has changed")
	}
	w.write("p/new.txt", "")
	now, err := p.ReadTree(t.Context(), first.String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if same, known := now.Same(first.String()); same || !known {
		t.Errorf("a new file: same %v, known %v", same, known)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ReadTree(ended, "", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}
