//go:build unix

package git_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// TestHome has work trees of one repository, which are one home, and folders whose .git names the git directory of
// another, which are not: of these the repository knows nothing.
func TestHome(t *testing.T) {
	for name, c := range map[string]struct {
		prepare, folder, home string // the folder and its home, below the place
	}{
		"repository":          {folder: "project", home: "project/.git"},
		"folder inside":       {folder: "project/sub", home: "project/.git"},
		"by a link":           {prepare: "ln -s project link", folder: "link", home: "project/.git"},
		"work tree":           {prepare: "git -C project worktree add -q ../tree", folder: "tree", home: "project/.git"},
		"work tree in it":     {prepare: "git -C project worktree add -q .trees/one", folder: "project/.trees/one", home: "project/.git"},
		"of a bare one":       {prepare: "git clone -q --bare project bare; git -C bare worktree add -q ../tree", folder: "tree", home: "bare"},
		"moved work tree":     {prepare: "git -C project worktree add -q ../tree; git -C project worktree move ../tree ../new", folder: "new", home: "project/.git"},
		"git directory apart": {prepare: "git init -q --separate-git-dir=apart tree", folder: "tree", home: "tree"},
		"submodule":           {prepare: "git clone -q project one; git -C one submodule --quiet add ../project sub2", folder: "one/sub2", home: "one/sub2"},
		"in no repository":    {prepare: "mkdir alone", folder: "alone"},

		"file that names another": {prepare: `mkdir toy; echo "gitdir: $PWD/project/.git" >toy/.git`, folder: "toy", home: "toy"},
		"link to another":         {prepare: "mkdir toy; ln -s ../project/.git toy/.git", folder: "toy", home: "toy/.git"},
		"settings of another":     {prepare: `mkdir -p toy/.git; cp project/.git/HEAD toy/.git; echo "$PWD/project/.git" >toy/.git/commondir`, folder: "toy", home: "toy"},
		"settings of another, and back": {
			prepare: `mkdir -p toy/.git; cp project/.git/HEAD toy/.git; echo "$PWD/project/.git" >toy/.git/commondir; echo "$PWD/toy/.git" >toy/.git/gitdir`,
			folder:  "toy", home: "toy",
		},
		"work tree of another":  {prepare: `git -C project worktree add -q ../tree; mkdir toy; cp tree/.git toy/.git`, folder: "toy", home: "toy"},
		"link to a work tree's": {prepare: `git -C project worktree add -q ../tree; mkdir toy; ln -s ../tree/.git toy/.git`, folder: "toy", home: "toy"},
		"work trees of its own": {prepare: `mkdir -p toy/x/worktrees/y; cp project/.git/HEAD toy/x/worktrees/y; echo "$PWD/project/.git" >toy/x/worktrees/y/commondir
			echo "$PWD/toy/.git" >toy/x/worktrees/y/gitdir; echo "gitdir: x/worktrees/y" >toy/.git`, folder: "toy", home: "toy"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.sh(c.prepare)
			want := ""
			if c.home != "" {
				want = filepath.Join(p.root, c.home)
			}
			if got, err := git.OriginOf(context.Background(), filepath.Join(p.root, c.folder)); err != nil || got.Home != want {
				t.Errorf("got %q, %v, want %q", got.Home, err, want)
			}
		})
	}
}
