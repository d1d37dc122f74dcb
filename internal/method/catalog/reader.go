package catalog

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// fileReader reads the files in the trees of a source, and remembers all looked-up paths, so that a change
// is noticed.
type fileReader struct {
	Source
	trees    []string
	problems []Problem
	// stamps identify the version of each file and folder, by path.
	stamps map[string]stamp
	// names are the names in the source's folder at the time of the scan.
	names topNames
	// reported are the known problems.
	reported map[[2]string]bool
}

// recordState records the present state of a path, also of a missing one, to notice a change.
func (f *fileReader) recordState(name string) (fs.FileInfo, bool) {
	if !f.names.mayHold(name) {
		f.stamps[name] = stamp{}
		return nil, false
	}
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		f.stamps[name] = stamp{}
		if f.Dir != "" { // a file may exist even if it cannot be opened here
			if info, err := f.stat(name); err == nil {
				f.stamps[name] = stampOf(info)
			}
		}
		return nil, false
	}
	f.stamps[name] = stampOf(info)
	return info, true
}

func (f *fileReader) isDir(name string) bool {
	info, ok := f.recordState(name)
	return ok && info.IsDir()
}

func (f *fileReader) isFile(name string) bool {
	info, ok := f.recordState(name)
	return ok && info.Mode().IsRegular()
}

// list returns the entries of a folder, sorted by name; a missing folder is empty.
func (f *fileReader) list(dir string) []fs.DirEntry {
	if !f.isDir(dir) {
		return nil
	}
	entries, err := fs.ReadDir(f.FS, dir)
	if err != nil {
		f.addProblem(dir, "the folder cannot be listed: %v", err)
	}
	return entries
}

// read returns the whole text of a description file, or "" if it cannot be read.
func (f *fileReader) read(name string) string {
	info, ok := f.recordState(name)
	switch {
	case !ok:
		return ""
	case !info.Mode().IsRegular():
		f.addProblem(name, "not a regular file")
		return ""
	case info.Size() > MaxFile:
		f.addProblem(name, "it has %d bytes; at most %d are read", info.Size(), MaxFile)
		return ""
	}
	text := f.readAtMost(name, MaxFile)
	if strings.ContainsRune(text, utf8.RuneError) {
		f.addProblem(name, "it is not in UTF-8, and some of its letters are lost")
	}
	return text
}

// readHead returns the beginning of a file.
func (f *fileReader) readHead(name string) string {
	if !f.isFile(name) {
		return ""
	}
	return f.readAtMost(name, maxHead)
}

// readAtMost returns at most limit bytes of a file. A longer file is an error except for a head.
func (f *fileReader) readAtMost(name string, limit int64) string {
	real, stays := f.resolveInTree(name)
	if !stays {
		return ""
	}
	data, err := readLimited(f.FS, real, limit)
	if err != nil && (limit == MaxFile || !errors.Is(err, errTooLarge)) {
		f.addProblem(name, "it cannot be read: %v", err)
		return ""
	}
	return format.Normalize(data)
}

// readYAML reads a YAML file of the installation into a value; a missing or malformed one leaves it
// unchanged.
func (f *fileReader) readYAML(name string, into any) {
	text := f.read(name)
	if text == "" {
		return
	}
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		f.addProblem(name, "it is not valid YAML: %v", err)
	}
}

// readTOML reads a TOML file of the installation; a missing or malformed one is empty.
func (f *fileReader) readTOML(name string) map[string]any {
	values, err := format.ParseTOML(f.read(name), format.MaxKeys(name))
	if err != nil {
		f.addProblem(name, "it is not valid TOML: %v", err)
	}
	return values
}

// maxRows bounds the rows of a manifest, since each costs a search.
const maxRows = 20_000

// tableColumns are columns of which every manifest has one.
var tableColumns = []string{"name", "path", "canonicalId", "skill", "module"}

// readTable reads a CSV file of the installation; a missing one has no rows.
func (f *fileReader) readTable(name string) []format.Row {
	text := f.read(name)
	if text == "" {
		return nil
	}
	rows, err := format.Rows(text)
	switch {
	case err != nil:
		f.addProblem(name, "some of its rows cannot be read: %v", err)
	case strings.Count(text, `"`)%2 != 0:
		f.addProblem(name, "a quotation mark in it is not closed; the rows after it were read as one text")
	case len(rows) > 0 && !slices.ContainsFunc(tableColumns, func(column string) bool { _, has := rows[0][column]; return has }):
		f.addProblem(name, "its first line does not name the columns, such as name, module and path; it was left out")
	}
	if len(rows) > maxRows {
		f.addProblem(name, "it has %d rows; those after %d were left out", len(rows), maxRows)
		rows = rows[:maxRows]
	}
	return rows
}

// resolveInTree returns the path of a file with links followed, if the result is in the file's tree or, for want
// of a tree, in its folder.
func (f *fileReader) resolveInTree(name string) (string, bool) {
	tree, served := f.treeOf(name)
	if !served {
		tree = path.Dir(name)
	}
	real, stays := followInside(f.FS, tree, name)
	if !stays || isPrivate(real) {
		f.addProblem(name, "it is a symbolic link that leads out of the installation")
		return "", false
	}
	return real, true
}

