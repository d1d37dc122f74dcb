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

// pathForm matches the paths of files and folders in a plan: with a folder in front, or an ending behind.
var pathForm = pattern.New("[\\w.@-]*[\\w@-](?:/[\\w.@-]+)+/?|[\\w@-][\\w.@-]*\\.[A-Za-z][A-Za-z0-9]{0,7}")

// phrases have the form of a path and are none.
var phrases = []string{"e.g", "i.e", "a.m", "p.m", "and/or", "n/a", "w/o", "i/o", "yes/no", "true/false", "read/write", "client/server"}

// pathsIn returns the paths that a text names, sorted, each once.
func pathsIn(text string) (paths []string) {
	for _, name := range pathForm.FindAllString(text, -1) {
		name = path.Clean(strings.TrimRight(name, "."))
		isPath := filepath.IsLocal(name) && name != "." && strings.ContainsFunc(name, unicode.IsLetter)
		if isPath && !slices.Contains(phrases, strings.ToLower(name)) {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// pathsOf returns the paths that each sprint of a plan names, by the number of the sprint.
func pathsOf(plan string) map[int][]string {
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
		out[sprint.Number] = pathsIn(b.String())
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
