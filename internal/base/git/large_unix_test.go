//go:build unix

package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// fakeLFS does what git lfs clean does: it keeps the contents where the settings say, and prints a pointer.
const fakeLFS = `#!/bin/sh
store=$(git config lfs.storage) || store=$GIT_DIR/lfs
cat >"$GIT_DIR/large"
oid=$(sha256sum <"$GIT_DIR/large" | cut -d' ' -f1)
at=$store/objects/$(echo $oid | cut -c1-2)/$(echo $oid | cut -c3-4)
mkdir -p "$at"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n' $oid $(wc -c <"$GIT_DIR/large")
mv "$GIT_DIR/large" "$at/$oid"
`

// TestLargeFiles commits a file of Git LFS in a linked work tree by a filter that does what the real one does, with a
// folder of the person's for the contents.
func TestLargeFiles(t *testing.T) {
	p := newRemote(t, "ssh://host/ROOT/remote.git")
	name := filepath.Join(p.root, "lfs")
	if err := os.WriteFile(name, []byte(fakeLFS), 0o700); err != nil {
		t.Fatal(err)
	}
	p.commitLargeFile(t, filepath.Join(p.root, "store"), "[lfs]\n\tstorage = "+p.root+"/store\n[filter \"lfs\"]\n\tclean = "+name+"\n\trequired = true\n")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	before := p.line(`git config filter.lfs.clean cat; echo '*.bin filter=lfs' >.gitattributes; echo x >y.bin; git rev-parse main`)
	hash, _, err := git.CommitFiles(t.Context(), p.project, git.Commit{Files: []string{".gitattributes", "y.bin"}, Message: "raw"})
	if !fault.Is(err, fault.NotAllowed) || !strings.Contains(fault.From(err).Hint, "git lfs install") || p.line("git rev-parse main") != before {
		t.Errorf("with a filter of the repository: %q, %v", hash, err)
	}
}

// TestRealLargeFiles commits one by Git LFS.
func TestRealLargeFiles(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("SKIPPED: needs Git LFS; apt-get install git-lfs")
	}
	p := newRemote(t, "ssh://host/ROOT/remote.git")
	p.commitLargeFile(t, ".git/lfs", "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n")
	if said := p.line("git lfs fsck --objects 2>&1"); said != "Git LFS fsck OK" {
		t.Errorf("git lfs fsck says %q", said)
	}
}

// commitLargeFile checks that the contents of a file of Git LFS stay in a folder, and that the commit is not pushed
// before they are on the remote.
func (p *place) commitLargeFile(t *testing.T, store, settings string) {
	t.Helper()
	global := filepath.Join(p.root, "gitconfig")
	if err := os.WriteFile(global, []byte(person+settings), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	p.line(`git commit -qam two; git push -q origin main; git worktree add -q -b task ../linked; cd ../linked
		echo '*.bin filter=lfs' >.gitattributes; echo precious >x.bin`)
	hash, _, err := git.CommitFiles(t.Context(), filepath.Join(p.root, "linked"), git.Commit{Files: []string{".gitattributes", "x.bin"}, Message: "large"})
	if err != nil {
		t.Fatal(err)
	}
	if pointer := p.line("git show " + hash + ":x.bin | head -1"); pointer != "version https://git-lfs.github.com/spec/v1" {
		t.Errorf("the commit has %q", pointer)
	}
	p.line("git worktree remove -f ../linked")
	if kept := p.line("cat $(find " + store + "/objects -type f)"); kept != "precious" {
		t.Errorf("the contents are %q", kept)
	}
	push := func() error { return git.Push(t.Context(), p.project, "task", hash, "") }
	if err := push(); !fault.Is(err, fault.NotAllowed) || !strings.Contains(fault.From(err).Hint, "git push origin task") {
		t.Errorf("it is pushed without its contents: %v", err)
	}
	if got := p.line("git ls-remote origin task"); got != "" {
		t.Errorf("the remote has %q", got)
	}
	p.line("git update-ref refs/remotes/origin/other " + hash) // as after a push by hand
	if err := push(); err != nil {
		t.Errorf("with the contents on the remote: %v", err)
	}
}
