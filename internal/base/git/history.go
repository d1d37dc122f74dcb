package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// maxBlob bounds a file read from a commit, in bytes.
const maxBlob = 1 << 20

// History reads the commits of a repository written by others, as [Look] reads the files: git sees a git
// directory of our own beside the objects.
type History struct {
	repository *repository
	call       Call
	// inside is the folder, from the top of the repository, with a slash behind it; "" for the top.
	inside string
}

// OpenHistory opens the history of the repository in which a folder lies; it is nil if there is no git or no
// repository. [History.Close] ends it.
func OpenHistory(ctx context.Context, folder string) (*History, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, nil //nolint:nilerr // the caller reports the missing git to the person
	}
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	inside, err := filepath.Rel(r.tree, real)
	if err != nil {
		return nil, err
	}
	head, err := r.headCommit()
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "bmad-git-")
	if err != nil {
		return nil, err
	}
	h := &History{repository: r}
	if h.call, err = r.newView(ctx, temp, head); err != nil {
		_ = os.RemoveAll(temp)
		return nil, err
	}
	h.call.Settings = []string{"core.commitGraph=false"} // it could name other parents than the commits do
	if inside != "." {
		h.inside = filepath.ToSlash(inside) + "/"
	}
	return h, nil
}

// CheckOwn returns an error if the contents of the commits may be somebody else's: anybody can write a .git that leads to
// another repository. One outside of the work tree has to name it, as the ones of submodules and linked work trees do.
func (h *History) CheckOwn() error { return h.repository.checkOwn() }

// Close removes the git directory of the history.
func (h *History) Close() {
	if h != nil {
		_ = os.RemoveAll(h.call.Repository)
	}
}

// IsShallow reports whether the clone lacks the older commits.
func (h *History) IsShallow() bool {
	info, err := os.Stat(filepath.Join(h.repository.common, "shallow"))
	return err == nil && info.Size() > 0
}

// DefaultBranch returns the default branch of the remote origin, such as refs/remotes/origin/main, as this clone knows
// it; "" if it does not.
func (h *History) DefaultBranch() string {
	text, err := durable.ReadPath(filepath.Join(h.repository.common, "refs", "remotes", "origin", "HEAD"), maxPointer)
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
	if err != nil || !ok || !strings.HasPrefix(target, "refs/remotes/") {
		return ""
	}
	return target
}

// Resolve returns the commit meant by a name: HEAD, a branch, one of a remote, a tag, a hash or the
// beginning of one. It is "" if there is none, or if the clone does not have it. Git would take a tag
// before a branch of the same name, and more people may push tags: a name of several commits is refused.
func (h *History) Resolve(ctx context.Context, name string) (string, error) {
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\ ~^:?*[\x00\n") || strings.HasPrefix(name, "-") {
		return "", nil
	}
	var found []string
	switch {
	case name == "HEAD":
		head, err := h.repository.headCommit()
		if head == "" || err != nil {
			return "", err
		}
		found = []string{head}
	case commitForm.MatchString(name):
		found = []string{name}
	default:
		for _, ref := range []string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"} {
			if !strings.HasPrefix(ref, "refs/") {
				continue
			}
			if at, err := h.repository.followReference(h.repository.common, ref); at != "" && err == nil { // an unresolved reference names no commit
				found = append(found, at)
			}
		}
		if len(found) == 0 && isHex(name) {
			found = []string{name}
		}
	}
	commit := ""
	for _, at := range found {
		out, err := h.call.runForOutput(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", at+"^{commit}")
		if failed := (*Failure)(nil); errors.As(err, &failed) {
			continue
		}
		if err != nil {
			return "", err
		}
		if at := strings.TrimSpace(out); commit == "" || commit == at {
			commit = at
			continue
		}
		return "", fault.New(fault.Conflict, "%s is the name of several commits, as of a branch and a tag", name).WithHint("write it in full, such as refs/remotes/origin/main")
	}
	return commit, nil
}

