package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// Contents returns the files of a folder in a repository, without the ignored ones, by their paths from the folder. The
// value is the id of the content as git has it, or "" for a file to be read on the disk. Commits are of no matter: a
// changed file keeps the id of the content when it is committed. As [Look] it changes nothing and runs no program named
// by the repository, and it returns nil where that does. skip leaves untracked files out.
func Contents(ctx context.Context, folder string, skip func(name string) bool) (map[string]string, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, nil //nolint:nilerr // the files can be read without it
	}
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return nil, err
	}
	out := map[string]string{}
	return out, explain(r.addContents(ctx, out, folder, "", skip, 0), folder)
}

// addContents adds the files of a folder, whose path from the first one is the prefix.
func (r *repository) addContents(ctx context.Context, out map[string]string, folder, prefix string, skip func(string) bool, depth int) error {
	if depth > maxDepth {
		return fault.New(fault.NotAllowed, "the git repository has submodules in each other, more than %d deep: %s", maxDepth, folder)
	}
	found, err := r.survey(ctx, folder)
	if err != nil {
		return err
	}
	var inner []string // repositories
	for _, e := range found.indexed {
		switch out[prefix+e.name] = e.id; {
		case e.submodule:
			inner = append(inner, e.name)
		case e.unmerged:
			out[prefix+e.name] = ""
		}
	}
	for _, entry := range found.changed {
		state, name := entry[:2], entry[3:]
		switch {
		case state == "??" && skip(prefix+name):
		case strings.HasSuffix(name, "/"): // a repository, but not a submodule
			inner = append(inner, strings.TrimSuffix(name, "/"))
		case state[1] != ' ': // deleted ones, too, because of a merge they can be there
			out[prefix+name] = ""
		}
	}
	for _, name := range inner {
		at := filepath.Join(folder, filepath.FromSlash(name))
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			continue // not checked out
		}
		below, err := repositoryAt(at)
		if err != nil {
			return err
		}
		if below == nil {
			continue
		}
		delete(out, prefix+name)
		if err := below.addContents(ctx, out, at, prefix+name+"/", skip, depth+1); err != nil {
			return err
		}
	}
	return nil
}
