package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// The bounds of a look.
const (
	maxList   = 64 << 20 // of a list of files, in bytes
	timeLimit = 2 * time.Minute
	// transferLimit is for a push or a fetch: git itself ends one whose data stop.
	transferLimit = 30 * time.Minute
	// maxDepth bounds how deep submodules may lie in each other.
	maxDepth = 8
)

// Tree is a repository at one moment, as far as it lies in one folder.
type Tree struct {
	// Head is the checked-out commit, or "" if there is none yet.
	Head string
	// Branch is the checked-out branch, or "" if there is none; Refs is a hash of the other branches, the tags and
	// the stash, Tags one of the tags and the stash alone.
	Branch, Refs, Tags string
	// Changed are the changed and the new files, by their paths from the folder, each behind the two
	// letters of git status and a blank.
	Changed []string
	// Ignored are the files that git ignores, by their paths from the folder; a folder that it ignores as a whole is one
	// path, with a slash at its end. Submodules are left out.
	Ignored []string
}

// Look describes the repository of a folder, with all submodules. It changes nothing, and runs no program
// named by the repository. It returns nil without git, or outside a repository. The error is a
// [fault.NotAllowed] if the repository cannot be read in this way, or not within two minutes.
func Look(ctx context.Context, folder string) (*Tree, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, nil //nolint:nilerr // the caller reports the missing git to the person
	}
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	t, err := r.lookAt(ctx, folder, 0)
	if err != nil {
		return nil, explain(err, folder)
	}
	t.Branch = r.branch()
	t.Refs, t.Tags = r.hashReferences(t.Branch)
	return t, nil
}

// Ignores reports whether git leaves a new file of a folder out of the repository. Outside a repository it does not.
func Ignores(ctx context.Context, folder, name string) (bool, error) {
	h, err := OpenHistory(ctx, folder)
	if h == nil || err != nil {
		return false, err
	}
	defer h.Close()
	h.call.Dir = folder
	if _, err = h.call.runForOutput(ctx, "check-ignore", "--quiet", "--", name); saysNothing(err) {
		return false, nil
	}
	return err == nil, err
}

// Files lists the files of a folder that git tracks or would track, by their paths from the folder; deleted ones may be
// among them. A submodule, or another repository, is one entry. It is nil without git, or outside a repository.
func Files(ctx context.Context, folder string) ([]string, error) {
	h, err := OpenHistory(ctx, folder)
	if h == nil || err != nil {
		return nil, err
	}
	defer h.Close()
	h.call.Dir = folder
	list, err := h.call.runForOutput(ctx, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == 0 }), nil
}

// explain words the failure of a look for people.
func explain(err error, folder string) error {
	var failed *Failure
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Storage, "git status took longer than %s in %s", timeLimit, folder).WithHint("see what it does there")
	case errors.As(err, &failed):
		return fault.New(fault.Storage, "git status failed in %s: %s", folder, visible.Line(failed.Said)).WithHint("see what it says there")
	}
	return err
}

// lookAt describes the part of a repository in a folder.
func (r *repository) lookAt(ctx context.Context, folder string, depth int) (*Tree, error) {
	found, err := r.survey(ctx, folder)
	if err != nil {
		return nil, err
	}
	t := &Tree{Head: found.head, Changed: found.changed, Ignored: found.ignored}
	for _, e := range found.indexed {
		if !e.submodule {
			continue
		}
		inside, err := lookAt(ctx, filepath.Join(folder, filepath.FromSlash(e.name)), depth+1)
		if err != nil {
			return nil, err
		}
		for _, change := range inside {
			t.Changed = append(t.Changed, change[:3]+e.name+"/"+change[3:])
		}
	}
	return t, nil
}

// survey is what git says about the part of a repository in a folder, with paths from the folder.
type survey struct {
	head    string
	changed []string // in the form of [Tree.Changed]
	ignored []string // in the form of [Tree.Ignored]
	indexed []indexed
}

// indexed is an entry of git's index.
type indexed struct {
	name, id  string
	submodule bool
	unmerged  bool
}

func (r *repository) survey(ctx context.Context, folder string) (*survey, error) {
	temp, err := os.MkdirTemp("", "bmad-git-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	out := &survey{}
	if out.head, err = r.headCommit(); err != nil {
		return nil, err
	}
	c, err := r.newView(ctx, temp, out.head)
	if err != nil {
		return nil, err
	}
	c.Dir = folder
	prefix, err := c.runForOutput(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	// Without this option git would read the settings of submodules.
	status, err := c.runForOutput(ctx, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=dirty", "--", ".")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) <= 3 {
			continue
		}
		name := strings.TrimPrefix(entry[3:], strings.TrimSuffix(prefix, "\n"))
		if strings.HasPrefix(entry, "!!") {
			out.ignored = append(out.ignored, name)
		} else {
			out.changed = append(out.changed, entry[:3]+name)
		}
	}
	files, err := c.runForOutput(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(files, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		parts := strings.Fields(about) // mode, id and stage
		if len(parts) == 3 && filepath.IsLocal(filepath.FromSlash(name)) {
			out.indexed = append(out.indexed, indexed{name: name, id: parts[1], submodule: parts[0] == "160000", unmerged: parts[2] != "0"})
		}
	}
	return out, nil
}

// lookAt returns the changes in a submodule, or none if it is not checked out.
func lookAt(ctx context.Context, folder string, depth int) ([]string, error) {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return nil, nil //nolint:nilerr // status names a former submodule, now something else
	}
	r, err := repositoryAt(folder)
	if r == nil || err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fault.New(fault.NotAllowed, "the git repository has submodules in each other, more than %d deep: %s", maxDepth, folder).
			WithHint("pass --allow-dirty, and the run does without the repository")
	}
	t, err := r.lookAt(ctx, folder, depth)
	if err != nil {
		return nil, err
	}
	return t.Changed, nil
}

// runForOutput runs a subcommand and returns the output.
func (c Call) runForOutput(ctx context.Context, args ...string) (string, error) {
	out := &Bounded{Most: maxList}
	c.Args, c.Out = args, out
	err := c.Run(ctx)
	return string(out.Data), err
}
