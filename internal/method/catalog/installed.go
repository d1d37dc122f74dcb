package catalog

import (
	"path"
	"slices"
	"strings"
)

// The installation of a project takes precedence over copies in the same project.

// isBackup reports whether a folder is named as people and installers name backups: _bmad.bak,
// .bmad.old, bmad-backup-20260102.
func isBackup(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" ._-()", r) })
	for len(words) > 1 && strings.ContainsAny(words[len(words)-1][:1], "0123456789") { // a date or a number
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	marks := []string{"bak", "backup", "backups", "old", "orig", "copy", "prev", "previous"}
	last := strings.TrimRight(words[len(words)-1], "0123456789")
	return slices.Contains(marks, words[0]) || slices.Contains(marks, last) || strings.HasSuffix(name, "~")
}

// installedModules returns the modules of the installations so far, with the folder of each.
func (s *scan) installedModules() map[string]string {
	out := map[string]string{}
	for _, i := range s.origin.Items {
		if in := i.Installation; in != nil && in.Layout == LayoutV6 && out[i.Module] == "" {
			out[i.Module] = in.Dir
		}
	}
	return out
}

// isInstalled reports whether a module is installed in the project whose repository holds the module's
// source. The installation counts, and the source is listed as left out.
func (s *scan) isInstalled(module, source string) bool {
	in, installed := s.installed[module]
	if installed && module != "" && (s.origin.isFile(path.Join(source, moduleYAML)) || strings.HasSuffix(source, "-skills")) {
		s.origin.addProblem(source, "it is the source of the module %q, which is installed in %s; it was left out", module, in)
		return true
	}
	return false
}
