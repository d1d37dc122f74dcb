//go:build unix

package fleet_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/fleet"
)

// TestPublish offers a branch by programs that stand in for gh and glab.
func TestPublish(t *testing.T) {
	const (
		in  = `[ "$1 $2" = "auth status" ] && exit 0; `
		out = `[ "$1 $2" = "auth status" ] && exit 1; `
	)
	for name, c := range map[string]struct {
		gh, glab      string // scripts; "" for none
		remote        bool
		want, called  string // of the answer, and of the calls
		branch, title string // "" for those of every row
	}{
		"no forge":          {remote: true, want: "was pushed; to offer it for review: gh pr create --head bmad/todo"},
		"no remote":         {gh: in, want: "What to do: git push -u origin bmad/todo && gh pr create --head bmad/todo"},
		"a branch to quote": {remote: true, branch: "bmad/to'do&x", want: `to offer it for review: gh pr create --head 'bmad/to'\''do&x'`},
		"a long title": {gh: in + `test ${#5} -lt 256 || exit 1; echo https://example.com/pull/1`, remote: true, title: "\n" + strings.Repeat("long ", 60) + "\nmore",
			want: "https://example.com/pull/1", called: "long long… --body"},
		"gh": {gh: in + `echo a warning >&2; echo https://example.com/pull/1`, remote: true,
			want: "offered for review: https://example.com/pull/1", called: "gh pr create --head bmad/todo --title -rf $(touch x) --body two"},
		"glab": {gh: out, glab: in + `echo https://example.com/mr/1`, remote: true,
			want: "offered for review: https://example.com/mr/1", called: "glab mr create --source-branch bmad/todo"},
		"for another server": {gh: in + `echo none of the remotes is known; exit 1`, glab: in + `echo https://example.com/mr/1`, remote: true,
			want: "offered for review: https://example.com/mr/1", called: "glab mr create --source-branch bmad/todo"},
		"both failing": {gh: in + `echo no rights; exit 1`, glab: in + `echo none of the remotes is known; exit 1`, remote: true,
			want: "gh opened no request: no rights. What to do: gh pr create --head bmad/todo"},
		"glab failing":   {gh: out, glab: in + `echo no rights; exit 1`, remote: true, want: "What to do: glab mr create --source-branch bmad/todo"},
		"logged out":     {gh: out, glab: out, remote: true, want: "to offer it for review: "},
		"failing":        {gh: in + `echo there is one already; exit 1`, remote: true, want: "gh opened no request: there is one already"},
		"hostile":        {gh: in + `printf 'x\n\033]0;title\007\033[2Jhttps://example.com/pull/1'`, remote: true, want: "https://example.com/pull/1"},
		"endless":        {gh: in + `yes long | head -c 3000000; echo; echo https://example.com/pull/1`, remote: true, want: "offered for review: https://example.com/pull/1"},
		"one long line":  {gh: in + `yes long | head -c 300000 | tr -d '\n'`, remote: true, want: "…"},
		"leaves a child": {gh: in + `sleep 600 & echo https://example.com/pull/1`, remote: true, want: "https://example.com/pull/1"},
		"says nothing":   {gh: in + "true", remote: true, want: "offered for review"},
	} {
		t.Run(name, func(t *testing.T) {
			s, branch, title := newSite(t), cmp.Or(c.branch, "bmad/todo"), cmp.Or(c.title, "-rf $(touch x)\nmore")
			bare, bin := filepath.Join(t.TempDir(), "remote.git"), t.TempDir()
			if c.remote {
				s.git(s.dir, "init", "-q", "--bare", bare)
				s.git(s.dir, "remote", "add", "origin", bare)
			}
			for program, script := range map[string]string{"gh": c.gh, "glab": c.glab} {
				if script == "" {
					script = "exit 1 #" // an installed one must not be called
				}
				text := "#!/bin/sh\necho " + program + ` "$@" >>` + bin + "/calls\n" + script + "\n"
				if err := os.WriteFile(filepath.Join(bin, program), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			said := fleet.Publish(t.Context(), fleet.Proposal{
				Folder: s.dir, Branch: branch, Commit: s.git(s.dir, "rev-parse", "HEAD"), Title: title, Body: "two\nlines", Environ: os.Environ(),
			}).In(lang.English)
			if !strings.Contains(said, c.want) || strings.ContainsAny(said, "\x1b\x07\n") || len(said) > 2000 {
				t.Errorf("it says %q, want %q", said, c.want)
			}
			calls, _ := os.ReadFile(filepath.Join(bin, "calls"))
			if !strings.Contains(strings.ReplaceAll(string(calls), "\n", " "), c.called) {
				t.Errorf("the calls are %s", calls)
			}
			if c.remote {
				if err := exec.Command("git", "-C", bare, "rev-parse", "--verify", "-q", branch).Run(); err != nil {
					t.Errorf("the branch is not there: %v", err)
				}
			}
		})
	}
}

// TestPublishOverOthers keeps the work of others on the remote.
func TestPublishOverOthers(t *testing.T) {
	s := newSite(t)
	bare := filepath.Join(t.TempDir(), "remote.git")
	s.git(s.dir, "clone", "-q", "--bare", s.dir, bare)
	s.git(s.dir, "remote", "add", "origin", bare)
	other := filepath.Join(t.TempDir(), "other")
	s.git(s.dir, "clone", "-q", bare, other)
	s.git(other, "switch", "-q", "-c", "bmad/todo")
	s.git(other, "commit", "-q", "--allow-empty", "-m", "theirs")
	s.git(other, "push", "-q", "origin", "bmad/todo")
	theirs := s.git(other, "rev-parse", "HEAD")
	said := fleet.Publish(t.Context(), fleet.Proposal{Folder: s.dir, Branch: "bmad/todo", Commit: s.git(s.dir, "rev-parse", "HEAD"), Environ: os.Environ()}).In(lang.English)
	if !strings.Contains(said, theirs) || s.git(bare, "rev-parse", "bmad/todo") != theirs {
		t.Errorf("it says %q", said)
	}
}
