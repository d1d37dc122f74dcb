package scratch

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Snapshot describes each file and folder below some folders: its mode, time and contents.
type Snapshot map[string]string

// Look takes a snapshot of folders, of which some may not exist.
func Look(t testing.TB, folders ...string) Snapshot {
	t.Helper()
	out := Snapshot{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if os.IsNotExist(err) {
					return nil
				}
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			var data []byte
			switch info.Mode().Type() {
			case 0:
				data, err = os.ReadFile(path) //nolint:gosec // of the test
			case fs.ModeSymlink:
				var to string
				to, err = os.Readlink(path)
				data = []byte(to)
			}
			out[path] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime().UnixNano(), sha256.Sum256(data))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Changes names what differs in a later snapshot.
func (s Snapshot) Changes(later Snapshot) (out []string) {
	for path, was := range s {
		switch now, ok := later[path]; {
		case !ok:
			out = append(out, "removed: "+path)
		case now != was:
			out = append(out, "changed: "+path)
		}
	}
	for path := range later {
		if _, ok := s[path]; !ok {
			out = append(out, "new: "+path)
		}
	}
	slices.Sort(out)
	return out
}
