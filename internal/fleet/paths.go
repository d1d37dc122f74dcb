package fleet

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// wordForm matches a word that could be a path. plainForm matches the parts of it between letters of scripts that put no space
// between words; endingForm the ending of a file.
var (
	wordForm   = pattern.New(`[\p{L}\p{M}\p{N}_.@/-]+`)
	plainForm  = pattern.New(`[\w.@/-]+`)
	endingForm = pattern.New(`^\.[a-z][a-z0-9]{0,7}$`)
)

// phrases have the form of a path and are none.
var phrases = []string{
	"and/or", "n/a", "w/o", "i/o", "yes/no", "true/false", "read/write", "client/server", "ci/cd", "tcp/ip", "input/output",
	"node.js", "next.js", "vue.js", "three.js", "asp.net", "e.g", "i.e", "a.m", "p.m",
}

// fileNames are the files of a project, by which a word of a plan is told from the name of a file.
type fileNames struct {
	paths   map[string]bool     // of files and folders
	byName  map[string][]string // the paths of files by their last parts
	endings map[string]bool
}

func newFileNames(files []string) *fileNames {
	out := &fileNames{map[string]bool{}, map[string][]string{}, map[string]bool{}}
	for _, file := range files {
		name := path.Base(file)
		out.byName[name], out.endings[path.Ext(name)] = append(out.byName[name], file), true
		for at := file; at != "." && !out.paths[at]; at = path.Dir(at) {
			out.paths[at] = true
		}
	}
	return out
}

// pathsIn returns the paths that a text names, sorted, each once. A word is one if it has a slash and does not begin as an
// address does; if it is the name of a file, or has the ending of one; and in backquotes, if it has any ending.
func (f *fileNames) pathsIn(text string) (paths []string) {
	add := func(word string, isCode bool) bool {
		name := f.readPath(word, isCode)
		if name != "" {
			paths = append(paths, name)
		}
		return name != ""
	}
	for line := range strings.Lines(text) {
		for i, part := range strings.Split(line, "`") {
			isCode := i%2 == 1
			for _, word := range wordForm.FindAllString(part, -1) {
				if add(word, isCode) {
					continue
				}
				for _, plain := range plainForm.FindAllString(word, -1) {
					add(plain, isCode)
				}
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// readPath returns the path that a word names, "" if it names none.
func (f *fileNames) readPath(word string, isCode bool) string {
	word = strings.TrimRight(word, ".")
	for strings.HasPrefix(word, "../") {
		word = word[3:]
	}
	name := path.Clean(strings.TrimLeft(word, "/"))
	isNone := !filepath.IsLocal(name) || name == "." || !strings.ContainsFunc(name, unicode.IsLetter) || slices.Contains(phrases, strings.ToLower(name))
	if isNone {
		return ""
	}
	if !strings.Contains(name, "/") {
		return f.readName(name, isCode, isCode || strings.HasSuffix(word, "/"))
	}
	isWhole := isCode || plainForm.FindString(name) == name
	isNew := isWhole && isRelative(word)
	if isNew || f.paths[name] {
		return name
	}
	return ""
}

// isRelative reports whether a word with slashes can be a path in the project: not an absolute one, a route or an address.
func isRelative(word string) bool {
	first, _, _ := strings.Cut(word, "/")
	return first != "" && strings.LastIndex(first, ".") < 1
}

// readName is readPath for a word without a slash within it.
func (f *fileNames) readName(name string, isCode, isFolder bool) string {
	all, ending := f.byName[name], path.Ext(name)
	hasForm := isCode || ending != "" || strings.ContainsFunc(name, unicode.IsUpper) // else it is a word as any other
	hasKnownEnding := name != ending && f.endings[ending]
	isFileName := isCode || hasKnownEnding
	isFile := isFileName && endingForm.MatchString(ending)
	isKnown := len(all) > 0 && hasForm
	isKnownFolder := isFolder && f.paths[name]
	switch {
	case isKnown && len(all) == 1:
		return all[0]
	case isKnown, isFile, isKnownFolder:
		return name
	}
	return ""
}

// pathsOf returns the paths that each sprint of a plan names, by the number of the sprint.
func (f *fileNames) pathsOf(plan string) map[int][]string {
	doc := markdown.Read(plan, nil)
	lines := strings.Split(plan, "\n")
	out := map[int][]string{}
	sprints, _ := doc.Sprints()
	for _, sprint := range sprints {
		var b strings.Builder
		for _, i := range sprint.Lines() {
			if i < len(lines) {
				b.WriteString(lines[i] + "\n")
			}
		}
		out[sprint.Number] = f.pathsIn(b.String())
	}
	return out
}

// overlap returns a path that both lists name, itself or a folder above it; "" if there is none.
func overlap(a, b []string) string {
	for _, one := range a {
		for _, other := range b {
			if one == other || strings.HasPrefix(one, other+"/") {
				return one
			}
			if strings.HasPrefix(other, one+"/") {
				return other
			}
		}
	}
	return ""
}
