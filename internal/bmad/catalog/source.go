package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
)

const (
	// MaxFile is the largest file that is read, in bytes.
	MaxFile = 2 << 20
	// maxHead is how much of a file is read for its front matter, in bytes.
	maxHead = 8 << 10
	// maxEntries bounds what is looked at in one installation: beyond, it is no installation
	// but a disk.
	maxEntries = 100_000
	// maxDepth bounds how deep an installation is looked into.
	maxDepth = 10
	// maxLinks bounds how many symbolic links are followed for one path.
	maxLinks = 20
)

// found is what a source was found to hold.
type found struct {
	Source
	installs []*installation
	items    []*Item
	trees    []string
	problems []Problem
	// stamps has what tells a changed file or folder, by path.
	stamps map[string]stamp
	// scripts is the folder of the scripts that skills run, in a repository; "" where there is
	// none.
	scripts string
	// skills has those that are known by name or id.
	skills map[string]*Item
	// before are the sources before this one.
	before []*found
	// missing are the skills that are listed or described and that this source has not.
	missing []missing
	// order is its place among the sources.
	order int
	// reported are the problems that are known, byShort the items by kind and short name.
	reported map[Problem]bool
	byShort  map[itemKey][]*Item
}

// itemKey is what items of one source share that can be the same.
type itemKey struct {
	kind Kind
	name string
}

// missing is a skill that a source has not; another may have it.
type missing struct {
	id, file, problem string
}

// installation is one tree of the method.
type installation struct {
	// dir is its folder in the source.
	dir     string
	layout  string
	version string
	// modules has their versions, by name.
	modules map[string]string
	in      *found
	// agents has what the configuration says of agents, by id.
	agents map[string]roster
	// ids has the modules of skills, by id, as the manifest has them.
	ids map[string]string
	// old has the present names of skills, by the ones they had.
	old map[string]renamed
	// stale are the rows of its manifests for which there is no file.
	stale []staleRow
	// only is the one module that a folder is, where it is not a folder of modules.
	only string
	// described has the files that describe modules, by the modules' names.
	described map[string]string
	// helps are the files that tell codes and phases, where there is no manifest that does.
	helps []string
}

// install adds an installation to the source.
func (f *found) install(dir, layout string) *installation {
	in := &installation{
		dir: dir, layout: layout, in: f, modules: map[string]string{}, agents: map[string]roster{},
		ids: map[string]string{}, old: map[string]renamed{}, described: map[string]string{},
	}
	f.installs = append(f.installs, in)
	return in
}

// renamed is what became of a skill.
type renamed struct {
	now string
	// intent is which part of it does what the earlier one did; "" where it is all.
	intent string
}

type stamp struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), changed: info.ModTime(), mode: info.Mode()}
}

// stat describes a file of a source, for what tells that it has changed. Where the source is
// a folder of the system its path is used: this is asked for each file of a large
// installation, and nothing of the file is shown.
func (s Source) stat(name string) (fs.FileInfo, error) {
	if s.Dir != "" {
		return os.Stat(filepath.Join(s.Dir, filepath.FromSlash(name)))
	}
	return fs.Stat(s.FS, name)
}

// Fresh reports whether the disk still is as it was when the catalog was made.
func (c *Catalog) Fresh() bool {
	for _, f := range c.sources {
		for name, was := range f.stamps {
			info, err := f.stat(name)
			if err != nil && was != (stamp{}) || err == nil && stampOf(info) != was {
				return false
			}
		}
	}
	return true
}

// Folders returns the folders whose changes change the catalog, as paths of the system: those
// that were looked into, and those of the files that were read or would be.
func (c *Catalog) Folders() []string {
	var out []string
	for _, f := range c.sources {
		if f.Dir == "" {
			continue
		}
		folders := map[string]bool{}
		for name, s := range f.stamps {
			if s.mode.IsDir() {
				folders[name] = true
				continue
			}
			above := path.Dir(name)
			if _, known := folders[above]; !known && (s != stamp{} || f.serves(above)) {
				info, err := f.stat(above)
				folders[above] = err == nil && info.IsDir()
			}
		}
		for name, there := range folders {
			if there {
				out = append(out, filepath.Join(f.Dir, filepath.FromSlash(name)))
			}
		}
	}
	slices.Sort(out)
	return out
}

// note remembers what a path is now, so that a change of it is seen; a path that is not
// there is remembered too.
func (f *found) note(name string) (fs.FileInfo, bool) {
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		f.stamps[name] = stamp{}
		if f.Dir != "" { // what cannot be opened here may still be there
			if info, err := f.stat(name); err == nil {
				f.stamps[name] = stampOf(info)
			}
		}
		return nil, false
	}
	f.stamps[name] = stampOf(info)
	return info, true
}

func (f *found) isDir(name string) bool {
	info, ok := f.note(name)
	return ok && info.IsDir()
}

