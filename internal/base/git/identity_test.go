package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// TestIdentity checks whom git would name, by the settings of the person and of the repository.
func TestIdentity(t *testing.T) {
	for name, tt := range map[string]struct{ global, own, want string }{
		"nobody":           {"", "", ""},
		"a person":         {"[user]\n\tname = Ann Author\n\temail = ann@example.org\n", "", "Ann Author <ann@example.org>"},
		"without address":  {"[user]\nname=Ann\n", "", "Ann"},
		"without name":     {"[user]\nemail=ann@example.org\n", "", ""},
		"of the checkout":  {"[user]\nname = Ann\nemail = ann@home.example\n", "[core]\n\tbare = false\n[user]\n\temail = ann@work.example\n", "Ann <ann@work.example>"},
		"other sections":   {"[User]\nName = Ann # me\n[alias]\nname = Eve\n[user \"x\"]\nname = Eve\n", "", "Ann"},
		"quoted":           {"[user]\nname = \"Ann; \\\"A\\\" #1\"\n", "", `Ann; "A" #1`},
		"control bytes":    {"[user]\nname = A\x1b[2Jn\n", "", "A\\u001b[2Jn"},
		"not a file of it": {"\x00\xff[user", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder, global := t.TempDir(), filepath.Join(t.TempDir(), "gitconfig")
			for file, text := range map[string]string{
				global: tt.global, filepath.Join(folder, ".git", "config"): tt.own, filepath.Join(folder, ".git", "HEAD"): "ref: refs/heads/main\n",
				filepath.Join(folder, ".git", "objects", "x"): "", filepath.Join(folder, ".git", "refs", "x"): "", filepath.Join(folder, "deep", "x"): "",
			} {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("GIT_CONFIG_GLOBAL", global)
			if got := git.Identity(filepath.Join(folder, "deep")); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
