package project

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // as git names contents
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
)

// Code are the changes of a project's files since a commit.
type Code struct {
	// Base is the commit with which the files were compared; "" if they could not be.
	Base string
	// IsHead is true if the wanted commit is not known or not here, and the checked-out one took its place.
	IsHead bool
	codediff.Changes
}

// ReadCode compares the files of the project with a commit, else with the checked-out one. dirty has the contents from
// before that the commit does not have. Git lists the candidates and hands out the contents of the commit; the files
// themselves are read here, so that no program named by the repository runs, and no link leads out. leave names files and
// folders, with a slash behind them, that do not count. The result is nil without git, outside a repository, and before the
// first commit.
func (p *Project) ReadCode(ctx context.Context, commit string, dirty map[string]string, leave []string) (*Code, error) {
	ctx, cancel := context.WithTimeout(ctx, contentsTime)
	defer cancel()
	h, err := git.OpenHistory(ctx, p.Dir.Path())
	if h == nil || err != nil {
		return nil, err
	}
	defer h.Close()
	if err := h.CheckOwn(); err != nil {
		return nil, err
	}
	out := &Code{Base: commit}
	found, ok, err := h.Deltas(ctx, commit)
	if err == nil && !ok {
		out.IsHead = true
		if out.Base, err = git.Head(p.Dir.Path()); err == nil && out.Base != "" {
			found, ok, err = h.Deltas(ctx, out.Base)
		}
	}
	if err != nil || !ok {
		return nil, err
	}
	// What nobody reads by eye is last: it must not use up the room.
	slices.SortStableFunc(found, func(a, b git.Delta) int { return cmp.Compare(codediff.FoldOf(a.Path, ""), codediff.FoldOf(b.Path, "")) })
	r := &codeReader{dir: p.Dir, room: codediff.MaxBytes}
	var missing []string // contents of the commit to be read
	for _, d := range found {
		if isLeft(d.Path, leave) {
			continue
		}
		pair, err := r.readPair(ctx, d)
		if err != nil {
			return nil, err
		}
		pair.Was = dirty[d.Path]
		if isSame(pair) && pair.Before.Mode == pair.After.Mode {
			continue
		}
		if isOwed(pair) {
			missing = append(missing, pair.Before.ID)
		}
		r.pairs = append(r.pairs, pair)
	}
	texts, err := h.Blobs(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i := range r.pairs {
		if isOwed(r.pairs[i]) {
			r.pairs[i].Before.Text, texts = string(texts[0]), texts[1:]
		}
	}
	out.Changes = changesOf(r.pairs)
	return out, nil
}

// maxDirty bounds the files of [Project.ReadDirty].
const maxDirty = 200

// ReadDirty returns git's names of the contents that the checked-out commit does not have, by the paths of the files, of
// a few at most: more are not told from the later work.
func (p *Project) ReadDirty(ctx context.Context, leave []string) map[string]string {
	code, err := p.ReadCode(ctx, "", nil, leave)
	if code == nil || err != nil {
		return nil // the page of the code names the commit it is compared with
	}
	out := map[string]string{}
	for _, f := range code.Files {
		if id := f.ID(); id != "" && len(out) < maxDirty && fs.ValidPath(f.Path) {
			out[f.Path] = id
		}
	}
	return out
}

// isSame reports whether both sides have one content.
func isSame(p codediff.Pair) bool {
	return p.Before != nil && p.After != nil && p.Before.ID == p.After.ID
}

// isOwed reports whether the text of the side of the commit is to be read.
func isOwed(p codediff.Pair) bool {
	return p.Before != nil && p.Before.Unread == "" && p.Before.Mode != git.Submodule && !isSame(p)
}

// judged has the last sets of changes: a page asks for the same ones again and again.
var judged = recent.New[[sha256.Size]byte, codediff.Changes](8)

// changesOf judges the pairs, once for the same ones.
func changesOf(pairs []codediff.Pair) codediff.Changes {
	sum := sha256.New()
	for _, p := range pairs {
		_, _ = fmt.Fprintf(sum, "%q %q %t %t ", p.Path, p.Was, p.Before != nil, p.After != nil)
		for _, side := range []*codediff.Side{p.Before, p.After} {
			if side != nil {
				_, _ = fmt.Fprintf(sum, "%s %s %s", side.Mode, side.ID, side.Unread)
			}
		}
	}
	key := [sha256.Size]byte(sum.Sum(nil))
	out, ok := judged.Get(key)
	if !ok {
		out = codediff.Of(pairs)
		judged.Put(key, out)
	}
	return out
}

// codeReader reads the present files, and bounds the texts of both sides together.
type codeReader struct {
	dir   *durable.Dir
	room  int64
	pairs []codediff.Pair
}

// readPair reads the present side of a file that may have changed, and describes the side of the commit.
func (r *codeReader) readPair(ctx context.Context, d git.Delta) (codediff.Pair, error) {
	pair := codediff.Pair{Path: d.Path}
	if d.Mode != "" {
		pair.Before = &codediff.Side{Mode: d.Mode, ID: d.ID, Size: int64(d.Size)}
	}
	after, err := r.readFile(ctx, d)
	if err != nil {
		return pair, err
	}
	pair.After = after
	if b := pair.Before; b != nil && !isSame(pair) {
		switch {
		case d.Mode == git.Submodule:
			b.Text = d.ID
		case d.Size < 0:
			b.Unread = codediff.Unreadable
		default:
			b.Unread = r.take(b.Size)
		}
	}
	return pair, nil
}

// take takes room for a text, or returns the reason why it may not be read.
func (r *codeReader) take(size int64) codediff.Unread {
	switch {
	case size > codediff.MaxFile:
		return codediff.TooLarge
	case size > r.room, len(r.pairs) >= codediff.MaxFiles:
		return codediff.TooMuch
	}
	r.room -= size
	return ""
}

// readFile reads a file of the disk; nil if it does not exist.
func (r *codeReader) readFile(ctx context.Context, d git.Delta) (*codediff.Side, error) {
	if !fs.ValidPath(d.Path) { // a name of stray bytes: git alone has seen the file
		if d.Mode != "" && d.NewMode == "" {
			return nil, nil
		}
		return &codediff.Side{Mode: cmp.Or(d.NewMode, "100644"), Unread: codediff.Unreadable}, nil
	}
	info, err := r.dir.Lstat(d.Path)
	if err != nil {
		return nil, nil //nolint:nilerr // it is gone, or its folder is a link
	}
	side := &codediff.Side{Mode: d.NewMode, Size: info.Size()}
	switch mode := info.Mode(); {
	case info.IsDir() && (d.Nested || d.Mode == git.Submodule || d.NewMode == git.Submodule):
		return r.readSubmodule(d), nil
	case mode&fs.ModeSymlink != 0:
		side.Mode = "120000"
		if side.Text, err = fs.ReadLink(r.dir.Tree(), d.Path); err != nil {
			side.Unread = codediff.Unreadable
		}
		side.ID = blobID([]byte(side.Text), d.ID)
		return side, nil
	case !mode.IsRegular():
		return nil, nil // a folder in place of the file, or a pipe
	case side.Mode == "" || side.Mode == "120000" || side.Mode == git.Submodule:
		side.Mode = "100644"
		if mode&0o100 != 0 {
			side.Mode = "100755"
		}
	}
	return side, r.readContent(ctx, d, side)
}

func (r *codeReader) readSubmodule(d git.Delta) *codediff.Side {
	side := &codediff.Side{Mode: git.Submodule}
	if _, err := r.dir.Lstat(d.Path + "/.git"); err == nil {
		side.ID, _ = git.Head(r.dir.Join(d.Path)) // a broken one has no commit to name
	}
	side.ID = cmp.Or(side.ID, d.ID) // not checked out
	side.Text = side.ID
	return side
}

// readContent reads the content of a file, or only the id if it is too much.
func (r *codeReader) readContent(ctx context.Context, d git.Delta, side *codediff.Side) (err error) {
	if side.Unread = r.take(side.Size); side.Unread != "" {
		if side.Size == int64(d.Size) { // it can be the same
			side.ID, err = contentID(ctx, r.dir.Tree(), d.Path, hashLike(d.ID))
		}
		return err
	}
	data, err := r.dir.ReadFile(d.Path, codediff.MaxFile)
	if err != nil {
		side.Unread = codediff.Unreadable
		return nil //nolint:nilerr // the page says so
	}
	side.Text, side.ID, side.Size = string(data), blobID(data, d.ID), int64(len(data))
	if side.ID == d.ID {
		r.room += side.Size
	}
	return nil
}

// blobID returns git's name for a content, in the form of another name.
func blobID(data []byte, like string) string {
	sum := hashLike(like)
	_, _ = fmt.Fprintf(sum, "blob %d\x00", len(data))
	_, _ = sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

// hashLike returns the hash with which git made a name.
func hashLike(name string) hash.Hash {
	if len(name) == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // as git names contents
}
