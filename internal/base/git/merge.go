package git

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Merge merges one branch into another without a work tree, and returns the commit at which the other one then is. If it
// comes before the first, it moves there; if it has all of it, nothing happens. Else a commit with a message is made, by
// an author in the form of [Identity] and at a time, as by [CommitFiles]. conflicts are the files, by their paths from
// the top, that git cannot merge; then nothing is changed. A branch that is checked out anywhere is refused: its files
// would stay behind. It needs the git of [CheckMerge].
func Merge(ctx context.Context, folder, into, from, message, author string, at time.Time) (commit string, conflicts []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	d, err := openDesk(ctx, folder)
	if err != nil {
		return "", nil, err
	}
	defer d.close()
	old, err := d.needBranch(into)
	if err != nil {
		return "", nil, err
	}
	other, err := d.needBranch(from)
	if err != nil {
		return "", nil, err
	}
	if at := d.checkedOut(into); at != "" {
		return "", nil, fault.New(fault.NotAllowed, "the branch %s is checked out in %s, whose files would stay behind", into, at).
			WithHint("merge it there: git merge %s; or switch that folder to another branch", from)
	}
	for _, commit := range []string{old, other} {
		if err := d.needCommit(ctx, commit); err != nil {
			return "", nil, err
		}
	}
	if isDone, err := d.isAncestor(ctx, other, old); isDone || err != nil {
		return old, nil, err
	}
	isBehind, err := d.isAncestor(ctx, old, other)
	if err != nil {
		return "", nil, err
	}
	commit = other
	if !isBehind {
		tree, conflicts, err := d.mergeTrees(ctx, old, other)
		if err != nil || len(conflicts) > 0 {
			return "", conflicts, err
		}
		if commit, err = d.writeCommit(ctx, tree, []string{old, other}, message, author, at); err != nil {
			return "", nil, err
		}
	}
	if err := d.moveBranch(ctx, into, commit, old, "merge "+from); err != nil {
		return "", nil, err
	}
	return commit, nil, nil
}

// mergeTrees returns the tree of two merged commits, or the files with conflicts.
func (d *desk) mergeTrees(ctx context.Context, ours, theirs string) (tree string, conflicts []string, err error) {
	out, err := d.view.runForOutput(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	parts := strings.Split(strings.TrimRight(out, "\x00\n"), "\x00")
	code := exitOf(err)
	isMerged := code == 0 && commitForm.MatchString(parts[0])
	switch {
	case isMerged:
		return parts[0], nil, nil
	case code == 1 && len(parts) > 1:
		return "", parts[1:], nil
	case err != nil:
		return "", nil, d.explain(err, "merge-tree")
	}
	return "", nil, fault.New(fault.Storage, "git merge-tree printed something unknown in %s", d.tree).WithHint("see that the program is git")
}

// versionForm matches the version in the output of git version.
var versionForm = pattern.New(`\b(\d+)\.(\d+)[.\w]*`)

// CheckMerge returns an error if the git of this machine is too old for [Merge], or cannot be started. No repository is read.
func CheckMerge(ctx context.Context) error {
	said, err := Call{}.runForOutput(ctx, "version")
	if err != nil {
		return fault.New(fault.NotFound, "git cannot be started: %w", err).WithHint("install git (https://git-scm.com/downloads) so that it is found in PATH")
	}
	version := versionForm.FindStringSubmatch(said)
	if version == nil { // git merge-tree will tell
		return nil
	}
	major, _ := strconv.Atoi(version[1])
	minor, _ := strconv.Atoi(version[2])
	if cmp.Or(cmp.Compare(major, 2), cmp.Compare(minor, 38)) < 0 {
		return fault.New(fault.NotAllowed, "the git of this machine, %s, cannot merge without a work tree", version[0]).
			WithHint("install git 2.38 or newer (https://git-scm.com/downloads)")
	}
	return nil
}

// IsMerged reports whether a commit, by its hash, is in a branch or another commit. One that the clone lacks is not.
func IsMerged(ctx context.Context, folder, commit, into string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	d, err := openDesk(ctx, folder)
	if err != nil {
		return false, err
	}
	defer d.close()
	if !commitForm.MatchString(into) {
		if into, err = d.needBranch(into); err != nil {
			return false, err
		}
	}
	if err := d.needCommit(ctx, into); err != nil {
		return false, err
	}
	if has, err := d.hasCommit(ctx, commit); !has || err != nil {
		return false, err
	}
	return d.isAncestor(ctx, commit, into)
}

// HasCommit reports whether the clone has a commit, by its hash, and its parents.
func HasCommit(ctx context.Context, folder, commit string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	d, err := openDesk(ctx, folder)
	if err != nil {
		return false, err
	}
	defer d.close()
	return d.hasCommit(ctx, commit)
}

// SetBranch moves a branch to a commit that the clone has, from the commit old; "" for it makes the branch, which must
// not exist. If the branch is elsewhere, the error is a [fault.Conflict]. No work tree changes, also if it has the
// branch checked out.
func SetBranch(ctx context.Context, folder, branch, commit, old string) error {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	if err := checkBranch(branch); err != nil {
		return err
	}
	if old != "" && !commitForm.MatchString(old) {
		return fault.New(fault.InvalidArgument, "this is not a hash of a commit: %s", sayShort(old)).WithHint("name it in full, as git rev-parse prints it")
	}
	d, err := openDesk(ctx, folder)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.needCommit(ctx, commit); err != nil {
		return err
	}
	return d.moveBranch(ctx, branch, commit, old, "branch: moved")
}
