package fleet

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// leaseBranches begins the names of the branches of worktrees of workers. The branch on the remote is another.
const leaseBranches = "bmad-lease/"

// nameDigits is the number of digits of a session in the names of its worktrees.
const nameDigits = 8

// pathName returns the name of the run in paths and branches: that of the task, unless somebody has written another text there, with
// digits of the session: several projects of a repository can have a task of one name.
func (l *lease) pathName() string {
	id := l.claim.SessionID
	if artifact.IsName(l.claim.TaskName) {
		return l.claim.TaskName + "-" + id[:min(nameDigits, len(id))]
	}
	return id
}

// openWorktree makes the worktree of the lease, and returns the folder of the project in it. The worktree that the worker before has
// left on this machine is taken over, with the changes in it that are not committed, unless a process still works there.
func (l *lease) openWorktree(ctx context.Context, clone Clone) (string, error) {
	folder, err := filepath.EvalSymlinks(clone.Folder)
	if err != nil {
		return "", err
	}
	main := project.Top(folder)
	inside, err := filepath.Rel(main, folder)
	if err != nil {
		return "", err
	}
	no := strconv.FormatInt(l.Number(), 10)
	l.folder, l.branch = project.LeaseFolder(main, l.pathName(), no), leaseBranches+l.pathName()+"-"+no
	if all := filepath.Dir(l.folder); isLink(all) {
		return "", fault.New(fault.Conflict, "the folder for worktrees of workers is a link: %s", all).WithHint("see who has made it, and remove it")
	}
	before := project.LeaseFolder(main, l.pathName(), strconv.FormatInt(l.Number()-1, 10))
	branch := git.CheckedOut(before)
	switch {
	case !l.isOwnBranch(branch), git.WorktreeOf(before) != main, !isLeft(filepath.Join(before, inside), l.claim.SessionID):
		l.fresh = true
		err = l.makeWorktree(ctx, main)
	default:
		l.branch = branch
		err = git.MoveWorktree(ctx, main, before, l.folder)
		if err != nil && git.WorktreeOf(before) == main { // git moves none with submodules, and the work in it counts more than its name
			l.folder, err = before, nil
		}
	}
	if err == nil {
		l.removeLeft(ctx, main, inside)
	}
	return filepath.Join(l.folder, inside), err
}

// removeLeft removes the worktrees that lost workers have left under earlier leases of the run, if nobody works there and
// everything is committed. Branches with commits of their own stay.
func (l *lease) removeLeft(ctx context.Context, main, inside string) {
	for _, top := range git.RecordedWorktrees(main) {
		no, ok := strings.CutPrefix(filepath.Base(top), l.pathName()+"-")
		number, err := strconv.ParseInt(no, 10, 64)
		isEarlier := ok && err == nil && number < l.Number() && top != l.folder && filepath.Dir(top) == filepath.Dir(l.folder)
		if !isEarlier || !isIdle(filepath.Join(top, inside), l.claim.SessionID) {
			continue
		}
		branch := git.CheckedOut(top)
		if err := git.RemoveWorktree(ctx, main, top); err != nil || !l.isOwnBranch(branch) {
			continue
		}
		commit, err := git.BranchCommit(main, branch)
		if err != nil || commit == "" {
			continue
		}
		if isKept, err := git.IsMerged(ctx, main, commit, cmp.Or(l.claim.Head, l.claim.Commit)); err == nil && isKept {
			_ = git.DeleteBranch(ctx, main, branch) // what stays hinders nobody
		}
	}
}

// isIdle reports whether no process works on a run in a folder, which may be gone.
func isIdle(folder, sessionID string) bool {
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = dir.Close() }()
	busy, err := headless.AtWork(dir)
	return err == nil && !slices.Contains(busy, sessionID)
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().Type() == os.ModeSymlink
}

// isOwnBranch reports whether a branch is of a worktree of the run. An engine can have another branch checked out in the
// worktree: a branch of the person would get the commits of the run, and be deleted with the worktree.
func (l *lease) isOwnBranch(branch string) bool {
	no, ok := strings.CutPrefix(branch, leaseBranches+l.pathName()+"-")
	_, err := strconv.ParseInt(no, 10, 64)
	return ok && err == nil
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
	return isIdle(folder, sessionID)
}

// errSpoiled is the error of work in the store that no machine can go on with.
var errSpoiled = errors.New("the work of the run cannot be used")

// makeWorktree makes the worktree from the commits in the store, and from the clone.
func (l *lease) makeWorktree(ctx context.Context, main string) error {
	head, err := fetchWork(ctx, main, l.claim)
	if err != nil {
		return err
	}
	left, err := git.BranchCommit(main, l.branch)
	if err == nil && left != "" { // of another run that had this name: AddWorktree would take it as it is
		err = fault.New(fault.Conflict, "the branch %s is there already", l.branch).WithHint("see whose commits it has, and delete it: git branch -D %s", l.branch)
	}
	if err != nil {
		return err
	}
	return git.AddWorktree(ctx, main, l.folder, l.branch, head)
}

// fetchWork brings the commits of a run from the store and the remote into a clone, and returns the newest. An error that no
// machine is spared matches [errSpoiled].
func fetchWork(ctx context.Context, main string, c *queue.Claim) (head string, err error) {
	has, err := git.HasCommit(ctx, main, c.Commit)
	if err == nil && !has {
		if err = git.Fetch(ctx, main, c.Commit); err != nil {
			err = fault.New(fault.NotFound, "the clone %s lacks the commit %s that the run begins from: %w", main, c.Commit, err).
				WithHint("push it: git push")
		}
	}
	head = cmp.Or(c.Head, c.Commit)
	if err == nil && c.Work != nil {
		if head, err = git.Unbundle(ctx, main, c.Work); fault.Is(err, fault.InvalidArgument) {
			err = errors.Join(err, errSpoiled)
		}
	}
	if err == nil && c.Head != "" && head != c.Head {
		err = fault.New(fault.NotAllowed, "the store says that the work of the run is at commit %s, and has %s", c.Head, head).
			WithHint("somebody has changed its row: bmad-mcp queue cancel, and start the run anew")
		err = errors.Join(err, errSpoiled)
	}
	if err == nil && head != c.Commit {
		var follows bool
		if follows, err = git.IsMerged(ctx, main, c.Commit, head); err == nil && !follows {
			err = fault.New(fault.NotAllowed, "the work of the run in the store, at commit %s, does not follow the commit %s that it begins from", head, c.Commit).
				WithHint("somebody has changed its row: bmad-mcp queue cancel, and start the run anew")
			err = errors.Join(err, errSpoiled)
		}
	}
	return head, err
}

// removeWorktree removes the worktree of a run that was given back in order, if everything in it is committed, and in the store. Else
// the next lease on this machine takes it over.
func (w *Worker) removeWorktree(l *lease) {
	if l.folder == "" {
		return
	}
	ctx := context.Background()
	main := git.WorktreeOf(l.folder)
	if main == "" {
		return
	}
	tip, err := git.BranchCommit(main, l.branch)
	isInStore := err == nil && tip == cmp.Or(l.head, l.claim.Commit)
	if l.isUnkept || !isInStore {
		w.tell(l.claim.TaskName, lang.T("the worktree %s stays: the database does not have all of its work", l.folder))
		return
	}
	if err := git.RemoveWorktree(ctx, main, l.folder); err == nil {
		_ = git.DeleteBranch(ctx, main, l.branch)
		_ = os.Remove(filepath.Dir(l.folder)) // if it is empty
	}
}
