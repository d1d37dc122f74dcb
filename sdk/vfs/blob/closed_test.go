package blob_test

import (
	"strings"
	"testing"

	vfsblob "github.com/bmad-mcp/bmad-mcp/sdk/vfs/blob"
	"gocloud.dev/gcerrors"
)

// TestClosedFiles: as in a folder, an agent writes nothing that programs obey, and does not see version control.
func TestClosedFiles(t *testing.T) {
	eachStore(t, func(t *testing.T, s store) {
		bucket := s.open(t)
		put(t, bucket, "in/.git/config", "kept")
		put(t, bucket, "in/.github/workflows/a.yml", "kept")
		fsys := newFS(t, bucket, vfsblob.Options{Prefix: "in", Condition: s.condition})
		for name, isHidden := range map[string]bool{
			"/.git/config": true, "/.GIT/config": true, "/x/.git": true, "/a/../.git/hooks/pre-commit": true, "/.git./config": true,
			"/.bmad-task/a.md": false, "/x/.Bmad-Task/a.md": false, "/.github/workflows/a.yml": false, "/.mcp.json": false, "/.husky/pre-commit": false,
		} {
			if err := fsys.Write(name, []byte("x")); err == nil {
				t.Errorf("%s is written", name)
			}
			if err := fsys.Mkdir(name); err == nil {
				t.Errorf("%s is made", name)
			}
			_, err := fsys.Read(name)
			_, statErr := fsys.Stat(name)
			_, listErr := fsys.List(name)
			for _, err := range []error{err, statErr, listErr} {
				if is := err != nil && strings.Contains(err.Error(), "belongs to version control"); is != isHidden {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		list, err := fsys.List("/")
		if err != nil || len(list) != 1 || list[0].Path != "/.github" {
			t.Errorf("%v, %v", list, err)
		}
		for _, key := range []string{"in/.git/config", "in/.github/workflows/a.yml"} {
			if text, err := bucket.ReadAll(t.Context(), key); err != nil || string(text) != "kept" {
				t.Errorf("%s: %q, %v", key, text, err)
			}
		}
		if _, err := bucket.Attributes(t.Context(), "in/.mcp.json"); gcerrors.Code(err) != gcerrors.NotFound {
			t.Error(err)
		}
		opened := newFS(t, bucket, vfsblob.Options{Prefix: "in", Condition: s.condition, Open: []string{".github/workflows"}})
		if err := opened.Write("/.github/workflows/b.yml", []byte("x")); err != nil {
			t.Error(err)
		}
		for _, fixed := range []string{".git", ".bmad-task", "nothing"} {
			if _, err := vfsblob.New(t.Context(), bucket, vfsblob.Options{Open: []string{fixed}}); err == nil {
				t.Errorf("%s is opened", fixed)
			}
		}
	})
}
