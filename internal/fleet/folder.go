package fleet

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// leaseBranches begins the names of the branches of worktrees of workers. The branch on the remote is another.
const leaseBranches = "bmad-lease/"

// name returns the name of the run in paths and branches: that of the task, unless somebody has written another text there.
func (l *lease) name() string {
	if artifact.IsName(l.claim.TaskName) {
		return l.claim.TaskName
	}
	return l.claim.SessionID
}

// enter makes the worktree of the lease, and returns the folder of the project in it. The worktree that the worker before has
// left on this machine is taken over, with the changes in it that are not committed, if nobody works in it any more.
func (l *lease) enter(ctx context.Context, clone Clone) (string, error) {
	main := project.Top(clone.Folder)
	inside, err := filepath.Rel(main, clone.Folder)
	if err != nil {
		return "", err
	}
	no := strconv.FormatInt(l.Number(), 10)
	l.folder, l.branch = project.LeaseFolder(main, l.name(), no), leaseBranches+l.name()+"-"+no
	before := project.LeaseFolder(main, l.name(), strconv.FormatInt(l.Number()-1, 10))
	branch := git.CheckedOut(before)
	switch {
	case branch == "" || !isLeft(filepath.Join(before, inside), l.claim.SessionID):
		l.fresh = true
		err = l.fill(ctx, main)
	default:
		l.branch = branch
		err = git.MoveWorktree(ctx, main, before, l.folder)
	}
	return filepath.Join(l.folder, inside), err
}

// isLeft reports whether a run was worked on in a folder, and no process does so now.
func isLeft(folder, sessionID string) bool {
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	ran, err := headless.Ran(dir)
	if err != nil || !slices.Contains(ran, sessionID) {
		return false
	}
	busy, err := headless.AtWork(dir)
	return err == nil && !slices.Contains(busy, sessionID)
}

// fill makes the worktree from the commits in the store, and from the clone.
func (l *lease) fill(ctx context.Context, main string) error {
	c := l.claim
	has, err := git.HasCommit(ctx, main, c.Commit)
	if err == nil && !has {
		if err = git.Fetch(ctx, main, c.Commit, ""); err != nil {
			err = fault.New(fault.NotFound, "the clone %s has not the commit %s that the run begins from: %w", main, c.Commit, err).
				WithHint("push it: git push")
		}
	}
	head := cmp.Or(c.Head, c.Commit)
	if err == nil && c.Work != nil {
		head, err = git.Unbundle(ctx, main, c.Work)
	}
	if err == nil && c.Head != "" && head != c.Head {
		err = fault.New(fault.Storage, "the store says that the work of the run is at commit %s, and has %s", c.Head, head).
			WithHint("somebody has changed its row: bmad-mcp queue cancel, and start the run anew")
	}
	if err != nil {
		return err
	}
	return git.AddWorktree(ctx, main, l.folder, l.branch, head)
}

// leave removes the worktree of a run that was given back in order, if everything in it is committed.
func (w *Worker) leave(l *lease) {
	if l.folder == "" {
		return
	}
	ctx := context.Background()
	main := git.WorktreeOf(l.folder)
	if main == "" {
		return
	}
	if err := git.RemoveWorktree(ctx, main, l.folder); err == nil {
		_ = git.DeleteBranch(ctx, main, l.branch) // its commits are in the store
		_ = os.Remove(filepath.Dir(l.folder))     // if it is empty
	}
}

// push brings the work to the branch of the run on the remote, and returns the reason of the release with the outcome.
// The store has the work too, so that the run has not failed if a remote does not take it.
func (l *lease) push(ctx context.Context, s *workflow.Session, why string) string {
	if l.head == "" || l.head == l.claim.Commit {
		return why
	}
	err := pushWork(ctx, l.folder, workflow.BranchFor(s.TaskName), l.head)
	if err != nil {
		return join(why, "not pushed: "+words(err))
	}
	return why
}
