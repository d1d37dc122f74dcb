package catalog

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The layouts an installation can have.
const (
	// LayoutV4 is that of version 4: .bmad-core and expansion packs.
	LayoutV4 = "v4"
	// LayoutV6 is that of version 6: a folder of modules with manifests in _cfg or _config.
	LayoutV6 = "v6"
	// LayoutSkills is a folder of skills that belongs to no other installation.
	LayoutSkills = "skills"
)

// hosts are the folders in which coding assistants keep their skills, as the installer of
// the method knows them (platform-codes.yaml of 6.2 to 6.12). The first that has a skill is
// the one it is read from.
var hosts = []string{
	".claude", ".agents", ".agent", ".cursor", ".github", ".gemini", ".windsurf", ".opencode", ".roo", ".trae", ".qwen", ".qoder",
	".kiro", ".kilocode", ".cline", ".codebuddy", ".crush", ".augment", ".iflow", ".pi", ".rovodev", ".junie", ".factory", ".adal",
	".bob", ".cortex", ".firebender", ".kode", ".neovate", ".ona", ".zcode", ".zencoder", ".codewhale", ".codex",
}

// homeSkills are the folders of skills that are the person's, in the home folder, besides
// those of the hosts.
var homeSkills = []string{".config/agents/skills", ".config/opencode/skills", ".bmad/skills"}

// skipped are folders of a project that hold no installation and may be large.
var skipped = []string{".git", "node_modules", "vendor", "_bmad-output"}

// maxSiblings bounds how many folders of a project are looked at for installations of any name.
const maxSiblings = 500

