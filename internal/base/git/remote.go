package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
)

// remotes has the remote of each text of settings read so far: git is a process.
var remotes = recent.New[string, string](100)

// Origin says where the repository of a folder comes from.
type Origin struct {
	// Address is the address of the remote origin, or of the only one; "" if there is none.
	Address string
	// Inside is the path of the folder in the work tree, "." for the top.
	Inside string
	// Home is the folder for recognizing the repository, without links, from all of its work trees: their
	// common git directory. Anybody can write a .git with somebody else's git directory, so the git
	// directory of a work tree counts only if it knows the work tree; else Home is the top of the work
	// tree. It is "" outside of repositories.
	Home string
}

// OriginOf returns the origin of the repository in which a folder lies.
func OriginOf(ctx context.Context, folder string) (o Origin, err error) {
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return o, err
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return o, err
	}
	if o.Inside, err = filepath.Rel(r.tree, real); err != nil {
		return o, err
	}
	o.Inside, o.Home = filepath.ToSlash(o.Inside), r.homeFolder()
	name := filepath.Join(r.common, "config")
	text, err := durable.ReadPath(name, maxText)
	if err != nil {
		return o, refusalOf(lang.T("its settings cannot be read"), name)
	}
	if known, ok := remotes.Get(string(text)); ok {
		o.Address = known
		return o, nil
	}
	out := &Bounded{Most: maxText}
	args := []string{"config", "--file", "-", "--no-includes", "-z", "--get-regexp", `^remote\..*\.url$`}
	list := Call{Args: args, In: bytes.NewReader(text), Out: out}
	if err := list.Run(ctx); err != nil && !saysNothing(err) {
		return o, err
	}
	o.Address = chooseRemote(string(out.Data))
	remotes.Put(string(text), o.Address)
	return o, nil
}

// homeFolder returns the Home of an Origin.
func (r *repository) homeFolder() string {
	own := filepath.Join(r.tree, ".git")
	if r.dir == own && r.common == own {
		return own
	}
	common, errCommon := filepath.EvalSymlinks(r.common)
	dir, errDir := filepath.EvalSymlinks(r.dir)
	text, errText := durable.ReadPath(filepath.Join(r.dir, "gitdir"), maxPointer)
	back := resolvePath(dir, strings.TrimRight(string(text), "\r\n"))
	tree, errTree := filepath.EvalSymlinks(filepath.Dir(back)) // by path: a link can make another file of it
	if errors.Join(errCommon, errDir, errText, errTree) == nil && filepath.Dir(dir) == filepath.Join(common, "worktrees") &&
		tree == r.tree && filepath.Base(back) == ".git" {
		return common
	}
	return r.tree
}

// checkOwn returns an error if the git directory may be of other files than the work tree's.
func (r *repository) checkOwn() error {
	objects := filepath.Join(r.common, "objects")
	dir, err := durable.OpenDirIn(r.common, "objects", objects)
	if err == nil {
		defer func() { _ = dir.Close() }()
	}
	for _, folder := range []string{".", "pack"} {
		var entries []fs.DirEntry
		if err == nil {
			entries, err = dir.ReadDir(folder)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		isLink := func(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }
		if err != nil || slices.ContainsFunc(entries, isLink) {
			return refusalOf(lang.T("a link leads from its objects elsewhere"), objects)
		}
	}
	common, err := filepath.EvalSymlinks(r.common)
	if err != nil {
		return refusalOf(lang.T("its .git cannot be read"), r.common)
	}
	inside, err := filepath.Rel(r.tree, common)
	isInside := err == nil && filepath.IsLocal(inside)
	if isInside || r.isNamed || r.homeFolder() == common {
		return nil
	}
	return refusalOf(lang.T("it does not name this folder, so it may be of other files; if it is of these, set core.worktree in it"), r.common)
}

// chooseRemote returns the address of origin, else that of the only remote, from git's list.
func chooseRemote(list string) string {
	found, names := "", 0
	for entry := range strings.SplitSeq(list, "\x00") {
		key, address, _ := strings.Cut(entry, "\n")
		switch {
		case key == "remote.origin.url":
			return address
		case key != "":
			found, names = address, names+1
		}
	}
	if names > 1 {
		return ""
	}
	return found
}