func isHex(name string) bool {
	return len(name) >= 7 && len(name) <= 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// Roots returns the commits without a parent from which a commit descends, sorted. It refuses a shallow clone, which
// does not have them.
func (h *History) Roots(ctx context.Context, commit string) ([]string, error) {
	if h.IsShallow() {
		return nil, fault.New(fault.NotAllowed, "this clone is shallow and lacks the first commit").
			WithHint("fetch the rest: git fetch --unshallow; in a workflow of GitHub, fetch-depth: 0 of actions/checkout")
	}
	out, err := h.call.runForOutput(ctx, "rev-list", "--max-parents=0", commit, "--")
	roots := strings.Fields(out)
	slices.Sort(roots)
	return roots, h.explainFailure(err)
}

// Read returns the files of a commit at paths of the folder, or below them, by their paths, if keep takes
// them. Links, and files of more than 1 MB, are left out.
func (h *History) Read(ctx context.Context, commit string, keep func(path string) bool, paths ...string) (map[string][]byte, error) {
	args := []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--"}
	for _, path := range paths {
		args = append(args, h.inside+path)
	}
	list, err := h.call.runForOutput(ctx, args...)
	if err != nil {
		return nil, h.explainFailure(err)
	}
	var names, ids []string
	total := 0
	for entry := range strings.SplitSeq(list, "\x00") {
		e := readEntry(entry)
		name := strings.TrimPrefix(e.name, h.inside)
		if !strings.HasPrefix(e.mode, "100") || !keep(name) {
			continue
		}
		if e.size < 0 { // git says BAD
			return nil, refusalOf(lang.T("it lacks a file of commit %s; fetch it without --filter", commit), name)
		}
		if e.size > maxBlob {
			continue
		}
		if total += e.size; total > maxList*3/4 {
			return nil, fault.New(fault.NotAllowed, "the commit %s has too much data in these folders", commit).WithHint("check a smaller folder with --cwd")
		}
		names, ids = append(names, name), append(ids, e.id)
	}
	texts, err := h.Blobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(names))
	for i, name := range names {
		out[name] = texts[i]
	}
	return out, nil
}

// entry is a file of a commit; its size is -1 if the clone lacks the content.
type entry struct {
	mode, id, name string
	size           int
}

// readEntry reads an entry of git ls-tree -l. A submodule, which has no size, has 0.
func readEntry(text string) (e entry) {
	about, name, _ := strings.Cut(text, "\t")
	fields := strings.Fields(about) // mode, type, hash, size
	if len(fields) != 4 {
		return e
	}
	size, err := strconv.Atoi(fields[3])
	if err != nil && fields[3] != "-" {
		size = -1
	}
	return entry{fields[0], fields[2], name, size}
}

// Blobs returns the contents with the given hashes, as they are in the repository: no filter runs.
func (h *History) Blobs(ctx context.Context, ids []string) ([][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	c := h.call
	c.In = strings.NewReader(strings.Join(ids, "\n") + "\n")
	text, err := c.runForOutput(ctx, "cat-file", "--batch", "--buffer")
	if err != nil {
		return nil, h.explainFailure(err)
	}
	var out [][]byte
	for _, id := range ids {
		about, rest, _ := strings.Cut(text, "\n")
		fields := strings.Fields(about) // hash, type, size
		if len(fields) != 3 {
			fields = []string{"", "", ""}
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size >= len(rest) {
			return nil, refusalOf(lang.T("git printed only part of a file, %s", id), h.repository.tree)
		}
		out, text = append(out, []byte(rest[:size])), rest[size+1:]
	}
	return out, nil
}

// Changed returns the files of the folder with different hashes in two commits, sorted. ok is false if the
// clone lacks one of the commits, as after a squash or a rebase.
func (h *History) Changed(ctx context.Context, from, to string) (files []string, ok bool, err error) {
	if !commitForm.MatchString(from) || !commitForm.MatchString(to) {
		return nil, false, nil
	}
	out, err := h.call.runForOutput(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to, "--")
	if failed := (*Failure)(nil); errors.As(err, &failed) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		if rest, inside := strings.CutPrefix(name, h.inside); inside && rest != "" {
			files = append(files, rest)
		}
	}
	slices.Sort(files)
	return files, true, nil
}

// explainFailure puts a failure of git into words.
func (h *History) explainFailure(err error) error {
	var failed *Failure
	if errors.As(err, &failed) {
		return fault.New(fault.Storage, "git could not read the history of %s: %s", h.repository.tree, visible.Line(failed.Said)).WithHint("see what git fsck says there")
	}
	return err
}

// Head returns the checked-out commit of a folder's repository; "" if there is none. It starts no git.
func Head(folder string) (string, error) {
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return "", err
	}
	return r.headCommit()
}

// roots has the first commit of each repository asked for one: git is a process.
var roots = recent.New[string, string](100)

// Root returns a commit without a parent by which the repository of a folder is known, the same for each clone of the
// same commits. It is "" if nothing shows one: no repository, no commit yet, or a shallow clone.
func Root(ctx context.Context, folder string) (string, error) {
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return "", err
	}
	if known, ok := roots.Get(r.common); ok {
		return known, nil
	}
	head, err := r.headCommit()
	if head == "" || err != nil {
		return "", err
	}
	h, err := OpenHistory(ctx, folder)
	if h == nil || err != nil {
		return "", err
	}
	defer h.Close()
	if h.IsShallow() {
		return "", nil
	}
	all, err := h.Roots(ctx, head)
	if err != nil || len(all) == 0 {
		return "", err
	}
	roots.Put(r.common, all[0])
	return all[0], nil
}
