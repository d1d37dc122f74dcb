package project

import (
	"context"
	"crypto/sha1" //nolint:gosec // as git names contents
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
)

// The bounds on the contents read for one tree. Beyond them a folder without git counts by names and sizes only.
const (
	maxContents  = 1 << 30
	contentsTime = 20 * time.Second
)

// maxTried bounds the documents that may or may not have been there before.
const maxTried = 12

// Tree stands for the contents of the project's files. Times and commits are of no matter.
type Tree struct {
	sum mark
	// byGit is true if git has named the files, sized if only their sizes are known.
	byGit, sized bool
	documents    map[string]mark
}

// mark stands for a set of files: names and sizes in the first half, the contents in the second. The mark of a set is
// the sum of those of the files, so that a file can be taken out again.
type mark [2 * sha256.Size]byte

func (m mark) plus(other mark) mark {
	for i := range m {
		m[i] ^= other[i]
	}
	return m
}

func newMark(name string, size int64, content string) (out mark) {
	bySize, byContent := sha256.Sum256(fmt.Appendf(nil, "%q %d", name, size)), sha256.Sum256(fmt.Appendf(nil, "%q %s", name, content))
	copy(out[:], bySize[:])
	copy(out[sha256.Size:], byContent[:])
	return out
}

// The forms of a tree in a session.
const (
	formGit   = "git:"
	formFiles = "files:"
	formSizes = "sizes:"
)

// String returns the tree in the form that [Project.ReadTree] and [Tree.Same] take.
func (t *Tree) String() string {
	switch {
	case t.byGit:
		return formGit + hex.EncodeToString(t.sum[sha256.Size:])
	case t.sized:
		return formSizes + hex.EncodeToString(t.sum[:sha256.Size])
	}
	return formFiles + hex.EncodeToString(t.sum[:])
}

// Same reports whether the project is as it was at an earlier tree. known is false if that cannot be determined. A document
// may have been there at that time, or not.
func (t *Tree) Same(before string) (same, known bool) {
	form, text, _ := strings.Cut(before, ":")
	was, err := hex.DecodeString(text)
	from, to := 0, len(t.sum)
	switch {
	case form+":" == formGit:
		from = sha256.Size
	case t.sized, form+":" == formSizes:
		to = sha256.Size
		was = was[:min(len(was), to)]
	}
	if err != nil || len(was) != to-from || t.byGit != (form+":" == formGit) {
		return false, false
	}
	var documents []mark
	for _, m := range t.documents {
		documents = append(documents, m)
	}
	same = t.sum.matches(was, from, to, documents[:min(len(documents), maxTried)])
	return same, !same || to == len(t.sum)
}

// matches reports whether a part of the mark is as it was, with some of the documents or without any.
func (m mark) matches(was []byte, from, to int, documents []mark) bool {
	if len(documents) == 0 {
		return string(m[from:to]) == string(was)
	}
	return m.matches(was, from, to, documents[1:]) || m.plus(documents[0]).matches(was, from, to, documents[1:])
}

// ReadTree reads the files of the project as git sees them, else those that [Project.Fingerprint] counts. before is an
// earlier tree to compare with, or "". leave names files and folders, with a slash behind them, that do not count, and
// documents files that did not count as work when they were handed in.
func (p *Project) ReadTree(ctx context.Context, before string, leave, documents []string) (*Tree, error) {
	limited, cancel := context.WithTimeout(ctx, contentsTime)
	defer cancel()
	leaves := func(name string) bool { return isLeft(name, leave) }
	t := &Tree{documents: map[string]mark{}}
	err := p.addFiles(limited, t, before, leaves, documents)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return nil, fault.New(fault.Storage, "reading its files took longer than %s", contentsTime).WithHint("let git ignore the files that are not work")
	}
	return t, err
}

// isLeft reports whether a file or folder is one of the names, or below one with a slash behind it.
func isLeft(name string, leave []string) bool {
	return slices.ContainsFunc(leave, func(l string) bool { return name == l || strings.HasSuffix(l, "/") && strings.HasPrefix(name+"/", l) })
}

