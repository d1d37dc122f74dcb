package project

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// The worktrees of runs lie beside the repository, where neither git nor an engine at work in the main tree sees them. A
// worktree of a worker is a project by itself on the shared store, as every worktree there; the others have their sessions
// and records in the main tree.
const (
	worktreesSuffix = ".worktrees"
	leasesSuffix    = ".leases"
)

// Worktree returns the folder for the worktree of a task's run: of the project in it, and its top. It is "" outside of a
// repository.
func (p *Project) Worktree(task string) (folder, top string) { return WorktreeIn(p.Home.Path(), task) }

// WorktreeIn is [Project.Worktree] for the folder with the sessions of a project.
func WorktreeIn(home, task string) (folder, top string) {
	all, inside := worktreesOf(home)
	if all == "" || task == "" {
		return "", ""
	}
	top = filepath.Join(all, task)
	return filepath.Join(top, inside), top
}

// worktreesOf returns the folder above the worktrees of the runs of a project, "" outside of a repository, and the path of the
// project in each.
func worktreesOf(home string) (all, inside string) {
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		return "", ""
	}
	repository := Top(real)
	if !hasAny(repository, ".git") {
		return "", ""
	}
	if inside, err = filepath.Rel(repository, real); err != nil {
		return "", ""
	}
	return repository + worktreesSuffix, inside
}

// HasBranch reports whether the branch or the worktree of a task's run exists.
func (p *Project) HasBranch(task string) bool {
	_, top := p.Worktree(task)
	commit, err := git.BranchCommit(p.Home.Path(), workflow.BranchFor(task))
	return commit != "" || err != nil || top != "" && hasAny(filepath.Dir(top), filepath.Base(top))
}

// MissingWorktree returns the top of the worktree of a session's run if it should be there and is not; "" for a run in the
// main tree, for one that has ended, and in a store that clones share, whose runs are worked on anywhere.
func (p *Project) MissingWorktree(s *workflow.Session) string {
	if s.Branch == "" || !s.CurrentState.Active() || p.IsShared() {
		return ""
	}
	folder, top := p.Worktree(s.TaskName)
	isThere := folder != "" && homeOf(folder) != ""
	if isThere || git.CheckedOut(p.Home.Path()) == s.Branch {
		return ""
	}
	return top
}

// LeaseFolder returns the top of the worktree in which a worker takes a run on, under the number of its lease.
func LeaseFolder(repository, task, number string) string {
	return filepath.Join(repository+leasesSuffix, task+"-"+number)
}

// kind is the kind of a folder's tree.
type kind string

// The kinds: outside of git, the tree of a repository, and a linked worktree.
const (
	plainTree  kind = ""
	mainTree   kind = "main"
	linkedTree kind = "linked"
)

// kindOf returns the kind of the tree in which a folder lies, by its path: each call opens a project, so that a look has to be
// cheap. A link into a folder of a worktree is a plain folder.
func kindOf(folder string) kind {
	info, err := os.Lstat(filepath.Join(Top(folder), ".git"))
	switch {
	case err != nil:
		return plainTree
	case info.IsDir():
		return mainTree
	}
	return linkedTree
}

// homeOf returns the folder of the main tree that has the sessions of the worktree of a run; "" for any other folder.
func homeOf(folder string) string {
	main, inside := mainTreeOf(folder, worktreesSuffix)
	if main == "" {
		return ""
	}
	return filepath.Join(main, inside)
}

// HomeOf returns the folder with the sessions of the project in a folder: that of the main tree for the worktree of a run,
// else the folder itself.
func HomeOf(folder string) string { return cmp.Or(homeOf(folder), folder) }

// mainTreeOf returns the main tree of a worktree of this program in which a folder lies, and the path of the folder in it;
// main is "" for any other folder.
func mainTreeOf(folder, suffix string) (main, inside string) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", ""
	}
	top := Top(real)
	if main = git.WorktreeOf(top); main == "" || filepath.Dir(top) != main+suffix {
		return "", ""
	}
	inside, err = filepath.Rel(top, real)
	if err != nil {
		return "", ""
	}
	return main, inside
}

// AtHome returns the project as its main tree has it, for everything that outlives the worktree of a run. It shares the open
// folders: p alone is closed.
func (p *Project) AtHome() *Project {
	if p.Home == nil || p.Home == p.Dir {
		return p
	}
	return &Project{
		Dir: p.Home, Home: p.Home, allowed: p.allowed, kind: p.kind, Backend: p.Backend, Texts: p.Texts, Config: p.Config, key: p.key,
		prompts: map[[2]string]prompts.Prompt{}, absent: map[string]bool{}, language: p.language,
	}
}

// isWorktreeOf reports whether the project lies in the worktree of a session's run.
func (p *Project) isWorktreeOf(s workflow.Summary) bool {
	if p.Home == p.Dir {
		return false
	}
	folder, _ := p.Worktree(s.TaskName)
	return folder == p.Dir.Path()
}

// AllowedAs returns the folder under which the person's permissions for the project are recorded: worktrees that this
// program has made count as the tree they are of.
func (p *Project) AllowedAs() string { return p.allowed }

// allowedAs is AllowedAs for a folder and its home.
func allowedAs(dir, home *durable.Dir) string {
	if main, inside := mainTreeOf(dir.Path(), leasesSuffix); main != "" {
		return filepath.Join(main, inside)
	}
	return home.Path()
}

// openNamed opens the folder by which the project in an open folder is known in a shared store, mostly that folder itself: the
// worktree of a lease is the project of the clone that it is of, also without a remote.
func openNamed(dir *durable.Dir) (*durable.Dir, error) {
	main, inside := mainTreeOf(dir.Path(), leasesSuffix)
	if main == "" {
		return dir, nil
	}
	return durable.OpenDir(filepath.Join(main, inside))
}

// openHome opens the folder with the sessions of the project in an open folder, mostly that folder itself.
func (f *Finder) openHome(dir *durable.Dir) (*durable.Dir, error) {
	home := homeOf(dir.Path())
	if home == "" {
		return dir, nil
	}
	return f.openDir(home) // the link between the two is mutual, so that who may use one may use the other
}

// Follow returns the project in the worktree of a session's run in place of p, which it closes then; or p itself for a
// session without one, and for one whose worktree is not here.
func (f *Finder) Follow(p *Project, s *workflow.Session) (*Project, error) {
	if s.Branch == "" || p.Home == nil {
		return p, nil
	}
	folder, _ := p.Worktree(s.TaskName)
	if folder == "" || folder == p.Dir.Path() || homeOf(folder) == "" {
		return p, nil
	}
	dir, err := f.openDir(folder)
	if err != nil {
		return p, nil //nolint:nilerr // it is gone, and the next look says so
	}
	there, err := f.read(dir)
	if err != nil {
		return p, err
	}
	there.Others = p.Others
	p.Close()
	return there, nil
}

// follow is Follow for the id of a session. Without a folder for worktrees there is nothing to follow, at no cost.
func (f *Finder) follow(ctx context.Context, p *Project, id string) (*Project, string, error) {
	if p.kind == plainTree {
		return p, id, nil
	}
	all, _ := worktreesOf(p.Home.Path())
	if all == "" || id == "" || !hasAny(filepath.Dir(all), filepath.Base(all)) {
		return p, id, nil
	}
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return p, id, nil //nolint:nilerr // the caller reads it too, and says what is wrong
	}
	there, err := f.Follow(p, s)
	return there, id, err
}
