package git

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// checkoutLimit bounds the time to write the files of a work tree: there can be many gigabytes of them, and a slow disk.
const checkoutLimit = 30 * time.Minute

// AddWorktree makes a linked work tree of the repository of main at a folder that does not exist, with a branch: a new
// one at a commit or, if it exists, as it is. It has all files, also those that a sparse checkout of main leaves out.
// Folders above it are made; a new or empty one right above gets a .gitignore, so that a repository around does not list
// the work tree. No filter that the repository's settings name runs. After an error nothing of it is left.
func AddWorktree(ctx context.Context, main, folder, branch, commit string) (err error) {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if _, err := os.Lstat(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if err == nil {
		return fault.New(fault.Conflict, "the folder of the new work tree exists already: %s", folder).WithHint("choose another one, or remove it")
	}
	if err := checkBranch(branch); err != nil {
		return err
	}
	d, err := openDesk(ctx, main)
	if err != nil {
		return err
	}
	defer d.close()
	known, err := needFreePlace(d, folder, branch)
	if err != nil {
		return err
	}
	commit = cmp.Or(known, commit)
	if err := d.needCommit(ctx, commit); err != nil {
		return err
	}
	if err := d.needFiles(ctx, commit); err != nil {
		return err
	}
	var undo []func()
	defer func() {
		if err != nil {
			for _, do := range slices.Backward(undo) {
				do()
			}
		}
	}()
	above, err := makeAbove(folder)
	undo = append(undo, func() {
		for _, name := range above {
			_ = os.Remove(name) // of a folder with something else in it nothing goes
		}
	})
	if err != nil {
		return err
	}
	if known == "" {
		if err := d.moveBranch(ctx, branch, commit, "", "branch: made for a work tree"); err != nil {
			return err
		}
		undo = append(undo, func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeLimit)
			defer cancel()
			_, _ = d.real(d.dir).runForOutput(ctx, "update-ref", "-d", "refs/heads/"+branch, commit) // what failed before counts
		})
	}
	undo = append(undo, func() {
		if record := d.recordOf(folder); record != "" { // git removes what it began
			_ = os.RemoveAll(folder)
			_ = os.RemoveAll(record)
			_ = os.Remove(filepath.Dir(record)) // if it was the only one
		}
	})
	if _, err := d.real(d.dir).runForOutput(ctx, "worktree", "add", "--no-checkout", "--", folder, branch); err != nil {
		return d.explain(err, "worktree add")
	}
	return checkOut(whole, folder, commit)
}

// needFreePlace returns an error if git has a work tree with a branch or of a folder already, or can have no branch of this
// name. known is the commit of the branch, "" if it does not exist.
func needFreePlace(d *desk, folder, branch string) (known string, err error) {
	if at := d.checkedOut(branch); at != "" {
		return "", fault.New(fault.Conflict, "the branch %s is checked out already in %s", branch, at).
			WithHint("use that folder, switch it to another branch, or choose another branch here")
	}
	if d.recordOf(folder) != "" {
		return "", fault.New(fault.Conflict, "git has a record of a work tree at %s, which is gone", folder).
			WithHint("git worktree prune removes it; or choose another folder")
	}
	known, err = d.branchCommit(branch)
	if err == nil && known == "" {
		err = d.checkAbove(branch)
	}
	return known, err
}

// CheckWorktree returns an error if [AddWorktree] could make no work tree of the repository of main with a new branch at a
// commit, or if [WorktreeOf] would not know it. It changes nothing.
func CheckWorktree(ctx context.Context, main, branch, commit string) error {
	return withDesk(ctx, main, timeLimit, func(ctx context.Context, d *desk) error {
		own := filepath.Join(d.tree, ".git")
		if info, err := os.Lstat(own); err != nil || !info.IsDir() {
			return fault.New(fault.NotAllowed, "the git directory of %s is elsewhere, as that of a submodule is, so that a work tree of it would not be known as its own", d.tree).
				WithHint("make a clone of it with a .git of its own, and start there: git clone")
		}
		if err := d.checkAbove(branch); err != nil {
			return err
		}
		return d.needFiles(ctx, commit)
	})
}