func (p *Project) addFiles(ctx context.Context, t *Tree, before string, leaves func(string) bool, documents []string) error {
	add := func(name string, m mark) {
		if slices.Contains(documents, name) {
			t.documents[name] = m
			return
		}
		t.sum = t.sum.plus(m)
	}
	if before == "" || strings.HasPrefix(before, formGit) {
		ids, err := git.Contents(ctx, p.Dir.Path(), func(name string) bool {
			return leaves(name) || slices.ContainsFunc(strings.Split(path.Dir(name), "/"), isOutput)
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && before != "":
			return err
		}
		if t.byGit = err == nil && len(ids) > 0 || before != "" && ids != nil; t.byGit {
			return p.addByGit(ctx, ids, leaves, add)
		}
	}
	files, size, err := p.listFiles(ctx, leaves)
	if err != nil {
		return err
	}
	t.sized = len(files) > maxTree || size > maxContents || strings.HasPrefix(before, formSizes)
	for name, size := range files {
		content := ""
		if !t.sized {
			if content, err = contentID(ctx, p.Dir.Tree(), name, sha256.New()); err != nil {
				return err
			}
		}
		add(name, newMark(name, size, content))
	}
	return nil
}

// addByGit adds the files that git has named, and reads those that are not as git knows them.
func (p *Project) addByGit(ctx context.Context, ids map[string]string, leaves func(string) bool, add func(string, mark)) error {
	newHash := sha1.New
	for _, id := range ids {
		if len(id) == 2*sha256.Size {
			newHash = sha256.New
		}
	}
	for name, id := range ids {
		if leaves(name) {
			continue
		}
		if id == "" {
			var err error
			if id, err = contentID(ctx, p.Dir.Tree(), name, newHash()); err != nil {
				return err
			}
		}
		if id != "" {
			add(name, newMark(name, 0, id))
		}
	}
	return nil
}

// listFiles returns the files that count as work, with their sizes.
func (p *Project) listFiles(ctx context.Context, leaves func(string) bool) (files map[string]int64, size int64, err error) {
	files = map[string]int64{}
	err = fs.WalkDir(p.Dir.Tree(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && name != "." && (isSkipped(name) || leaves(name+"/")):
			return fs.SkipDir
		case d.IsDir(), leaves(name):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			files[name] = info.Size()
			size += info.Size()
		}
		return err
	})
	return files, size, err
}

// contentID returns git's name for the content of a file or link, "" for anything else and if it is gone.
func contentID(ctx context.Context, tree fs.FS, name string, sum hash.Hash) (string, error) {
	info, err := fs.Lstat(tree, name)
	switch {
	case err != nil:
		return "", nil //nolint:nilerr // gone
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(tree, name)
		_, _ = fmt.Fprintf(sum, "blob %d\x00%s", len(target), target)
		return hex.EncodeToString(sum.Sum(nil)), err
	case !info.Mode().IsRegular(): // a pipe would block
		return "", nil
	}
	f, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	_, _ = fmt.Fprintf(sum, "blob %d\x00", info.Size())
	for err == nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		_, err = io.CopyN(sum, f, 1<<20)
	}
	if !errors.Is(err, io.EOF) {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Absent returns those of the files that are nowhere in the project. A name can leave out folders before it. It returns
// none if there are too many files to look at.
func (p *Project) Absent(ctx context.Context, names []string) []string {
	out := slices.DeleteFunc(slices.Clone(names), p.Dir.Exists)
	if len(out) == 0 {
		return nil
	}
	n := 0
	err := fs.WalkDir(p.Dir.Tree(), ".", func(name string, d fs.DirEntry, err error) error {
		switch n++; {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case n > 2*maxTree:
			return fs.ErrInvalid
		case d.IsDir() && slices.Contains([]string{".git", ".bmad-task", "node_modules"}, d.Name()):
			return fs.SkipDir
		}
		if out = slices.DeleteFunc(out, func(named string) bool { return strings.HasSuffix("/"+name, "/"+named) }); len(out) == 0 {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}
