package internal_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// rooms maps the last parts of each package's folder to the folders that end so, relative to this one:
// "filestore" and "store/filestore" are both "store/filestore", "provider" is "../sdk/provider".
var rooms = sync.OnceValues(func() (map[string][]string, error) {
	out := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil || !d.IsDir() || len(files) == 0 {
			return err
		}
		folder, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		parts := strings.Split(filepath.ToSlash(folder), "/")
		for i := range parts {
			name := strings.Join(parts[i:], "/")
			out[name] = append(out[name], path)
		}
		return nil
	})
	return out, err
})

// findRoom returns the folder of the package that a paper names by the last parts of its path, "" if there is
// none. Of several the one nearest to the top is meant: "method" is the wing and not cli/cmd/method.
func findRoom(t *testing.T, name string) string {
	t.Helper()
	all, err := rooms()
	if err != nil {
		t.Fatal(err)
	}
	if len(all[name]) == 0 {
		return ""
	}
	return slices.MinFunc(all[name], func(a, b string) int { return len(a) - len(b) })
}

func TestRoomsAreFound(t *testing.T) {
	for name, want := range map[string]string{
		"workflow":        "../internal/workflow",
		"filestore":       "../internal/store/filestore",
		"store/filestore": "../internal/store/filestore",
		"sdk/vfs":         "../sdk/vfs",
		"internal/store":  "../internal/store",
		"method":          "../internal/method",
		"nothing":         "",
	} {
		if got := filepath.ToSlash(findRoom(t, name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
