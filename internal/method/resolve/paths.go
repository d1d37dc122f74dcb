package resolve

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// projectRoot returns the value of {project-root}: the caller's project, or, before a path to a file of an
// installation elsewhere, the file's place.
func (r *resolver) projectRoot(after string) (value string, used int, ok bool) {
	rest, isPath := strings.CutPrefix(after, "/")
	lead := ""
	for _, named := range []string{"{bmad_folder}", "{bmad-folder}"} {
		if below, ok := strings.CutPrefix(rest, named); ok {
			lead, rest = named, below
		}
	}
	if end := strings.IndexFunc(rest, func(c rune) bool { return strings.ContainsRune("`'\"<>|()[]{},;:?!#… \t\n*", c) }); end >= 0 {
		rest = rest[:end]
	}
	rest = strings.TrimRight(rest, "/.")
	if in := r.i.Installation; isPath && in != nil && r.i.Origin.Name != catalog.Project {
		named := rest
		if lead != "" {
			named = "_bmad" + rest
		}
		f, name, found := r.c.LookUp(catalog.Ref{Path: named})
		if first, _, _ := strings.Cut(named, "/"); found && (name == named || catalog.IsNamed(first, "bmad")) {
			if at, ok := f.SystemPath(name); ok {
				return at, len("/") + len(lead) + len(rest), true
			}
		}
	}
	return filepath.ToSlash(r.target.Project), 0, r.target.Project != ""
}

// installationFolder returns the name of the installation's folder; for a module not installed yet, the future name.
func (r *resolver) installationFolder() (string, bool) {
	in := r.customizingInstallation()
	switch {
	case in == nil:
		return "", false
	case len(in.Described) > 0 && !in.Origin.Main:
		return "_bmad", true
	case in.Dir == ".":
		return "", false
	}
	return in.Dir, true
}

// moduleFile returns the path of the item's installation, or of the module or the module's configuration in it.
func (r *resolver) moduleFile(name string) (string, bool) {
	in := r.i.Installation
	if in == nil || in.Layout == catalog.LayoutSkills {
		in = r.customizingInstallation()
	}
	if in == nil || name != "bmad_root" && r.i.Module == "" {
		return "", false
	}
	file := in.Root(r.i.Module)
	switch name {
	case "bmad_root":
		file = in.Dir
	case "module_config", "config_source":
		file = path.Join(file, map[bool]string{true: "core-config.yaml", false: "config.yaml"}[in.Layout == catalog.LayoutV4])
	}
	system, ok := in.Origin.SystemPath(file)
	return system, ok && in.Origin.Has(file)
}

// inSource returns the source and the path in it of a system path.
func (r *resolver) inSource(name string) (*catalog.Origin, string, bool) {
	for _, f := range r.c.Origins() {
		if f.Dir == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(name, filepath.ToSlash(f.Dir)+"/"); ok && f.Has(rest) {
			return f, rest, true
		}
	}
	if f, rest, ok := r.c.LookUp(catalog.Ref{Path: strings.TrimPrefix(strings.TrimPrefix(name, "{project-root}/"), "./")}); ok && !path.IsAbs(name) {
		return f, rest, true
	}
	// From the project's folder, as if this installation were the project's.
	rest := strings.TrimPrefix(strings.TrimPrefix(name, filepath.ToSlash(r.target.Project)+"/"), "{project-root}/")
	if in := r.i.Installation; in != nil && rest != "" {
		if places, ok := in.Places(rest); ok {
			for _, place := range places {
				if in.Origin.Has(place) {
					return in.Origin, place, true
				}
			}
		}
	}
	return nil, "", false
}
