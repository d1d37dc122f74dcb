package fleet

import (
	"cmp"
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// pushBranch brings the work to the branch of the run on the remote, and returns the reason of the release with the outcome.
// The store has the work too, so that the run has not failed if a remote does not take it.
func (l *lease) pushBranch(ctx context.Context, s *workflow.Session, why string) string {
	if l.head == "" || l.head == l.claim.Commit {
		return why
	}
	branch := workflow.BranchFor(s.TaskName)
	err := pushWork(ctx, l.folder, branch, l.head)
	if err == nil {
		return why
	}
	why = join(why, "not pushed: "+describeError(err))
	if main := git.WorktreeOf(l.folder); keepBranch(ctx, main, branch, l.head) == nil {
		why = join(why, "it is the branch "+branch+" of "+main)
	}
	return why
}

// BringWork brings the commits that workers have left for a run in the queue into the clone of a folder, and moves the branch of
// the run to them, for the run to go on here. left is the entry, of which no worker has a lease; vouch returns the say of a key.
// It changes nothing if the branch has the commits. It refuses commits by a key that does not count here, and names the
// remedy if the branch, or the tree of a run without one, does not have the commits afterwards.
func BringWork(ctx context.Context, folder string, s *workflow.Session, left queue.Claim, vouch func(signature.Key) (engine.Voucher, error)) error {
	if left.Head == "" || left.Head == left.Commit {
		return nil
	}
	main, branch := project.Top(folder), workflow.BranchFor(s.TaskName)
	isApart := s.Branch != ""
	tip, err := git.Head(folder)
	if isApart {
		tip, err = git.BranchCommit(main, branch)
	}
	isThere := false
	if err == nil && tip != "" {
		isThere, err = git.IsMerged(ctx, main, left.Head, tip)
	}
	if isThere || err != nil {
		return err
	}
	left.LeaseNo++ // as the next worker reads it
	_, by, err := readRecord(&left)
	if err != nil {
		return err
	}
	v, err := vouch(by)
	if err == nil && !v.Counts {
		err = fault.New(fault.NotAllowed, "the commits of the run in the database are by a worker whose key does not count here").
			WithHint("say whose it is: bmad-mcp allow; then repeat the command")
	}
	if err == nil {
		_, err = fetchWork(ctx, main, &left)
	}
	if err != nil {
		return err
	}
	if err := keepBranch(ctx, main, branch, left.Head); err != nil || isApart {
		return err
	}
	return fault.New(fault.Conflict, "workers have worked on the run, and the files here lack their commits, which are the branch %s", branch).
		WithHint("bring them in, then repeat the command: git merge %s", branch)
}

// BaseOf returns the commit from which workers begin a run that is queued in the clone of a folder: "" in one without commits. A
// run that exists begins from its branch. One whose workers have left work keeps the commit that the work follows, in the
// order that left has, which has to be by a key that counts here by the say of vouch.
func BaseOf(ctx context.Context, folder string, s *workflow.Session, left queue.Claim, vouch func(signature.Key) (engine.Voucher, error)) (string, error) {
	head, err := git.Head(folder)
	if err != nil || s == nil {
		return head, err
	}
	tip, err := git.BranchCommit(folder, workflow.BranchFor(s.TaskName))
	isApart := tip != "" && s.Branch != ""
	if err != nil || left.Head == "" {
		if isApart {
			head = tip
		}
		return head, err
	}
	o, _, err := ReadCountedOrder(s.SessionID, left.Run, vouch)
	if err != nil {
		return "", err
	}
	isWithin := !isApart || tip == o.Commit || tip == left.Head
	if !isWithin {
		if isWithin, err = git.HasCommit(ctx, folder, left.Head); isWithin && err == nil {
			isWithin, err = git.IsMerged(ctx, folder, tip, left.Head)
		}
	}
	if err == nil && !isWithin {
		err = fault.New(fault.Conflict, "the branch %s has commits here that the work in the queue lacks", workflow.BranchFor(s.TaskName)).
			WithHint("go on with the run here: bmad-mcp run --resume %s", s.TaskName)
	}
	return o.Commit, err
}

// keepBranch moves a branch of a clone to a commit that has the commit of the branch in it. It refuses a branch that is checked
// out: the files of that tree would stay behind.
func keepBranch(ctx context.Context, main, branch, commit string) error {
	have, err := git.BranchCommit(main, branch)
	if err != nil || have == commit {
		return err
	}
	if have != "" {
		known, err := git.IsMerged(ctx, main, have, commit)
		if err == nil && !known {
			err = fault.New(fault.Conflict, "the branch %s of the clone has the commit %s, which the run does not know", branch, have).
				WithHint("see whose it is: git log %s. Then merge %s into the branch, or delete the branch", branch, commit)
		}
		if err != nil {
			return err
		}
	}
	for _, top := range append(git.RecordedWorktrees(main), cmp.Or(git.WorktreeOf(main), main)) {
		if git.CheckedOut(top) == branch {
			return fault.New(fault.Conflict, "the branch %s is checked out in %s, which lacks the commits of the workers", branch, top).
				WithHint("bring them in, then repeat the command: git -C %s merge --ff-only %s", top, commit)
		}
	}
	return git.SetBranch(ctx, main, branch, commit, have)
}
