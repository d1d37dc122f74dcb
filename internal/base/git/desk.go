package git

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// desk is a repository written by others, open for writing.
type desk struct {
	*repository
	// view is the call for everything that reads settings, attributes or filters: its git directory is our own, its
	// objects go to the repository. Its index is the repository's.
	view Call
	head string // the checked-out commit, "" if there is none yet
	// limit is the time that a call has.
	limit time.Duration
	// settings are git's in the git directory, of the person and of the repository.
	settings []setting
}

// openDesk opens the repository in which a folder lies. It refuses one that may be somebody else's, as
// [History.CheckOwn] does. close ends it.
func openDesk(ctx context.Context, folder string) (*desk, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fault.New(fault.NotFound, "git cannot be started: %w", err).WithHint("install git (https://git-scm.com/downloads) so that it is found in PATH")
	}
	r, err := findRepository(folder)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fault.New(fault.NotFound, "%s is in no git repository", folder).WithHint("name a folder of a repository, or make it one: git init")
	}
	head, err := r.headCommit()
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "bmad-git-")
	if err != nil {
		return nil, err
	}
	d := &desk{repository: r, head: head, limit: timeLimit}
	d.view, err = r.newView(ctx, temp, head)
	if err == nil {
		err = r.checkOwn()
	}
	if err == nil {
		err = r.copyShallow(temp)
	}
	if err == nil {
		d.settings, err = d.real(r.dir).listSettings(ctx)
	}
	if err == nil {
		err = os.WriteFile(d.file("own"), []byte(d.ownSettings()), 0o600)
	}
	if err != nil {
		_ = os.RemoveAll(temp)
		return nil, d.explain(err, "config")
	}
	d.view.Env = append(d.view.Env, "GIT_CONFIG_GLOBAL="+d.file("own"), "GIT_CONFIG_SYSTEM="+d.file("none"))
	d.view.Env = append(d.view.Env, "GIT_OBJECT_DIRECTORY="+filepath.Join(r.common, "objects"), "GIT_LITERAL_PATHSPECS=1")
	// The graph could name other parents than the commits do, and an index in parts would leave one of them in the view.
	d.view.Settings = []string{"core.commitGraph=false", "core.sparseCheckout=false", "core.splitIndex=false", "fetch.writeCommitGraph=false", "lfs.storage=" + d.largeStore()}
	return d, nil
}

// copyShallow gives a view the commits whose parents the clone lacks.
func (r *repository) copyShallow(view string) error {
	name := filepath.Join(r.common, "shallow")
	text, err := durable.ReadPath(name, maxText)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return refusalOf(lang.T("its list of missing commits cannot be read"), name)
	}
	return os.WriteFile(filepath.Join(view, "shallow"), text, 0o600)
}

// withDesk calls do with the repository of a folder, for a time.
func withDesk(ctx context.Context, folder string, limit time.Duration, do func(ctx context.Context, d *desk) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	d, err := openDesk(ctx, folder)
	if err != nil {
		return err
	}
	defer d.close()
	d.limit = limit
	return do(ctx, d)
}

// close removes the view.
func (d *desk) close() { _ = os.RemoveAll(d.view.Repository) }

// file returns the path of a file of our own in the view.
func (d *desk) file(name string) string { return filepath.Join(d.view.Repository, name) }

// real returns the call for the few subcommands that need the git directory itself. None of them runs a program.
func (d *desk) real(dir string) Call {
	name, address := splitAuthor("")
	return Call{Dir: d.tree, Repository: dir, Secrets: withoutHooks(d.settings), Env: []string{"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + address}}
}

// ask runs a subcommand on the view and returns its output, without the line break at the end. The error is for people.
func (d *desk) ask(ctx context.Context, args ...string) (string, error) {
	out, err := d.view.runForOutput(ctx, args...)
	return strings.TrimSuffix(out, "\n"), d.explain(err, args[0])
}

// explain words the failure of a subcommand for people.
func (d *desk) explain(err error, what string) error {
	var failed *Failure
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Storage, "git %s took longer than %s in %s", what, d.limit, d.tree).WithHint("see what it does there")
	case errors.Is(err, ErrTooMuch):
		return fault.New(fault.Storage, "git %s printed more than it should in %s", what, d.tree).WithHint("see what it says there")
	case errors.As(err, &failed) && strings.Contains(failed.Said, "clean filter 'lfs' failed"):
		return fault.New(fault.NotAllowed, "a file is of Git LFS, whose filter is missing or failed in %s: %s", d.tree, sayShort(failed.Said)).
			WithHint("set it up in your own settings, because those of the repository do not count here: git lfs install; or commit the file yourself")
	case errors.As(err, &failed):
		return fault.New(fault.Storage, "git %s failed in %s: %s", what, d.tree, sayShort(failed.Said)).WithHint("see what git says there: git status, git fsck")
	}
	return err
}

