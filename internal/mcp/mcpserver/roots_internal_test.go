package mcpserver

import (
	"path/filepath"
	"runtime"
	"testing"
)

// TestPlainPath reads the folder that a model names.
func TestPlainPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are not of Windows")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	for given, want := range map[string]string{
		"": "", "/a/b": "/a/b", "/a b/": "/a b/", "/a\n": "/a", "/a ": "/a ", "/a%20b": "/a%20b", " /a\n": "/a", `"/a"`: "/a", "'/a'": "/a", "`/a`": "/a", "<file:///a>": "/a",
		"file:///a%20b": "/a b", "file://localhost/a": "/a", "FILE:/a": "/a", "file://server/a": "file://server/a", "file:///C:/a": "file:///C:/a", "https://x/a": "https://x/a",
		"~": home, "~/a": filepath.Join(home, "a"), "~ann/a": "~ann/a", "$HOME/a": "$HOME/a", "a/b": "a/b", `C:\a`: `C:\a`,
	} {
		if got := plainPath(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
