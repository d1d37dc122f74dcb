package pattern

import (
	"strings"
	"testing"
)

func TestMatchPath(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"**/*.go", "a.go", true},
		{"**/*.go", "a/b/c.go", true},
		{"a/**/c.go", "a/c.go", true},
		{"a/**", "a/b/c.go", true},
		{"a/**", "ab/c.go", false},
		{"*.go", "a/b.go", false},
		{"a/?.go", "a/b.go", true},
		{"a/[bc].go", "a/c.go", true},
		{"a/[", "a/[", false},
		{"", "", true},
		{"", "a", false},
		{"**", "a/b", true},
	} {
		if got := MatchPath(c.glob, c.name); got != c.want {
			t.Errorf("MatchPath(%q, %q) = %v", c.glob, c.name, got)
		}
	}
	if MatchPath(strings.Repeat("**/a/", 50)+"b", strings.Repeat("a/", 500)+"c") { // it would take for ever, step by step
		t.Error("a glob with many stars matches")
	}
}