// maxWords bounds the words of git, or of a remote, in an error, in columns.
const maxWords = 600

// sayShort returns words of git as one line for people.
func sayShort(said string) string { return visible.Cut(visible.Line(said), maxWords, "…") }

// exitOf returns the exit code with which git ended, 0 if it did not fail, -1 if it has none.
func exitOf(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.ExitCode()
	}
	return -1
}

// hasCommit reports whether the clone has a commit and its parents.
func (d *desk) hasCommit(ctx context.Context, commit string) (bool, error) {
	if !commitForm.MatchString(commit) {
		return false, nil
	}
	out, err := d.view.runForOutput(ctx, "rev-list", "-n1", commit, "--")
	if exitOf(err) > 0 {
		return false, nil
	}
	return strings.TrimSpace(out) == commit, d.explain(err, "rev-list")
}

// needCommit returns an error if the clone lacks a commit.
func (d *desk) needCommit(ctx context.Context, commit string) error {
	has, err := d.hasCommit(ctx, commit)
	if err == nil && !has {
		return fault.New(fault.NotFound, "%s lacks the commit %s", d.tree, sayShort(commit)).WithHint("fetch it, or name one that git log shows there")
	}
	return err
}

// isAncestor reports whether a commit is another one or comes before it. Both have to be there.
func (d *desk) isAncestor(ctx context.Context, early, late string) (bool, error) {
	_, err := d.view.runForOutput(ctx, "merge-base", "--is-ancestor", early, late)
	if exitOf(err) == 1 {
		return false, nil
	}
	return err == nil, d.explain(err, "merge-base")
}

// needBranch returns the commit of a branch, or an error if there is none.
func (d *desk) needBranch(branch string) (string, error) {
	commit, err := d.branchCommit(branch)
	if err == nil && commit == "" {
		return "", fault.New(fault.NotFound, "%s has no branch %s", d.tree, branch).WithHint("see git branch there")
	}
	return commit, err
}

// moveBranch moves a branch from a commit to another, for a reason that the reflog keeps. "" for the old one makes the
// branch. If it is at neither, nothing changes.
func (d *desk) moveBranch(ctx context.Context, branch, commit, old, reason string) error {
	ref := "refs/heads/" + branch
	_, err := d.real(d.dir).runForOutput(ctx, "update-ref", "-m", reason, ref, commit, cmp.Or(old, strings.Repeat("0", len(commit))))
	if exitOf(err) > 0 {
		if now, errNow := d.branchCommit(branch); errNow == nil && now != old {
			return fault.New(fault.Conflict, "the branch %s was moved in the meantime, to %s", branch, cmp.Or(now, "-")).WithHint("look at what it has now, then repeat the call")
		}
	}
	return d.explain(err, "update-ref")
}

// branchCommit returns the commit of a branch, "" if there is none.
func (r *repository) branchCommit(branch string) (string, error) {
	if err := checkBranch(branch); err != nil {
		return "", err
	}
	return r.followReference(r.common, "refs/heads/"+branch)
}

// maxBranch bounds the name of a branch, in bytes.
const maxBranch = 200

// checkBranch refuses a name that git would not take for a branch, or would take for something else.
func checkBranch(name string) error {
	isOdd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	isOddPart := func(part string) bool {
		return part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	isBroken := name == "" || len(name) > maxBranch || !utf8.ValidString(name) || strings.ContainsFunc(name, isOdd) || slices.ContainsFunc(strings.Split(name, "/"), isOddPart)
	isSpecial := name == "@" || name == "HEAD" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{")
	if isBroken || isSpecial {
		return fault.New(fault.InvalidArgument, "this is not a name of a branch: %s", sayShort(name)).WithHint("use letters, digits and . _ / -, such as feature/login")
	}
	return nil
}

// The author of commits of a person without a name.
const (
	neutralName    = "bmad-mcp"
	neutralAddress = "bmad-mcp@localhost"
)

// splitAuthor returns name and address of an author in the form of [Identity], without the characters that git
// removes; those of this program if nothing stays of the name.
func splitAuthor(author string) (name, address string) {
	const crud = ".,:;<>\"\\'"
	clean := func(text string) string {
		text = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || strings.ContainsRune("<>", r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, ""))
		return strings.Trim(text, crud+" ")
	}
	name, address, _ = strings.Cut(author, " <")
	if name, address = clean(name), clean(address); name == "" {
		return neutralName, neutralAddress
	}
	return name, address
}