// needFiles returns an error if the repository is a partial clone that lacks files of a commit: they are not fetched here.
func (d *desk) needFiles(ctx context.Context, commit string) error {
	marks, _ := filepath.Glob(filepath.Join(pathQuoter.Replace(d.common), "objects", "pack", "*.promisor"))
	if len(marks) == 0 {
		return nil
	}
	_, err := d.view.runForOutput(ctx, "rev-list", "--objects", "--quiet", "--no-walk", commit, "--")
	var failed *Failure
	if errors.As(err, &failed) {
		return fault.New(fault.NotAllowed, "%s is a partial clone, and lacks files of the commit %s: %s", d.tree, commit, sayShort(failed.Said)).
			WithHint("git sparse-checkout disable fetches those of the checked-out commit; or use a whole clone")
	}
	return d.explain(err, "rev-list")
}

// checkAbove returns an error if a part of a new branch's name, as far as a slash, is a branch: git has one of both at most.
func (r *repository) checkAbove(branch string) error {
	for above := path.Dir(branch); above != "."; above = path.Dir(above) {
		commit, err := r.branchCommit(above)
		if err != nil {
			return err
		}
		if commit != "" {
			return fault.New(fault.Conflict, "git can have no branch %s beside the branch %s", branch, above).WithHint("rename the second: git branch -m %s NAME", above)
		}
	}
	return nil
}

// checkOut fills a new work tree with the files of a commit.
func checkOut(ctx context.Context, folder, commit string) error {
	ctx, cancel := context.WithTimeout(ctx, checkoutLimit)
	defer cancel()
	d, err := openDesk(ctx, folder)
	if err != nil {
		return err
	}
	defer d.close()
	_, err = d.view.runForOutput(ctx, "read-tree", "-m", "-u", commit)
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Storage, "the files of the work tree %s were not all there after %s", folder, checkoutLimit).
			WithHint("see what holds the disk up, or have the repository on a faster one; then repeat the call")
	}
	return d.explain(err, "read-tree")
}

// makeAbove makes the folders above one, and a .gitignore in the nearest if that is empty. made are those that were not
// there, the lowest first.
func makeAbove(folder string) (made []string, err error) {
	parent := filepath.Dir(folder)
	for at := parent; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil { //nolint:gosec // as git makes them
		return made, err
	}
	entries, err := listFolder(parent)
	if err != nil || len(entries) > 0 {
		return made, err
	}
	ignore := filepath.Join(parent, ".gitignore")
	return append([]string{ignore}, made...), os.WriteFile(ignore, []byte("*\n"), 0o600)
}

// RemoveWorktree removes a linked work tree of the repository of main, with git's record of it; only the record if the
// folder is gone. It refuses if something there is not committed, or would be lost in another way. Ignored files are
// removed with it. The branch stays.
func RemoveWorktree(ctx context.Context, main, folder string) error {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	d, err := openDesk(ctx, main)
	if err != nil {
		return err
	}
	defer d.close()
	record := d.recordOf(folder)
	if record == "" {
		return fault.New(fault.NotFound, "%s is not a linked work tree of %s", folder, d.tree).WithHint("git worktree list names them")
	}
	keep := func(err *fault.Error) error {
		return err.WithHint("see to it there, then repeat the call; git worktree remove --force removes it all the same")
	}
	if _, err := os.Lstat(filepath.Join(record, "locked")); !errors.Is(err, fs.ErrNotExist) {
		return keep(fault.New(fault.NotAllowed, "the work tree %s is locked", folder))
	}
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		linked, err := repositoryAt(folder)
		if err != nil {
			return err
		}
		if linked == nil || !isSameFolder(linked.dir, record) || !isSameFolder(linked.homeFolder(), d.common) {
			return fault.New(fault.NotAllowed, "something else is in the place of the work tree %s", folder).WithHint("look at it; git worktree prune removes only the record")
		}
		if linked.branch() == "" {
			return keep(fault.New(fault.NotAllowed, "the work tree %s has no branch checked out, so its commits could be lost", folder))
		}
		if modules, _ := listFolder(filepath.Join(record, "modules")); len(modules) > 0 { // if there is no such folder, there are none
			return keep(fault.New(fault.NotAllowed, "the work tree %s has submodules, whose commits could be lost", folder))
		}
		look, err := Look(ctx, folder)
		if err != nil {
			return err
		}
		if look == nil || len(look.Changed) > 0 {
			var changed []string
			if look != nil {
				changed = look.Changed
			}
			return keep(fault.New(fault.NotAllowed, "the work tree %s has changes that are not committed: %s", folder, sayShort(strings.Join(changed, ", "))))
		}
	}
	_, err = d.real(d.common).runForOutput(ctx, "worktree", "remove", "--force", "--", folder)
	return d.explain(err, "worktree remove")
}