// leadsUp reports whether a symbolic link leads out of the source, or to a folder above itself, which would
// be far more than an installation or a skill.
func (f *fileReader) leadsUp(name string) bool {
	real, stays := followInside(f.FS, ".", name)
	return !stays || real == "." || strings.HasPrefix(name, real+"/")
}

// leadsToFolder reports whether a link leads to a folder in reach of the search.
func (f *fileReader) leadsToFolder(link string) bool {
	info, err := fs.Stat(f.FS, link)
	if err == nil && info.IsDir() && !f.leadsUp(link) {
		return true
	}
	if strings.HasPrefix(strings.TrimLeft(path.Base(link), "._"), "bmad") {
		f.addLinkProblem(link)
	}
	return false
}

// addLinkProblem names a folder that a link puts out of reach of the search.
func (f *fileReader) addLinkProblem(name string) {
	f.addProblem(name, "it is a symbolic link that leads out of the folder, up in it, or nowhere; only what is in the folder is read, or in the one that BMAD_ROOT names")
}

// leadsToFile reports whether an entry of a folder is a file, or a link to a readable one. A link to nothing is a
// problem of the installation, not an item.
func (f *fileReader) leadsToFile(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return true
	}
	info, there := f.recordState(name)
	if !there || !info.Mode().IsRegular() {
		if there && info.IsDir() {
			return false
		}
		f.addProblem(name, "it is a symbolic link that leads to no file")
		return false
	}
	real, stays := f.resolveInTree(name)
	if !stays {
		return false
	}
	file, err := f.FS.Open(real)
	if err != nil {
		f.addProblem(name, "it cannot be read: %v", err)
		return false
	}
	return file.Close() == nil
}

// Serves reports whether a path lies in a tree of the source.
func (f *fileReader) Serves(name string) bool {
	_, served := f.treeOf(name)
	return served
}

// treeOf returns the tree of a path.
func (f *fileReader) treeOf(name string) (string, bool) {
	if isPrivate(name) {
		return "", false
	}
	for _, t := range f.trees {
		if t == "." || name == t || strings.HasPrefix(name, t+"/") {
			return t, true
		}
	}
	return "", false
}

// outermostTrees returns the trees outside all other trees, in order.
func (f *fileReader) outermostTrees() []string {
	var out []string
	for _, tree := range slices.Sorted(slices.Values(f.trees)) {
		if !slices.ContainsFunc(out, func(t string) bool { return t == "." || strings.HasPrefix(tree, t+"/") }) {
			out = append(out, tree)
		}
	}
	return out
}

// URI returns the address of a file of the source.
func (f *fileReader) URI(name string) string {
	if name == "" {
		return ""
	}
	return Address(f.Name, name)
}

// SystemPath returns the system path of a path in the source.
func (f *fileReader) SystemPath(name string) (string, bool) {
	if f.Dir == "" || name == "" {
		return "", false
	}
	return filepath.ToSlash(filepath.Join(f.Dir, filepath.FromSlash(name))), true
}

// Has reports whether a path exists in a tree of the source.
func (f *fileReader) Has(name string) bool {
	_, served := f.treeOf(name)
	if !served {
		return false
	}
	_, err := fs.Lstat(f.FS, name)
	return err == nil
}

func (f *fileReader) addProblem(name, format string, args ...any) {
	p := NewProblem(f.Name, name, lang.T(format, args...))
	if f.reported[[2]string{p.Path, p.Text}] || len(f.problems) > maxProblems {
		return
	}
	if len(f.problems) == maxProblems {
		p = NewProblem(f.Name, ".", lang.T("there are more than %d problems; the others are not named", maxProblems))
	}
	if f.reported == nil {
		f.reported = map[[2]string]bool{}
	}
	f.reported[[2]string{p.Path, p.Text}] = true
	f.problems = append(f.problems, p)
}

// maxProblems bounds how many problems of a source are named.
const maxProblems = 500

// filesEnding lists the files of a folder with one of some endings, without the notes and copies of people
// beside them.
func (f *fileReader) filesEnding(dir string, endings ...string) []string {
	var out []string
	for _, e := range f.list(dir) {
		name := e.Name()
		if e.IsDir() || !f.leadsToFile(path.Join(dir, name), e) || strings.EqualFold(format.Stem(name), "readme") ||
			strings.HasPrefix(name, ".") || !slices.Contains(endings, path.Ext(name)) {
			continue
		}
		out = append(out, path.Join(dir, name))
	}
	return out
}

// walkFolders calls visit for each folder from dir down, until it returns false for one.
func (f *fileReader) walkFolders(dir string, depth int, entries *int, visit func(dir string, names []fs.DirEntry) bool) {
	if depth > maxDepth {
		f.addProblem(dir, "it lies more than %d folders deep and was not searched", maxDepth)
		return
	}
	names := f.list(dir)
	if *entries += len(names); *entries > maxEntries {
		f.addProblem(dir, "the installation has more than %d files; this folder and those after it were left out", maxEntries)
		return
	}
	if !visit(dir, names) {
		return
	}
	for _, e := range names {
		if e.IsDir() {
			f.walkFolders(path.Join(dir, e.Name()), depth+1, entries, visit)
		}
	}
}

func hasName(names []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(names, func(e fs.DirEntry) bool { return e.Name() == name })
}
