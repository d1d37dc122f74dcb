package gitsource

import "testing"

// TestCensus counts the files in a list of git, and their bytes.
func TestCensus(t *testing.T) {
	one := func(size string) string {
		return "100644 blob 0123456789012345678901234567890123456789 " + size + "\ta\tfile\n of some name\x00"
	}
	for name, c := range map[string]struct {
		list  string
		files int
		bytes int64
	}{
		"nothing":      {"", 0, 0},
		"a submodule":  {one("      -") + one("      7"), 2, 7},
		"no list":      {"xyz", 0, 0},
		"no such size": {one("many"), 1, 0},
	} {
		if files, bytes := countFiles(c.list); files != c.files || bytes != c.bytes {
			t.Errorf("%s: %d files, %d bytes", name, files, bytes)
		}
	}
}
