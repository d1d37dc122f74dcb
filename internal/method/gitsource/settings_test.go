package gitsource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// TestOtherProtocol has the person's settings send an address elsewhere, over a protocol
// that it does not name.
func TestOtherProtocol(t *testing.T) {
	r := newRepo(t)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "url.file://"+filepath.Dir(r.dir)+"/.insteadOf")
	t.Setenv("GIT_CONFIG_VALUE_0", "https://example.org/")
	t.Setenv("GIT_ALLOW_PROTOCOL", "file:https:ext")
	c, _ := newCache(t)
	_, _, err := c.Update(t.Context(), parseSpec(t, "git+https://example.org/remote.git"))
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "transport 'file' not allowed") || !strings.Contains(fault.From(err).Hint, "insteadOf") {
		t.Error(err)
	}
}

// TestCacheInRepository has the cache in a repository that is none of its business, as a
// home folder can be.
func TestCacheInRepository(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	around := filepath.Dir(c.Folder)
	git(t, "", "", "init", "--quiet", around)
	if err := os.WriteFile(filepath.Join(around, ".git", "config"), []byte("[core\nno settings"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := update(t, c, r.spec("")); got.Commit != r.at("main") {
		t.Errorf("%+v", got)
	}
}

// TestFolderOfTheOwner: copies of repositories that not everybody may read are in it.
func TestFolderOfTheOwner(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	update(t, c, r.spec(""))
	info, err := os.Stat(c.Folder)
	if err != nil {
		t.Fatal(err)
	}
	if perm := info.Mode().Perm(); filepath.Separator == '/' && perm != 0o700 {
		t.Errorf("others may do %s", perm)
	}
}
