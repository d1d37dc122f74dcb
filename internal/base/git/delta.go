package git

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Delta is a file that may differ between a commit and the disk: its content there is not compared.
type Delta struct {
	// Path is the path from the folder, in any bytes. Nested marks the folder of another repository.
	Path   string
	Nested bool
	// Mode, ID and Size are from the commit, and "" if it does not have the file; Size is -1 if the clone lacks the
	// content.
	Mode, ID string
	Size     int
	// NewMode is the mode as git sees it on the disk; "" if git does not track the file, or it is gone.
	NewMode string
}

// Submodule is the mode of a submodule.
const Submodule = "160000"

// Deltas returns the files of the folder that may differ from a commit, new ones among them but none that git ignores,
// sorted by path. It reads no content, so no filter runs, and it finds the files that somebody told git to leave
// unchanged. ok is false if the clone lacks the commit.
func (h *History) Deltas(ctx context.Context, commit string) (all []Delta, ok bool, err error) {
	if !commitForm.MatchString(commit) {
		return nil, false, nil
	}
	c := h.call
	c.Dir = filepath.Join(h.repository.tree, filepath.FromSlash(h.inside))
	// The repository's settings could have git trust less than all that the disk says about a file.
	c.Settings = append(slices.Clip(c.Settings), "core.trustctime=true", "core.checkStat=default")
	args := []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit}
	if h.inside != "" {
		args = append(args, "--", h.inside)
	}
	list, err := c.runForOutput(ctx, args...)
	if failed := (*Failure)(nil); errors.As(err, &failed) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	tree := map[string]entry{}
	for text := range strings.SplitSeq(list, "\x00") {
		e := readEntry(text)
		if name, isInside := strings.CutPrefix(e.name, h.inside); isInside {
			tree[name] = e
		}
	}
	found := map[string]Delta{}
	add := func(name, mode string) {
		name, isFolder := strings.CutSuffix(name, "/")
		if e := tree[name]; name != "" && filepath.IsLocal(filepath.FromSlash(name)) {
			found[name] = Delta{Path: name, Nested: isFolder, Mode: e.mode, ID: e.id, Size: e.size, NewMode: cmp.Or(mode, found[name].NewMode)}
		}
	}
	run := func(args ...string) []string {
		if err != nil {
			return nil
		}
		var out string
		out, err = c.runForOutput(ctx, append(args, "--", ".")...)
		return strings.Split(out, "\x00")
	}
	for parts := run("diff-index", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", commit); len(parts) > 1; parts = parts[2:] {
		about := strings.Fields(parts[0]) // both modes, both hashes, the kind of change
		if len(about) == 5 {
			add(strings.TrimPrefix(parts[1], h.inside), strings.TrimLeft(about[1], "0"))
		}
	}
	for _, name := range run("ls-files", "--others", "--exclude-standard", "-z") {
		add(name, "")
	}
	for _, text := range run("ls-files", "-v", "-z") {
		if name := readUnwatched(c.Dir, text); name != "" {
			add(name, tree[name].mode)
		}
	}
	if err != nil {
		return nil, false, h.explainFailure(err)
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Delta) int { return strings.Compare(a.Path, b.Path) }), true, nil
}

// readUnwatched returns the name in an entry of git ls-files -v if git was told to leave the file unchanged, and else "".
func readUnwatched(dir, text string) string {
	tag, name, _ := strings.Cut(text, " ")
	isSkipped := tag == "S"
	if !isSkipped && tag == strings.ToUpper(tag) {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err != nil && isSkipped {
		return "" // a sparse checkout leaves it out
	}
	return name
}
