package fleet

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// pushWork brings a commit to a branch of the remote, from the commit that the branch has: only if that is a part of the
// work, so that nothing of others is lost.
func pushWork(ctx context.Context, folder, branch, commit string) error {
	have, err := git.RemoteBranch(ctx, folder, branch)
	if err != nil || have == commit {
		return err
	}
	if have != "" {
		known, err := git.IsMerged(ctx, folder, have, commit) // a commit that the clone lacks is not
		if err != nil {
			return err
		}
		if !known {
			return fault.New(fault.Conflict, "the branch %s of the remote has the commit %s, which the run does not know", branch, have).
				WithHint("see whose it is: git fetch, git log; then merge it, or delete the branch of the remote")
		}
	}
	return git.Push(ctx, folder, branch, commit, have)
}

// pushCommand returns the command with which the person pushes a branch.
func pushCommand(branch string) string { return "git push -u origin " + quotePath(branch) }
