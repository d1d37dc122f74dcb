package git

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// The bounds of a bundle: its bytes, the commits that it builds on, and the bytes of the files that it changes.
const (
	maxBundle = 32 << 20
	maxBases  = 10_000
	maxFiles  = 4 << 30
)

// Bundle returns the commits that to has and from has not, both by their hashes, with their contents as a git bundle; all
// commits of to if from is "". It builds on contents of from. It is nil if there are no such commits. More than 32 MB are
// refused.
func Bundle(ctx context.Context, folder, from, to string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	d, err := openDesk(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if err := d.needCommit(ctx, to); err != nil {
		return nil, err
	}
	const tip = "refs/heads/bundle" // a bundle has references
	list := []string{tip}
	if from != "" {
		if err := d.needCommit(ctx, from); err != nil {
			return nil, err
		}
		if isThere, err := d.isAncestor(ctx, to, from); isThere || err != nil {
			return nil, err
		}
		list = append(list, "^"+from)
	}
	if err := os.Mkdir(d.file("refs/heads"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.file(tip), []byte(to+"\n"), 0o600); err != nil {
		return nil, err
	}
	out := &Bounded{Most: maxBundle}
	c := d.view
	c.Args, c.Out = append([]string{"bundle", "create", "--quiet", "-"}, list...), out
	if err := c.Run(ctx); errors.Is(err, ErrTooMuch) {
		return nil, fault.New(fault.NotAllowed, "the commits up to %s have more than %d MB", to, maxBundle>>20).
			WithHint("push them to a remote, or take large files out of them; a nearer commit to build on needs less")
	} else if err != nil {
		return nil, d.explain(err, "bundle")
	}
	return out.Data, nil
}

// bundle is a bundle of git, taken apart.
type bundle struct {
	bases []string // commits that it builds on
	head  string   // the commit to be had
	pack  []byte
}

// readBundle takes a bundle with one commit to be had apart.
func readBundle(data []byte) (b bundle, err error) {
	refuse := func(err *fault.Error) error { return err.WithHint("make it anew, and hand it over as it is") }
	header, pack, ok := bytes.Cut(data, []byte("\n\n"))
	first, rest, _ := strings.Cut(string(header), "\n")
	isKnown := first == "# v2 git bundle" || first == "# v3 git bundle"
	if !ok || !isKnown || !bytes.HasPrefix(pack, []byte("PACK")) {
		return b, refuse(fault.New(fault.InvalidArgument, "this is not a bundle of git"))
	}
	b.pack = pack
	for line := range strings.SplitSeq(rest, "\n") {
		base, isBase := strings.CutPrefix(line, "-")
		hash, _, _ := strings.Cut(base, " ")
		switch {
		case strings.HasPrefix(line, "@object-format="): // git says so if it is another
		case !commitForm.MatchString(hash):
			return b, refuse(fault.New(fault.InvalidArgument, "the bundle has a line that is not known here: %s", sayShort(line)))
		case isBase:
			b.bases = append(b.bases, hash)
		case b.head != "" && b.head != hash:
			return b, refuse(fault.New(fault.InvalidArgument, "the bundle has several commits to be had"))
		default:
			b.head = hash
		}
	}
	if b.head == "" || len(b.bases) > maxBases {
		return b, refuse(fault.New(fault.InvalidArgument, "the bundle has no commit to be had, or builds on too many"))
	}
	return b, nil
}

// Unbundle brings the commits of a bundle into the clone and returns the one that it was made for. All contents are
// checked before the first is taken over, and no reference changes. A bundle that builds on a commit that the clone
// lacks is a [fault.NotFound], a damaged one, or one with files of more than 4 GB, a [fault.InvalidArgument]. git may remove the commits after two weeks,
// unless a branch has them by then.
func Unbundle(ctx context.Context, folder string, data []byte) (head string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	if len(data) > maxBundle {
		return "", fault.New(fault.NotAllowed, "the bundle has more than %d MB", maxBundle>>20).WithHint("make it anew, from a nearer commit")
	}
	b, err := readBundle(data)
	if err != nil {
		return "", err
	}
	d, err := openDesk(ctx, folder)
	if err != nil {
		return "", err
	}
	defer d.close()
	for _, base := range b.bases {
		has, err := d.hasCommit(ctx, base)
		if err != nil {
			return "", err
		}
		if !has {
			return "", fault.New(fault.NotFound, "the bundle builds on the commit %s, which %s lacks", base, d.tree).WithHint("fetch that commit first")
		}
	}
	apart := *d // the view with objects of its own
	apart.view.Env = append(slices.Clip(d.view.Env), "GIT_OBJECT_DIRECTORY="+d.file("objects"))
	if err := apart.addPack(ctx, b); err != nil {
		return "", err
	}
	if err := apart.checkWhole(ctx, b); err != nil {
		return "", err
	}
	if err := apart.checkFiles(ctx, b); err != nil {
		return "", err
	}
	if err := d.addPack(ctx, b); err != nil {
		return "", err
	}
	return b.head, nil
}

// addPack adds the objects of a bundle to those of the desk.
func (d *desk) addPack(ctx context.Context, b bundle) error {
	c := d.view
	c.In = bytes.NewReader(b.pack)
	// A small pack can have huge contents, which are not to be held in memory.
	c.Settings = append(slices.Clip(c.Settings), "transfer.fsckObjects=true", "core.bigFileThreshold=64m", "pack.threads=1")
	_, err := c.runForOutput(ctx, "index-pack", "--stdin", "--fix-thin", "--strict")
	return d.explainBundle(err, "index-pack")
}

// checkWhole returns an error if something of the commits of a bundle is missing.
func (d *desk) checkWhole(ctx context.Context, b bundle) error {
	has, err := d.hasCommit(ctx, b.head)
	if err != nil {
		return err
	}
	if !has {
		return fault.New(fault.InvalidArgument, "the bundle lacks the commit that it names, or the one before it").WithHint("make it anew, and hand it over as it is")
	}
	walk := b.head + "\n"
	for _, base := range b.bases {
		walk += "^" + base + "\n"
	}
	c := d.view
	c.In = strings.NewReader(walk)
	_, err = c.runForOutput(ctx, "rev-list", "--objects", "--quiet", "--stdin")
	return d.explainBundle(err, "rev-list")
}

// checkFiles refuses a bundle whose files would fill the disk: a few bytes can be thousands of large files, or millions of
// folders. Those of the first commit that it builds on do not count.
func (d *desk) checkFiles(ctx context.Context, b bundle) error {
	more := map[string]int64{}
	for i, commit := range append([]string{b.head}, b.bases[:min(1, len(b.bases))]...) {
		// git prints while it walks: a list of differences would be in its memory first.
		c, list := d.view, &hashList{Bounded: Bounded{Most: maxList}}
		c.Args, c.Out = []string{"ls-tree", "-r", "-z", "--full-tree", commit}, list // of git 2.36 it could print the hashes alone
		err := c.Run(ctx)
		if errors.Is(err, ErrTooMuch) {
			return tooManyFiles()
		}
		if err != nil {
			return d.explainBundle(err, "ls-tree")
		}
		for hash := range strings.Lines(string(list.Data)) {
			more[hash] += int64(1 - 2*i)
		}
	}
	var hashes []string
	for _, hash := range slices.Sorted(maps.Keys(more)) {
		if more[hash] > 0 {
			hashes = append(hashes, hash)
		}
	}
	c := d.view
	c.In = strings.NewReader(strings.Join(hashes, ""))
	sizes, err := c.runForOutput(ctx, "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return d.explainBundle(err, "cat-file")
	}
	left, i := int64(maxFiles), 0
	for line := range strings.Lines(sizes) {
		size, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64) // the commit of a submodule has none here
		if i >= len(hashes) || size > left/more[hashes[i]] {
			return tooManyFiles()
		}
		left -= size * more[hashes[i]]
		i++
	}
	return nil
}

// hashList is a writer for the output of git ls-tree -z. It keeps the hashes, each on a line, in a bounded space.
type hashList struct {
	Bounded
	entry []byte // the part of the last one
}

// Write implements io.Writer.
func (l *hashList) Write(p []byte) (int, error) {
	l.entry = append(l.entry, p...)
	for {
		entry, rest, isWhole := bytes.Cut(l.entry, []byte{0})
		if !isWhole {
			break
		}
		about, _, _ := bytes.Cut(entry, []byte("\t"))
		if _, err := l.Bounded.Write(append(about[bytes.LastIndexByte(about, ' ')+1:], '\n')); err != nil {
			return 0, err
		}
		l.entry = rest
	}
	if len(l.entry) > l.Most {
		return 0, ErrTooMuch
	}
	return len(p), nil
}

func tooManyFiles() error {
	return fault.New(fault.InvalidArgument, "the files that the bundle brings have more than %d MB together, or are too many", maxFiles>>20).
		WithHint("make it anew, from a nearer commit, or take large files out of its commits")
}

// explainBundle words a failure of git with the contents of a bundle.
func (d *desk) explainBundle(err error, what string) error {
	var failed *Failure
	if errors.As(err, &failed) {
		return fault.New(fault.InvalidArgument, "the bundle is damaged, or lacks something: %s", sayShort(failed.Said)).WithHint("make it anew, and hand it over as it is")
	}
	return d.explain(err, what)
}