func (f *found) isFile(name string) bool {
	info, ok := f.note(name)
	return ok && info.Mode().IsRegular()
}

// list returns what is in a folder, sorted by name; a folder that is not there is empty.
func (f *found) list(dir string) []fs.DirEntry {
	if !f.isDir(dir) {
		return nil
	}
	entries, err := fs.ReadDir(f.FS, dir)
	if err != nil {
		f.problem(dir, "the folder cannot be listed: %v", err)
	}
	return entries
}

// read returns the whole text of a file that describes others; "" where there is none.
func (f *found) read(name string) string {
	info, ok := f.note(name)
	if !ok {
		return ""
	}
	switch {
	case !info.Mode().IsRegular():
		f.problem(name, "it is no regular file")
		return ""
	case info.Size() > MaxFile:
		f.problem(name, "it has %d bytes; at most %d are read", info.Size(), MaxFile)
		return ""
	}
	real, stays := f.within(name)
	if !stays {
		return ""
	}
	data, err := readLimited(f.FS, real, MaxFile)
	if err != nil {
		f.problem(name, "it cannot be read: %v", err)
		return ""
	}
	return text(data)
}

// within returns the path that a file's stands for, if that is in its tree, or where there is
// none yet, in its folder.
func (f *found) within(name string) (string, bool) {
	tree, served := f.tree(name)
	if !served {
		tree = path.Dir(name)
	}
	real, stays := inside(f.FS, tree, name)
	if !stays || versioned(real) {
		f.problem(name, "it is a symbolic link that leads out of the installation")
		return "", false
	}
	return real, true
}

// head returns the beginning of a file.
func (f *found) head(name string) string {
	if info, ok := f.note(name); !ok || !info.Mode().IsRegular() {
		return ""
	}
	real, stays := f.within(name)
	if !stays {
		return ""
	}
	data, err := readLimited(f.FS, real, maxHead)
	if err != nil && !errors.Is(err, errTooLarge) {
		f.problem(name, "it cannot be read: %v", err)
		return ""
	}
	return text(data)
}

var errTooLarge = errors.New("it is too large")

// readLimited returns at most so many bytes of a file, and errTooLarge where there are more.
func readLimited(fsys fs.FS, name string, limit int64) ([]byte, error) {
	data, more, err := durable.ReadHead(fsys, name, limit)
	if err == nil && more {
		err = errTooLarge
	}
	return data, err
}

// text returns bytes as text for parsers: without a byte order mark, with lines that end in
// a line feed.
func text(data []byte) string {
	s := strings.TrimPrefix(string(data), "\ufeff")
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd")
}

// inside returns the path that a path in a tree stands for, with symbolic links followed, and
// whether it stays in the tree.
func inside(fsys fs.FS, tree, name string) (string, bool) {
	rest := strings.Split(strings.TrimPrefix(strings.TrimPrefix(name, tree), "/"), "/")
	if tree == "." {
		rest = strings.Split(name, "/")
	}
	at := tree
	links := 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if at == tree {
				return "", false
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := fs.Lstat(fsys, next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			at = next // what is not there fails when it is opened
			continue
		}
		target, err := fs.ReadLink(fsys, next)
		if links++; err != nil || links > maxLinks || path.IsAbs(target) || strings.Contains(target, `\`) {
			return "", false
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, at == tree || tree == "." || strings.HasPrefix(at, tree+"/")
}

// leadsUp reports whether a symbolic link leads out of the source, or to a folder that it lies
// in itself: as a tree that would be far more than an installation or a skill.
func (f *found) leadsUp(name string) bool {
	real, stays := inside(f.FS, ".", name)
	return !stays || real == "." || strings.HasPrefix(name, real+"/")
}

// versioned reports whether a path lies in what version control keeps, or names the
// environment of a program: both can hold passwords.
func versioned(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		part = strings.ToLower(part)
		return part == ".git" || part == "git~1" /* as Windows calls it too */ || part == ".env" || strings.HasPrefix(part, ".env.")
	})
}

func (f *found) serves(name string) bool {
	_, served := f.tree(name)
	return served
}

// tree returns the tree that a path lies in.
func (f *found) tree(name string) (string, bool) {
	if versioned(name) {
		return "", false
	}
	for _, t := range f.trees {
		if t == "." || name == t || strings.HasPrefix(name, t+"/") {
			return t, true
		}
	}
	return "", false
}

// outermost returns the trees that lie in no other, in order.
func (f *found) outermost() []string {
	var out []string
	for _, tree := range slices.Sorted(slices.Values(f.trees)) {
		if !slices.ContainsFunc(out, func(t string) bool { return t == "." || strings.HasPrefix(tree, t+"/") }) {
			out = append(out, tree)
		}
	}
	return out
}

// uri returns the address of a file of the source.
func (f *found) uri(name string) string {
	if name == "" {
		return ""
	}
	return Address(f.Name, name)
}
