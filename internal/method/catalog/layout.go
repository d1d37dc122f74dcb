package catalog

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// hosts are the folders in which coding assistants keep their skills, as the installer of the method knows
// them (platform-codes.yaml of 6.2 to 6.12). A skill is read from the first folder with it.
var hosts = []string{
	".claude", ".agents", ".agent", ".cursor", ".github", ".gemini", ".windsurf", ".opencode", ".roo", ".trae", ".qwen", ".qoder",
	".kiro", ".kilocode", ".cline", ".codebuddy", ".crush", ".augment", ".iflow", ".pi", ".rovodev", ".junie", ".factory", ".adal",
	".bob", ".cortex", ".firebender", ".kode", ".neovate", ".ona", ".zcode", ".zencoder", ".codewhale", ".codex",
}

// homeSkills are further folders of skills in the home folder, besides the hosts' folders.
var homeSkills = []string{".config/agents/skills", ".config/opencode/skills", ".bmad/skills"}

// maxSiblings bounds how many folders of a project are searched for installations of any name.
const maxSiblings = 500

// scanSource scans a source. The sources before it may list its skills.
func scanSource(src Source, before []*Origin) *Origin {
	s := newScan(src, before)
	if s.origin.Home {
		s.scanFolder(".bmad", "")
	} else {
		s.scanFolder(".", s.origin.Only)
	}
	s.scanSkillFolders()
	for _, in := range s.origin.Installations {
		s.applyHelp(in)
	}
	s.finishSource()
	for _, i := range s.origin.Items {
		i.setStableKind()
		i.Category = cmp.Or(i.Phase, OtherCategory)
	}
	slices.SortFunc(s.origin.trees, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.origin.trees = slices.Compact(s.origin.trees)
	return s.origin
}

// scanFolder adds the installations in a folder, or the folder itself if it is one. If only is not empty,
// no other folder in it is searched.
func (s *scan) scanFolder(base, only string) {
	if !s.origin.isDir(base) {
		return
	}
	if only == "" && (base != "." || s.origin.Name != Project) && s.addInstallation(base) {
		return // everything else in a project belongs to the person
	}
	looked := 0
	var backups []string
	for _, e := range s.origin.list(base) {
		name := path.Join(base, e.Name())
		linked := e.Type()&fs.ModeSymlink != 0
		folder := e.IsDir() || linked && s.origin.leadsToFolder(name)
		meant := only == "" || e.Name() == only
		if !folder || !meant || slices.Contains(skipped, e.Name()) {
			continue
		}
		if looked++; looked > maxSiblings {
			s.origin.addProblem(base, "it has more than %d folders; those after %s were not searched for installations", maxSiblings, e.Name())
			break
		}
		if only == "" && isBackup(e.Name()) {
			backups = append(backups, name)
			continue
		}
		if !s.addInstallation(name) && e.Name() == "expansion-packs" {
			s.addPacks(name)
		}
	}
	s.addBackups(backups)
}

// addBackups adds the backup folders with an installation, if no other installation was found.
func (s *scan) addBackups(folders []string) {
	instead := len(s.origin.Installations) > 0
	for _, name := range folders {
		if add := s.recognizeFolder(name); add != nil && instead {
			s.origin.addProblem(name, "it is a backup of an installation and was left out")
		} else if add != nil {
			add()
		}
	}
}

// addPacks adds the expansion packs of a folder, in the form of the method's repository.
func (s *scan) addPacks(dir string) {
	for _, pack := range s.origin.list(dir) {
		if pack.IsDir() {
			s.addInstallation(path.Join(dir, pack.Name()))
		}
	}
}

// addInstallation adds a folder if it looks like an installation.
func (s *scan) addInstallation(dir string) bool {
	add := s.recognizeFolder(dir)
	if add != nil {
		add()
	}
	return add != nil
}

// recognizeFolder returns a function that adds a folder if it looks like an installation, or nil.
func (s *scan) recognizeFolder(dir string) (add func()) {
	base := path.Base(dir)
	if dir == "." && s.origin.Dir != "" {
		base = path.Base(strings.ReplaceAll(s.origin.Dir, `\`, "/"))
	}
	for _, manifests := range []string{"_config", "_cfg"} {
		at := path.Join(dir, manifests)
		if s.origin.isFile(path.Join(at, "manifest.yaml")) || IsNamed(base, "bmad") && s.origin.isDir(at) {
			return func() { s.addV6(dir, manifests) }
		}
	}
	ofV6 := func() bool {
		return s.origin.isFile(path.Join(dir, "config.toml")) || s.origin.isFile(path.Join(dir, "core/config.yaml")) || s.origin.isDir(path.Join(dir, "core/agents"))
	}
	switch {
	case IsNamed(base, "bmad") && ofV6():
		return func() { s.addV6(dir, "_config") }
	case s.origin.isFile(path.Join(dir, "core-config.yaml")) && s.origin.isDir(path.Join(dir, "agents")),
		IsNamed(base, "bmad-core") && s.origin.isDir(path.Join(dir, "agents")),
		s.origin.isFile(path.Join(dir, "config.yaml")) && (strings.HasPrefix(base, ".bmad-") || path.Base(path.Dir(dir)) == "expansion-packs"):
		return func() { s.addV4(dir) }
	}
	return nil
}

// scanSkillFolders scans every possible folder of skills.
func (s *scan) scanSkillFolders() {
	for _, host := range hosts {
		s.addSkillsIn(host + "/skills")
	}
	if s.origin.Home {
		for _, dir := range homeSkills {
			s.addSkillsIn(dir)
		}
		return
	}
	if s.origin.Only != "" {
		return
	}
	if s.origin.Name == Project {
		s.addSkillsIn("skills")
		s.installed = s.installedModules()
		s.addModules("src")
		s.addModules("src/modules")
		return
	}
	// A checkout of the method's own repository, of a module's, or of one folder of either.
	for _, dir := range []string{"src", "src/modules", "modules", "."} {
		s.addModules(dir)
	}
	s.addSkillsIn("skills")
	s.addSkillsIn(".")
	s.addPlugins()
}

// addModules adds the modules of a repository in a folder: folders of skills since 6.3, folders of modules
// in 6.0 to 6.2, or the folder itself.
func (s *scan) addModules(dir string) {
	if !s.origin.isDir(dir) || s.addModule(dir) {
		return
	}
	var folders []string
	for _, e := range s.origin.list(dir) {
		at := path.Join(dir, e.Name())
		if module, ok := strings.CutSuffix(e.Name(), "-skills"); ok && e.IsDir() {
			if s.isInstalled(module, at) {
				continue
			}
			s.addSkillsBelow(at, module)
			s.addScripts(path.Join(dir, "scripts"))
		} else if e.IsDir() {
			folders = append(folders, at)
		}
	}
	if s.origin.isFile(path.Join(dir, "core", moduleYAML)) || s.origin.isFile(path.Join(dir, "bmm", moduleYAML)) {
		if slices.ContainsFunc(folders, func(at string) bool {
			return s.origin.isFile(path.Join(at, moduleYAML)) && !s.isInstalled(path.Base(at), at)
		}) {
			s.addV6(dir, "_config") // their references start at the folder above
		}
		return
	}
	for _, at := range folders {
		s.addModule(at)
	}
}

// addSkillsBelow adds the skills at any depth of a folder.
func (s *scan) addSkillsBelow(dir, module string) {
	if !s.origin.isDir(dir) {
		return
	}
	in := s.ownerOf(dir, "")
	if in.Layout == LayoutSkills {
		s.describeModule(in, dir, module)
	}
	entries, before := 0, len(s.origin.Items)
	s.origin.walkFolders(dir, 0, &entries, func(at string, names []fs.DirEntry) bool {
		if !hasName(names, "SKILL.md") {
			return true
		}
		s.addSkill(at, names, in, module)
		return false
	})
	if len(s.origin.Items) > before { // the description of the module lies beside the skills
		s.origin.trees = append(s.origin.trees, dir)
	}
}
