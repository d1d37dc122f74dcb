package reach_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// BenchmarkFind looks for the project that the host has open, and for one that is the last of
// a thousand known ones.
func BenchmarkFind(b *testing.B) {
	top, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var known []reach.Place
	for n := range 1000 {
		known = append(known, reach.Place{Folder: filepath.Join(top, fmt.Sprint("gone", n)), By: reach.Known, Real: true})
	}
	o := reach.Options{Rules: reach.NewRules([]string{filepath.Join(top, "home")}, nil), Remembered: func() []reach.Place { return append(known, reach.Place{Folder: top, Real: true}) }}
	for name, opened := range map[string][]reach.Place{"open": {{Folder: filepath.Join(top, "project")}}, "known": nil} {
		if name == "known" {
			o.Rules = reach.NewRules([]string{"/home/nobody"}, nil)
		}
		o.Opened = opened
		r := reach.New(o)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Find(filepath.Join(top, "project")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
