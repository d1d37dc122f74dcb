package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// TestIdentity checks whom git would name, by the settings of the person and of the repository. ROOT in them is a folder
// with the repository and a file called more.
func TestIdentity(t *testing.T) {
	more := "[user]\n\temail = ann@work.example\n"
	ann := "[user]\n\tname = Ann\n\temail = ann@home.example\n"
	for name, tt := range map[string]struct{ global, own, want string }{
		"nobody":           {"", "", ""},
		"included":         {ann + "[include]\n\tpath = ROOT/more\n", "", "Ann <ann@work.example>"},
		"on a condition":   {ann + "[IncludeIf \"gitdir:ROOT/\"]\n\tpath = ROOT/more\n", "", "Ann <ann@work.example>"},
		"on another":       {ann + "[includeIf \"gitdir:ROOT/other/\"]\n\tpath = ROOT/more\n", "", "Ann <ann@home.example>"},
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
			if _, err := exec.LookPath("git"); err != nil && strings.Contains(tt.global, "ROOT") {
				t.Skip("SKIPPED: needs git")
			}
			for file, text := range map[string]string{
				global: strings.ReplaceAll(tt.global, "ROOT", filepath.ToSlash(folder)), filepath.Join(folder, "more"): more,
				filepath.Join(folder, ".git", "config"): tt.own, filepath.Join(folder, ".git", "HEAD"): "ref: refs/heads/main\n",
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
	t.Run("of the machine", func(t *testing.T) {
		if _, err := exec.LookPath("git"); err != nil {
			t.Skip("SKIPPED: needs git")
		}
		system := filepath.Join(t.TempDir(), "gitconfig")
		if err := os.WriteFile(system, []byte(ann), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
		t.Setenv("GIT_CONFIG_NOSYSTEM", "0")
		t.Setenv("GIT_CONFIG_SYSTEM", system)
		if got := git.Identity(t.TempDir()); got != "Ann <ann@home.example>" {
			t.Errorf("got %q", got)
		}
	})
}
