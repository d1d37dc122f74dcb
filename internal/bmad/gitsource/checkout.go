package gitsource

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/git"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// attributes keeps the files of a copy byte for byte as they are in the repository, and runs no
// program for them. It takes precedence over the repository's attributes.
const attributes = "* -text -ident !filter !working-tree-encoding\n"

// checkOut puts the files of a commit into the folder tree of temp.
func (u *update) checkOut(ctx context.Context, g remote, temp, commit string) error {
	files := &treeCounter{}
	err := g.run(ctx, files, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
	if files.tooMuch() {
		return fault.New(fault.NotFound, "the repository has more than %d files or %d MB at commit %s", MaxFiles, MaxBytes>>20, commit[:12]).
			WithHint("use a smaller repository, or a branch with less in it")
	}
	if err != nil {
		return err
	}
	info := u.Join(temp + "/git/info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte(attributes), 0o600); err != nil {
		return err
	}
	if _, err := g.answer(ctx, "read-tree", "-m", "-u", commit); err != nil {
		return err
	}
	entries, err := u.ReadDir(temp + "/tree")
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fault.New(fault.NotFound, "commit %s has no files", commit[:12]).WithHint("name a branch, tag or commit with something in it")
	}
	return u.sync(ctx, temp+"/tree")
}

// publish gives a checkout its name, durably; it is served if the record says so.
func (u *update) publish(tree, commit string) error {
	aside := u.in(durable.TempName(checkoutName))
	if u.Exists(u.in(commit)) { // damaged or not a copy; it may be served until the new one is in place
		if err := u.Rename(u.in(commit), aside); err != nil {
			return err
		}
	}
	if err := u.Move(tree, u.in(commit)); err != nil {
		_ = u.Rename(aside, u.in(commit)) // if there was one
		return lang.Errorf("the new copy cannot be put in place: %w", err)
	}
	_ = u.root.RemoveAll(filepath.FromSlash(aside)) // else the next update does
	return nil
}

// revive makes an existing copy the newest one, in case the record is lost.
func (u *update) revive(commit string) error {
	newest, at := u.newest()
	if newest == commit {
		return nil
	}
	at = at.Add(time.Second)
	return u.root.Chtimes(filepath.FromSlash(u.in(commit)), at, at)
}

// treeCounter counts the files that git ls-tree -l -z lists, and stops it if there are too many.
type treeCounter struct {
	files   int
	bytes   int64
	partial []byte
}

// tooMuch reports whether this is more than a copy may have.
func (c *treeCounter) tooMuch() bool { return c.files > MaxFiles || c.bytes > MaxBytes }

// Write implements io.Writer.
func (c *treeCounter) Write(p []byte) (int, error) {
	c.partial = append(c.partial, p...)
	for !c.tooMuch() {
		entry, rest, whole := bytes.Cut(c.partial, []byte{0})
		if !whole {
			break
		}
		c.partial = rest
		c.files++
		about, _, _ := strings.Cut(string(entry), "\t")
		if field := strings.Fields(about); len(field) == 4 {
			size, _ := strconv.ParseInt(field[3], 10, 64) // "-" for a submodule, which is not fetched
			c.bytes += size
		}
	}
	if c.tooMuch() || len(c.partial) > maxAnswer {
		return 0, git.ErrTooMuch
	}
	return len(p), nil
}

// syncers is how many files are synced at once; a disk confirms several together.
const syncers = 16

// sync makes all of a folder durable.
func (u *update) sync(ctx context.Context, name string) error {
	names := make(chan string)
	failed := make([]error, syncers)
	var wait sync.WaitGroup
	for n := range failed {
		wait.Go(func() {
			for name := range names {
				if failed[n] == nil {
					failed[n] = u.SyncDir(name) // it opens and syncs files as well as folders
				}
			}
		})
	}
	err := fs.WalkDir(u.Tree(), name, func(name string, e fs.DirEntry, err error) error {
		if err == nil && (e.IsDir() || e.Type().IsRegular()) {
			names <- name
		}
		if errors.Is(context.Cause(ctx), errTimeout) {
			return late(lang.T("writing the files"), u.remote.timeout)
		}
		return errors.Join(err, ctx.Err())
	})
	close(names)
	wait.Wait()
	return errors.Join(append(failed, err)...)
}
