package transfer

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestContinues checks which of two states of a session may take the place of the other.
func TestContinues(t *testing.T) {
	t.Parallel()
	session := func(revision int, by ...string) *workflow.Session {
		s := &workflow.Session{Revision: revision}
		for _, who := range by {
			s.History = append(s.History, workflow.Transition{By: who})
		}
		return s
	}
	for name, tt := range map[string]struct {
		s, other *workflow.Session
		want     bool
	}{
		"goes on":                    {session(3, "a", "b"), session(2, "a"), true},
		"goes on without an entry":   {session(3, "a"), session(2, "a"), true},
		"is the same":                {session(2, "a"), session(2, "a"), false},
		"is longer, of one revision": {session(2, "a", "b"), session(2, "a"), false},
		"is older":                   {session(2, "a", "b"), session(3, "a"), false},
		"is shorter":                 {session(3, "a"), session(2, "a", "b"), false},
		"went another way":           {session(3, "a", "c", "d"), session(2, "a", "b"), false},
	} {
		if got := isContinuationOf(tt.s, tt.other); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestEntries checks the limits of an archive: of its entries before they are read, of their names, and its manifest.
func TestEntries(t *testing.T) {
	t.Parallel()
	const id = "11111111-2222-4333-8444-555555555555"
	claimed := func(name string, size int64) string { // an entry of that size, of which nothing comes
		var b bytes.Buffer
		if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Size: size, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, err := readEntries(&b, int64(b.Len()), func(store.Parcel) error { return nil })
		return err.Error()
	}
	const cut, other = "it is cut off", "is not what an export has there, or was changed"
	for name, tt := range map[string]struct {
		size int64
		want string
	}{
		"a.md":       {durable.MaxText + 1, other},
		"b.md":       {1, cut},
		manifestName: {maxManifest + 1, other},
	} {
		if got := claimed(name, tt.size); !strings.Contains(got, tt.want) {
			t.Errorf("%s of %d bytes: %s, want %s", name, tt.size, got, tt.want)
		}
	}
	folder := store.ContentFolder(id) + "/"
	for name, want := range map[string]bool{
		folder + "a.md": true, folder + strings.Repeat("a", 255): true, folder + strings.Repeat("a", 256): false, folder: false, folder + "a/b": false, folder + "..": false,
		folder + `a\b`: false, folder + "a:b": false, folder + "a\x00": false, folder + "a\nb": false, folder + "\x1b[2J": false, folder + "\u202ea": false, folder + ".DS_Store": true, folder + ".": false, folder + "...": false, store.ContentFolder("other") + "/a.md": false, "a.md": false,
	} {
		if got := store.IsText(id, name); got != want {
			t.Errorf("%q is a text: %v", name, got)
		}
	}
	for name, want := range map[string]bool{
		store.SessionPath(id): true, store.SessionPath(strings.ToUpper(id)): true, store.SessionPath("x"): false, strings.TrimSuffix(store.SessionPath(id), "json"): false, "x/" + store.SessionPath(id): false,
		store.SessionPath("AAAAAAAA-2222-4333-8444-555555555555"): false,
	} {
		if _, got := sessionIn(name); got != want {
			t.Errorf("%q is a session: %v", name, got)
		}
	}
	files := []file{{"a", 1, "x"}}
	for manifest, want := range map[string]bool{
		`{"version":1,"files":[{"path":"a","size":1,"sha256":"x"}]}`: true, `{"version":2,"files":[{"path":"a","size":1,"sha256":"x"}]}`: false, `{"files":[{"path":"a","size":1,"sha256":"x"}]}`: false,
		`{"version":1,"files":[]}`: false, `{"version":1,"files":[{"path":"a","size":1,"sha256":"y"}]}`: false, `{"version":1,"files":[{"path":"a","size":2,"sha256":"x"}]}`: false, `x`: false,
		`{"version":1,"files":[{"path":"a","size":1,"sha256":"x"},{}]}`: false, `{"version":1}`: false, `{"version":1,"files":null}`: false, `{"version":1,"files":{}}`: false,
		`{"version":1,"files":[{"path":"a","size":1,"sha256":"x"}]} {}`: false, `{"version":1,"files":[{"path":"a","size":1,"sha256":"x"}],"files":[{"path":"a","size":1,"sha256":"x"}]}`: false,
	} {
		if _, err := compareWithManifest([]byte(manifest), files); (err == nil) != want {
			t.Errorf("%s: %v", manifest, err)
		}
	}
}
