package git

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// CheckedOut returns the branch that is checked out in the repository of a folder; "" without one, and outside of a
// repository. It starts no git.
func CheckedOut(folder string) string {
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return ""
	}
	return r.branch()
}

// MoveWorktree moves a linked work tree of the repository of main, with everything in it, to a folder that does not exist.
// Git moves none that is locked, or has submodules.
func MoveWorktree(ctx context.Context, main, from, to string) error {
	return withDesk(ctx, main, timeLimit, func(ctx context.Context, d *desk) error {
		if d.recordOf(from) == "" {
			return fault.New(fault.NotFound, "%s is not a linked work tree of %s", from, d.tree).WithHint("git worktree list names them")
		}
		_, err := d.real(d.common).runForOutput(ctx, "worktree", "move", "--", from, to)
		return d.explain(err, "worktree move")
	})
}

// DeleteBranch deletes a branch that no work tree has checked out, whether it is merged or not. Its commits stay until git
// removes what nothing refers to, which is not before two weeks have passed.
func DeleteBranch(ctx context.Context, folder, branch string) error {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	if err := checkBranch(branch); err != nil {
		return err
	}
	d, err := openDesk(ctx, folder)
	if err != nil {
		return err
	}
	defer d.close()
	if at := d.checkedOut(branch); at != "" {
		return fault.New(fault.Conflict, "the branch %s is checked out in %s", branch, at).WithHint("switch that work tree to another branch")
	}
	commit, err := d.branchCommit(branch)
	if commit == "" || err != nil {
		return err
	}
	_, err = d.real(d.dir).runForOutput(ctx, "update-ref", "-d", "refs/heads/"+branch, commit)
	return d.explain(err, "update-ref")
}