// WorktreeOf returns the main work tree of the linked one in which a folder lies; "" if it lies in none, or if the
// repository does not know that work tree: anybody can write a .git that leads to somebody else's. It starts no git.
func WorktreeOf(folder string) (main string) {
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return ""
	}
	home := r.homeFolder()
	isLinked := home != r.tree && !isSameFolder(r.dir, home)
	if !isLinked || filepath.Base(home) != ".git" {
		return ""
	}
	return filepath.Dir(home)
}

// RecordedWorktrees returns the paths of the linked work trees in the records of main's repository, sorted, also of
// those that are gone. It starts no git.
func RecordedWorktrees(main string) []string {
	r, err := findRepository(main)
	if r == nil || err != nil {
		return nil
	}
	var out []string
	for _, folder := range r.records() {
		out = append(out, folder)
	}
	slices.Sort(out)
	return out
}

// BranchCommit returns the commit of a local branch, "" if there is none. It starts no git.
func BranchCommit(folder, branch string) (string, error) {
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return "", err
	}
	return r.branchCommit(branch)
}

// HasBranchBelow reports whether a folder's repository has a branch whose name goes on, at a slash, behind another one's,
// which it can then not have. It starts no git.
func HasBranchBelow(folder, branch string) bool {
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return false
	}
	for name := range r.readReferences() {
		if strings.HasPrefix(name, "refs/heads/"+branch+"/") {
			return true
		}
	}
	return false
}

// records returns the folders of the linked work trees by the folders of git's records.
func (r *repository) records() map[string]string {
	out := map[string]string{}
	all := filepath.Join(r.common, "worktrees")
	entries, _ := listFolder(all) // without it there are none
	for _, e := range entries {
		record := filepath.Join(all, e.Name())
		text, err := durable.ReadPath(filepath.Join(record, "gitdir"), maxPointer)
		if name := resolvePath(record, strings.TrimRight(string(text), "\r\n")); err == nil && filepath.Base(name) == ".git" {
			out[record] = filepath.Dir(name)
		}
	}
	return out
}

// listFolder lists what is in a folder.
func listFolder(name string) ([]fs.DirEntry, error) {
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return dir.ReadDir(".")
}

// recordOf returns the folder of git's record of a linked work tree, "" if there is none.
func (r *repository) recordOf(folder string) string {
	for record, at := range r.records() {
		if resolveAbove(at) == resolveAbove(folder) {
			return record
		}
	}
	return ""
}

// resolveAbove returns a path, which need not exist, without links above its last part.
func resolveAbove(name string) string {
	above, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return filepath.Clean(name)
	}
	return filepath.Join(above, filepath.Base(name))
}

// checkedOut returns the work tree in which a branch is checked out, "" if there is none.
func (r *repository) checkedOut(branch string) string {
	all := r.records()
	all[r.common] = strings.TrimSuffix(r.common, string(filepath.Separator)+".git")
	for record, folder := range all {
		if (&repository{dir: record}).branch() == branch {
			return folder
		}
	}
	return ""
}
