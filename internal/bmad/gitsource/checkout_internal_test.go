package gitsource

import (
	"fmt"
	"strings"
	"testing"
)

// TestCensus counts to the bounds, however the list comes in pieces.
func TestCensus(t *testing.T) {
	one := func(size string) string {
		return "100644 blob 0123456789012345678901234567890123456789 " + size + "\ta\tfile\n of some name\x00"
	}
	for name, c := range map[string]struct {
		list  string
		files int
		bytes int64
		over  bool
	}{
		"nothing":      {"", 0, 0, false},
		"a submodule":  {one("      -") + one("      7"), 2, 7, false},
		"the most":     {strings.Repeat(one("      7"), MaxFiles), MaxFiles, 7 * MaxFiles, false},
		"one more":     {strings.Repeat(one("      7"), MaxFiles+1), MaxFiles + 1, 7*MaxFiles + 7, true},
		"the largest":  {one("5") + one(fmt.Sprint(MaxBytes-5)), 2, MaxBytes, false},
		"a byte more":  {one("6") + one(fmt.Sprint(MaxBytes-5)), 2, MaxBytes + 1, true},
		"not the end":  {one("6") + strings.TrimSuffix(one("7"), "\x00"), 1, 6, false},
		"no list":      {strings.Repeat("x", maxAnswer+1), 0, 0, true},
		"no such size": {one("many"), 1, 0, false},
	} {
		for _, piece := range []int{1, 7, 4096, 1 << 20} {
			if piece < 10 && len(c.list) > 1000 {
				continue
			}
			n := &treeCounter{}
			var err error
			for rest := c.list; rest != "" && err == nil; rest = rest[min(piece, len(rest)):] {
				_, err = n.Write([]byte(rest[:min(piece, len(rest))]))
			}
			if n.files != c.files || n.bytes != c.bytes || (err != nil) != c.over {
				t.Errorf("%s in pieces of %d: %d files, %d bytes, %v", name, piece, n.files, n.bytes, err)
			}
		}
	}
}
