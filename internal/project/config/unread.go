package config

import (
	"io/fs"
	"os"
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

// Notices lists the settings without effect: keys that are gone, files that are not read though they lie in a folder of
// ours or have nearly the name of one that is read, and variables likewise. dir is nil for a process outside every project.
func (s Source) Notices(dir *durable.Dir, c *Config) []Notice {
	out := slices.Clone(c.gone)
	if s.UserFolder != "" {
		folder, file := path.Split(UserFile)
		if own, err := durable.OpenDir(filepath.Join(s.UserFolder, folder)); err == nil {
			shown := homeRelative(own.Path())
			out = append(out, unreadFiles(own, ".", shown, false, file)...)
			workflows := path.Base(UserWorkflows)
			out = append(out, unreadFiles(own, workflows, shown+"/"+workflows, true, workflowFiles(own.Tree(), workflows)...)...)
			_ = own.Close() // nothing was written
		}
		out = append(out, s.elsewhere(dir)...)
	}
	if dir != nil {
		var prompts, rubrics []string
		for _, st := range c.stages() {
			prompts = append(prompts, st.PromptName()+".md")
			if st.Audited() {
				rubrics = append(rubrics, st.RubricName()+".yaml")
			}
		}
		folder, file := path.Split(ProjectFile)
		folder = path.Clean(folder)
		ours := []string{file, path.Base(PromptFolder), path.Base(RubricFolder), path.Base(ProjectWorkflows)}
		out = append(out, unreadFiles(dir, folder, folder, false, ours...)...)
		out = append(out, unreadFiles(dir, PromptFolder, PromptFolder, true, prompts...)...)
		out = append(out, unreadFiles(dir, RubricFolder, RubricFolder, true, rubrics...)...)
		out = append(out, unreadFiles(dir, ProjectWorkflows, ProjectWorkflows, true, workflowFiles(dir.Tree(), ProjectWorkflows)...)...)
		for _, name := range ours {
			for _, place := range []string{name, "." + name, ".bmad-task/" + name} {
				if dir.Exists(place) {
					out = append(out, notRead(place, folder+"/"+name))
				}
			}
		}
	}
	return append(out, c.unknownVariables(s.Environ)...)
}

// elsewhere lists the files in which people look for their own settings, and which are not read.
func (s Source) elsewhere(dir *durable.Dir) (out []Notice) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	right := filepath.Join(s.UserFolder, filepath.FromSlash(UserFile))
	for _, name := range []string{".config/" + UserFile, ".config/bmad-mcp.yaml", ".bmad-mcp/config.yaml", ".bmad-mcp.yaml", ProjectFile} {
		file := filepath.Join(home, filepath.FromSlash(name))
		ofProject := dir != nil && filepath.Dir(filepath.Dir(file)) == dir.Path()
		if _, err := os.Lstat(file); err == nil && file != right && !ofProject {
			out = append(out, notRead(homeRelative(file), homeRelative(right)))
		}
	}
	return out
}

// workflowFiles lists the files of a folder that are read as workflows.
func workflowFiles(tree fs.FS, folder string) (out []string) {
	files, _ := fs.Glob(tree, folder+"/*.yaml")
	for _, file := range files[:min(len(files), maxWorkflows)] {
		out = append(out, path.Base(file))
	}
	return out
}

// nearest returns the name meant by another, which differs by capitals, marks, a letter or two, or the ending; "" if none is.
func nearest(name string, known []string) string {
	stem := func(name string) string {
		name, _, _ = strings.Cut(strings.TrimLeft(strings.ToLower(name), "."), ".")
		return strings.TrimSuffix(strings.NewReplacer("_", "-", " ", "-").Replace(name), "s")
	}
	for _, k := range known {
		d, ok := fault.Distance(stem(name), stem(k))
		typed := ok && d <= 2 && len(stem(name)) > 4 && !strings.HasPrefix(stem(name), stem(k))
		if typed || stem(k) == stem(name) {
			return k
		}
	}
	return ""
}

// unreadFiles lists the files of a folder that are not read: all in one of ours, but for hidden ones and those that explain it,
// else those that nearly have such a name. shown is the folder for people.
func unreadFiles(dir *durable.Dir, folder, shown string, ours bool, read ...string) (out []Notice) {
	entries, err := dir.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		near := nearest(e.Name(), read)
		explains := strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(strings.ToLower(e.Name()), "readme")
		if slices.Contains(read, e.Name()) || near == "" && (!ours || explains) {
			continue
		}
		// A disk that does not tell capitals apart reads it all the same.
		i := slices.IndexFunc(read, func(name string) bool {
			return strings.EqualFold(name, e.Name()) && dir.Exists(path.Join(folder, name))
		})
		if i >= 0 && !slices.ContainsFunc(entries, func(other fs.DirEntry) bool { return other.Name() == read[i] }) {
			continue
		}
		if stem, short := strings.CutSuffix(e.Name(), ".yml"); short && near == "" {
			near = stem + ".yaml"
		}
		out = append(out, notRead(shown+"/"+e.Name(), near))
	}
	return out
}

// folderVariables are the variables that name a folder by its absolute path.
var folderVariables = []string{"BMAD_PROJECT_DIR", "BMAD_PROJECT_ROOT", "CLAUDE_PROJECT_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}

// unknownVariables lists the variables with the prefix BMAD_ that no package reads, and those that name no folder.
func (c *Config) unknownVariables(environ []string) (out []Notice) {
	known := slices.Clone(otherVariables)
	for _, key := range keys() {
		if key != "stages" {
			known = append(known, strings.ToUpper(key))
		}
	}
	for _, one := range environ {
		variable, value, _ := strings.Cut(one, "=")
		if slices.Contains(folderVariables, variable) && value != "" && !strings.HasPrefix(value, "${") {
			info, err := os.Stat(value)
			isFolder := err == nil && info.IsDir()
			mayBeMissing := strings.HasPrefix(variable, "XDG_")
			if counts := isFolder || mayBeMissing; !filepath.IsAbs(value) || !counts {
				out = append(out, Notice{lang.T("%s", variable), lang.T("it does not count: %q is not the absolute path of a folder", value)})
			}
			continue
		}
		name, ours := strings.CutPrefix(strings.ToUpper(variable), "BMAD_")
		if _, isKey := c.keyOf(variable); !ours || value == "" || isKey || slices.Contains(known, strings.TrimPrefix(variable, "BMAD_")) {
			continue
		}
		all := slices.Concat(known, c.stageVariables())
		near := fault.Near(name, all)
		for _, meant := range []string{name[strings.Index(name, "_")+1:], name} { // with a word before it, or in other letters
			if slices.Contains(all, meant) {
				near = []string{meant}
			}
		}
		for i := range near {
			near[i] = "BMAD_" + near[i]
		}
		out = append(out, notRead(variable, strings.Join(near, ", ")))
	}
	slices.SortFunc(out, func(a, b Notice) int { return strings.Compare(a.Place.String(), b.Place.String()) })
	return out
}

// stageVariables lists the variables of the settings of each stage, without the prefix.
func (c *Config) stageVariables() (out []string) {
	for _, stage := range c.StageIDs() {
		for _, name := range stageKeys() {
			out = append(out, strings.ToUpper(strings.ReplaceAll(stage, "-", "_")+"_"+name))
		}
	}
	return out
}

// notRead returns the notice about an ignored name; near is what may be meant, or "".
func notRead(name, near string) Notice {
	what := lang.T("it is not read")
	if near != "" {
		what = lang.T("it is not read; did you mean %s?", near)
	}
	return Notice{lang.T("%s", name), what}
}
