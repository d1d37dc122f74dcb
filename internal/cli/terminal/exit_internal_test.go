package terminal

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// TestExitCodes: the page of the exit codes has each code with which the program ends, in both languages.
func TestExitCodes(t *testing.T) {
	want := append(slices.Collect(maps.Values(exitCodes)), 0, ExitStorage)
	for _, end := range []*Exit{ErrReported, ErrUnvouched, ErrPending, ErrSpent, ErrEngine, ErrCancelled, ErrLost, ErrQueued, ErrStopped} {
		want = append(want, end.Code)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	for _, page := range []string{"exit-codes.md", "exit-codes.zh.md"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(string(data), -1) {
			code, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, code)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the codes %v, want %v", page, got, want)
		}
	}
}
