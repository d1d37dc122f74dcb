// Package obeyed knows the files of a project that other programs execute or obey without being told to,
// for example hooks of git, servers of assistants and tasks of editors. Writing one gives orders to an
// unwatched program, so no agent may. The list is files.txt, with the programs behind each file.
package obeyed

import (
	"crypto/sha256"
	_ "embed" // the list
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

//go:embed files.txt
var text string

// File is an entry of the list, which counts in every folder of a project.
type File struct {
	// Name is a path in slashes, in which * stands for any characters of a part. One of a folder
	// stands for all in it.
	Name string
	// Folder is true for a folder.
	Folder bool
	// By names the programs that obey the file.
	By string
	// Fixed reports whether nobody can open the file to agents.
	Fixed bool

	parts []string // lower case
}

// files returns the list.
var files = sync.OnceValue(func() (all []File) {
	for line := range strings.Lines(text) {
		name, by, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		name, fixed := strings.CutPrefix(name, "!")
		name, folder := strings.CutSuffix(name, "/")
		all = append(all, File{name, folder, by, fixed, partsOf(name)})
	}
	return all
})

func partsOf(name string) []string { return strings.Split(strings.ToLower(name), "/") }

// Folder returns a folder with the matches of a folder in the list.
func Folder(name string) File { return File{Name: name, Folder: true, parts: partsOf(name)} }

// List has the files closed to agents.
type List []File

// Closed returns the list without the files opened by a person, each by its name in the list. unknown are
// the names missing in the list, or of files which cannot be opened.
func Closed(opened ...string) (l List, unknown []string) {
	l = slices.Clone(files())
	for _, name := range opened {
		before := len(l)
		l = slices.DeleteFunc(l, func(f File) bool { return !f.Fixed && f.Name == strings.TrimSuffix(name, "/") })
		if len(l) == before {
			unknown = append(unknown, name)
		}
	}
	return l, unknown
}

// Match returns the file of the list at or above a path, in slashes, in any folder and in any spelling which a disk may treat as the same.
func (l List) Match(name string) (File, bool) {
	var parts []spelling
	for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		parts = append(parts, spellingOf(part))
	}
	for _, f := range l {
		for at := range len(parts) - len(f.parts) + 1 {
			end := at + len(f.parts)
			mayEnd := f.Folder || end == len(parts)
			if mayEnd && slices.EqualFunc(parts[at:end], f.parts, spelling.mayEqual) {
				return f, true
			}
		}
	}
	return File{}, false
}

// hidden cannot even be read.
var hidden = List{Folder(Git)}

// CheckRead refuses paths that agents cannot read, as Match has them.
func CheckRead(name string) error {
	if which, ok := hidden.Match(name); ok {
		return fmt.Errorf("%s belongs to version control and cannot be used (%s)", name, which.Name)
	}
	return nil
}

// CheckWrite refuses paths that agents cannot write, as Match has them, of the paths that [CheckRead] allows.
func (l List) CheckWrite(name string) error {
	if which, ok := l.Match(name); ok {
		return fmt.Errorf("%s cannot be written: %s gives orders to other programs (%s), and is the person's to change", name, which.Name, which.By)
	}
	return nil
}

// maxWalk is the greatest number of files of a project to look through.
const maxWalk = 200_000

// State has files by their paths, with a description of each.
type State map[string]string

// maxHashed is the size up to which a file is compared by its text, and not by its time.
const maxHashed = 1 << 20

// In returns the files of the list in a folder, or nil if the folder has more than maxWalk files. It leaves
// out installed packages, the folders written only by this program and git, whose names alone it has, and
// the files for which skip is true.
func (l List) In(tree fs.FS, skip func(name string) bool) State {
	found, n := State{}, 0
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if n++; n > maxWalk {
			return fs.ErrInvalid
		}
		if err != nil { // it cannot be read, or has just gone
			return nil
		}
		f, ok := l.Match(name)
		switch {
		case ok && f.Name == Git && d.IsDir():
			found[name] = "a repository"
			return fs.SkipDir
		case d.IsDir() && (f.Fixed || d.Name() == "node_modules"):
			return fs.SkipDir
		case !ok || d.IsDir() || skip(name):
			return nil
		}
		if info, err := d.Info(); err == nil {
			found[name] = describeFile(tree, name, info)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return found
}

// Git is the name of the entry for repositories.
const Git = ".git"

func describeFile(tree fs.FS, name string, info fs.FileInfo) string {
	if info.Mode().IsRegular() && info.Size() <= maxHashed {
		if data, err := durable.ReadFile(tree, name, maxHashed); err == nil {
			return fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(data))
		}
	}
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
}

// Since returns the first new, changed or missing file since an earlier state, or "" if there is none or one of
// the states is unknown.
func (s State) Since(before State) string {
	if before == nil || s == nil {
		return ""
	}
	all := maps.Clone(before)
	maps.Copy(all, s)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if s[name] != before[name] {
			return name
		}
	}
	return ""
}

// shapeless are the characters a disk may leave out when it compares names.
var shapeless = []*unicode.RangeTable{unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point}

// spelling is a part of a path as disks compare it: some ignore the case, characters without a
// shape, dots and blanks at the end, or streams behind a colon.
type spelling struct {
	name  string
	short string // the beginning of a short name, for example of git~1; "" if it is none
}

func spellingOf(part string) spelling {
	part, _, _ = strings.Cut(part, ":")
	part = strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.In(r, shapeless...) {
			return -1
		}
		return foldCase(r)
	}, part), ". ")
	start, number, _ := strings.Cut(part, "~")
	if len(start) < 2 || number == "" || number[0] < '0' || number[0] > '9' {
		start = ""
	}
	return spelling{part, start}
}

// foldCase returns the same rune for all runes that differ only in case.
func foldCase(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}

// mayEqual reports whether a part of a path and a name of the list may be the same to a disk.
func (s spelling) mayEqual(name string) bool {
	if ok, err := path.Match(name, s.name); ok || err != nil || s.short == "" {
		return ok
	}
	name, _, _ = strings.Cut(strings.TrimLeft(name, "."), "*")
	if strings.HasPrefix(name, s.short) {
		return true
	}
	// After four names with the same beginning, Windows takes two letters and a hash, for example gi7eb5~1.
	return len(s.short) == 6 && strings.HasPrefix(name, s.short[:2]) && strings.Trim(s.short[2:], "0123456789abcdef") == ""
}
