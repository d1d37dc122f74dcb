package config

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// otherVariables are the variables read by other packages, without the prefix BMAD_.
var otherVariables = []string{"MCP_BIN", "MEMORY_EMBEDDING_KEY", "MEMORY_QDRANT_KEY", "PAGER", "PROJECT_DIR", "PROJECT_ROOT", "ROOT"}

// Notices lists the settings without effect: keys that are gone, and files and variables with a misspelt name of a
// setting, prompt or rubric. dir is nil for a process outside every project.
func (s Source) Notices(dir *durable.Dir, c *Config) []Notice {
	out := slices.Clone(c.gone)
	if s.UserFolder != "" {
		folder, file := path.Split(UserFile)
		if own, err := durable.OpenDir(filepath.Join(s.UserFolder, folder)); err == nil {
			out = append(out, misspeltFiles(own, ".", homeRelative(own.Path()), file)...)
			_ = own.Close() // nothing was written
		}
	}
	if dir != nil {
		var prompts, rubrics []string
		for _, st := range c.stages() {
			prompts, rubrics = append(prompts, st.PromptName()+".md"), append(rubrics, st.RubricName()+".yaml")
		}
		folder, file := path.Split(ProjectFile)
		folder = path.Clean(folder)
		out = append(out, misspeltFiles(dir, folder, folder, file)...)
		out = append(out, misspeltFiles(dir, PromptFolder, PromptFolder, prompts...)...)
		out = append(out, misspeltFiles(dir, RubricFolder, RubricFolder, rubrics...)...)
	}
	return append(out, c.unknownVariables(s.Environ)...)
}

// misspeltFiles lists the files of a folder with a name that differs from a read file by capitals or by .yml for .yaml.
// shown is the folder for people.
func misspeltFiles(dir *durable.Dir, folder, shown string, read ...string) (out []Notice) {
	entries, err := dir.ReadDir(folder)
	if err != nil {
		return nil
	}
	alike := func(name string) string {
		name = strings.ToLower(name)
		if stem, short := strings.CutSuffix(name, ".yml"); short {
			return stem + ".yaml"
		}
		return name
	}
	for _, e := range entries {
		at := slices.IndexFunc(read, func(name string) bool { return alike(name) == alike(e.Name()) })
		if at < 0 || slices.Contains(read, e.Name()) {
			continue
		}
		same := strings.EqualFold(e.Name(), read[at]) && dir.Exists(path.Join(folder, read[at])) &&
			!slices.ContainsFunc(entries, func(other fs.DirEntry) bool { return other.Name() == read[at] })
		if !same { // by a disk that does not tell capitals apart
			out = append(out, notRead(shown+"/"+e.Name(), read[at]))
		}
	}
	return out
}

// unknownVariables lists the variables with the prefix BMAD_ that no package reads.
func (c *Config) unknownVariables(environ []string) (out []Notice) {
	known := slices.Clone(otherVariables)
	for _, key := range keys() {
		if key != "stages" {
			known = append(known, strings.ToUpper(key))
		}
	}
	for _, one := range environ {
		variable, value, _ := strings.Cut(one, "=")
		name, ours := strings.CutPrefix(variable, "BMAD_")
		if _, isKey := c.keyOf(variable); !ours || value == "" || isKey || slices.Contains(known, name) {
			continue
		}
		near := fault.Near(name, known)
		for i := range near {
			near[i] = "BMAD_" + near[i]
		}
		out = append(out, notRead(variable, near...))
	}
	slices.SortFunc(out, func(a, b Notice) int { return strings.Compare(a.Place.String(), b.Place.String()) })
	return out
}

// notRead returns the notice about an ignored name; near are similar names of settings.
func notRead(name string, near ...string) Notice {
	what := lang.T("it is not read")
	if len(near) > 0 {
		what = lang.T("it is not read; did you mean %s?", strings.Join(near, ", "))
	}
	return Notice{lang.T("%s", name), what}
}