// scan finds what a source holds. The sources before it list skills that it may have.
func scan(s Source, before []*found) *found {
	f := &found{Source: s, before: before, stamps: map[string]stamp{}, skills: map[string]*Item{}}
	if s.Home {
		f.place(".bmad", "")
	} else {
		f.place(".", s.Only)
	}
	f.skillFolders()
	for _, in := range f.installs {
		f.helped(in)
	}
	f.finish()
	slices.SortFunc(f.trees, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	f.trees = slices.Compact(f.trees)
	return f
}

func (f *found) problem(name, format string, args ...any) {
	p := Problem{Source: f.Name, Path: name, Text: fmt.Sprintf(format, args...)}
	if f.reported[p] || len(f.problems) > maxProblems {
		return
	}
	if len(f.problems) == maxProblems {
		p = Problem{Source: f.Name, Path: ".", Text: fmt.Sprintf("there are more than %d problems; the others are not named", maxProblems)}
	}
	if f.reported == nil {
		f.reported = map[Problem]bool{}
	}
	f.reported[p] = true
	f.problems = append(f.problems, p)
}

// maxProblems bounds how many problems of a source are named.
const maxProblems = 500

// place looks for installations in a folder and for the folder being one. only, if it is not
// empty, is the one folder in it that is looked at.
func (f *found) place(base, only string) {
	if !f.isDir(base) {
		return
	}
	if only == "" && (base != "." || f.Name != Project) && f.installation(base) {
		return // of a project all but the installation is the person's
	}
	looked := 0
	for _, e := range f.list(base) {
		name := path.Join(base, e.Name())
		linked := e.Type()&fs.ModeSymlink != 0
		if !e.IsDir() && !linked || slices.Contains(skipped, e.Name()) || only != "" && e.Name() != only || linked && f.leadsUp(name) {
			continue
		}
		if looked++; looked > maxSiblings {
			f.problem(base, "it has more than %d folders; those after %s were not looked at for installations", maxSiblings, e.Name())
			break
		}
		if f.installation(name) || e.Name() != "expansion-packs" {
			continue
		}
		for _, pack := range f.list(name) {
			if pack.IsDir() {
				f.installation(path.Join(name, pack.Name()))
			}
		}
	}
}

// installation takes a folder for an installation, if it is one.
func (f *found) installation(dir string) bool {
	base := path.Base(dir)
	if dir == "." && f.Dir != "" {
		base = path.Base(strings.ReplaceAll(f.Dir, `\`, "/"))
	}
	for _, manifests := range []string{"_config", "_cfg"} {
		at := path.Join(dir, manifests)
		if f.isFile(path.Join(at, "manifest.yaml")) || isNamed(base, "bmad") && f.isDir(at) {
			f.modern(dir, manifests)
			return true
		}
	}
	switch {
	case isNamed(base, "bmad") && (f.isFile(path.Join(dir, "config.toml")) || f.isFile(path.Join(dir, "core/config.yaml")) || f.isDir(path.Join(dir, "core/agents"))):
		f.modern(dir, "_config")
		return true
	case f.isFile(path.Join(dir, "core-config.yaml")) && f.isDir(path.Join(dir, "agents")),
		isNamed(base, "bmad-core") && f.isDir(path.Join(dir, "agents")),
		f.isFile(path.Join(dir, "config.yaml")) && (strings.HasPrefix(base, ".bmad-") || path.Base(path.Dir(dir)) == "expansion-packs"):
		f.classic(dir)
		return true
	}
	return false
}

// isNamed reports whether a folder has a name, with the marks that the method puts before it.
func isNamed(base, name string) bool { return strings.TrimLeft(base, "._") == name }

// skillFolders looks into every folder that may hold skills.
func (f *found) skillFolders() {
	for _, host := range hosts {
		f.skillsIn(host + "/skills")
	}
	if f.Home {
		for _, dir := range homeSkills {
			f.skillsIn(dir)
		}
		return
	}
	if f.Only != "" {
		return
	}
	if f.Name == Project {
		f.skillsIn("skills")
		f.sourcesIn("src")
		f.sourcesIn("src/modules")
		return
	}
	// A checkout of the method's own repository, of a module's, or of one folder of either.
	for _, dir := range []string{"src", "src/modules", "modules", "."} {
		f.sourcesIn(dir)
	}
	f.skillsIn("skills")
	f.skillsIn(".")
	f.marketed()
}

// sourcesIn takes the modules that a repository has in a folder: folders of skills since 6.3,
// folders of modules in 6.0 to 6.2, or the folder itself.
func (f *found) sourcesIn(dir string) {
	if !f.isDir(dir) || f.module(dir) {
		return
	}
	var folders []string
	for _, e := range f.list(dir) {
		at := path.Join(dir, e.Name())
		if module, ok := strings.CutSuffix(e.Name(), "-skills"); ok && e.IsDir() {
			f.skillsBelow(at, module)
			f.scripted(path.Join(dir, "scripts"))
		} else if e.IsDir() {
			folders = append(folders, at)
		}
	}
	if f.isFile(path.Join(dir, "core", moduleYAML)) || f.isFile(path.Join(dir, "bmm", moduleYAML)) {
		f.modern(dir, "_config") // they refer to each other from the folder they lie in
		return
	}
	for _, at := range folders {
		f.module(at)
	}
}

// skillsBelow takes the skills at any depth of a folder.
func (f *found) skillsBelow(dir, module string) {
	if !f.isDir(dir) {
		return
	}
	in := f.owner(dir, "")
	if in.layout == LayoutSkills {
		f.describes(in, dir, module)
	}
	entries, before := 0, len(f.items)
	f.walk(dir, 0, &entries, func(at string, names []fs.DirEntry) bool {
		if !has(names, "SKILL.md") {
			return true
		}
		f.skill(at, names, in, module)
		return false
	})
	if len(f.items) > before { // the files that describe the module lie beside its skills
		f.trees = append(f.trees, dir)
	}
}

// scripted takes the scripts that installers put into _bmad/scripts, and skills run there.
func (f *found) scripted(dir string) {
	if f.scripts == "" && f.isDir(dir) {
		f.scripts = dir
		f.trees = append(f.trees, dir)
	}
}

// walk calls visit for each folder from dir down, until it returns false for one.
func (f *found) walk(dir string, depth int, entries *int, visit func(dir string, names []fs.DirEntry) bool) {
	if depth > maxDepth {
		f.problem(dir, "it lies more than %d folders deep and was not looked into", maxDepth)
		return
	}
	names := f.list(dir)
	if *entries += len(names); *entries > maxEntries {
		f.problem(dir, "the installation has more than %d files; this folder and those after it were left out", maxEntries)
		return
	}
	if !visit(dir, names) {
		return
	}
	for _, e := range names {
		if e.IsDir() {
			f.walk(path.Join(dir, e.Name()), depth+1, entries, visit)
		}
	}
}

func has(names []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(names, func(e fs.DirEntry) bool { return e.Name() == name })
}

// maxName bounds the names of items, in bytes: they go into lists, and into the names of tools.
const maxName = 200

// add keeps an item.
func (f *found) add(i *Item) {
	if len(i.Name) > maxName || len(i.Module) > maxName {
		f.problem(i.Path, "its name or module has more than %d bytes", maxName)
		return
	}
	for _, field := range []*string{&i.Title, &i.DisplayName, &i.Icon} {
		*field = cutText(*field, maxName)
	}
	i.Aliases = slices.DeleteFunc(i.Aliases, func(alias string) bool { return len(alias) > maxName || alias == i.Name })
	i.in, i.Source = f, f.Name
	i.URI = f.uri(i.Path)
	f.items = append(f.items, i)
	if f.byShort == nil {
		f.byShort = map[itemKey][]*Item{}
	}
	key := itemKey{i.Kind, short(i.Name)}
	f.byShort[key] = append(f.byShort[key], i)
}

// cutText cuts a text to a number of bytes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// short returns a name without what only says that it is of the method.
func short(name string) string {
	s := strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"bmad-agent-", "bmad-"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && rest != "" {
			return rest
		}
	}
	return s
}
