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
	found := map[string]Delta{}
	tree := map[string]entry{}
	for text := range strings.SplitSeq(list, "\x00") {
		if e := readEntry(text); strings.HasPrefix(e.name, h.inside) && e.name != "" {
			tree[e.name[len(h.inside):]] = e
		}
	}
	add := func(name, mode string) {
		d := Delta{Path: strings.TrimSuffix(name, "/"), Nested: strings.HasSuffix(name, "/"), NewMode: mode}
		e := tree[d.Path]
		d.Mode, d.ID, d.Size = e.mode, e.id, e.size
		d.NewMode = cmp.Or(mode, found[d.Path].NewMode)
		if d.Path != "" && filepath.IsLocal(filepath.FromSlash(d.Path)) {
			found[d.Path] = d
		}
	}
	raw, err := c.runForOutput(ctx, "diff-index", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", commit, "--", ".")
	if err != nil {
		return nil, false, h.explainFailure(err)
	}
	for parts := strings.Split(raw, "\x00"); len(parts) > 1; parts = parts[2:] {
		about := strings.Fields(parts[0]) // both modes, both hashes, the kind of change
		if len(about) == 5 {
			add(strings.TrimPrefix(parts[1], h.inside), strings.TrimLeft(about[1], "0"))
		}
	}
	others, err := c.runForOutput(ctx, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
	if err != nil {
		return nil, false, h.explainFailure(err)
	}
	for name := range strings.SplitSeq(others, "\x00") {
		add(name, "")
	}
	tracked, err := c.runForOutput(ctx, "ls-files", "-v", "-z", "--", ".")
	if err != nil {
		return nil, false, h.explainFailure(err)
	}
	for text := range strings.SplitSeq(tracked, "\x00") {
		if name := readUnwatched(c.Dir, text); name != "" {
			add(name, tree[name].mode)
		}
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
