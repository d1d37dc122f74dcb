package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sources are what shows that somebody works in a folder as in one project: a repository, or
// the file by which a language's tools know where a project begins.
var sources = []string{
	".git", ".hg", ".jj", "go.mod", "package.json", "deno.json", "Cargo.toml", "pyproject.toml", "setup.py", "requirements.txt",
	"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "CMakeLists.txt", "Makefile", "composer.json", "Gemfile",
	"mix.exs", "Package.swift", "pubspec.yaml",
}

// sessionsFolder is where a project keeps its sessions.
const sessionsFolder = ".bmad-task"

const (
	// searchDepth and searchFolders bound the search for projects below a folder: in one that
	// holds the work of a company, a few are enough to name.
	searchDepth, searchFolders = 3, 500
	// namedProjects is how many projects an answer names.
	namedProjects = 8
)

// Serves reports whether a folder is there and may be served.
func (e *Engine) Serves(folder string) bool {
	if !filepath.IsAbs(folder) {
		return false
	}
	dir, err := e.openFolder(folder)
	if err != nil {
		return false
	}
	_ = dir.Close()
	return true
}

// IsProject reports whether a folder is itself a project. One that only has sessions is none
// if there are projects below it: the sessions may have come there because nothing said which
// of those was meant.
func (e *Engine) IsProject(folder string) bool {
	return hasAny(folder, sources...) || hasAny(folder, sessionsFolder) && len(projectsBelow(folder, 1)) == 0
}

// HoldsProjects reports whether a folder is a place for several projects and was never worked
// in as one: that nothing says which of them is meant.
func (e *Engine) HoldsProjects(folder string) bool {
	return !hasAny(folder, sources...) && !hasAny(folder, sessionsFolder) && len(projectsBelow(folder, 1)) > 0
}

// ServedProjects returns some of the projects in the folders that are served: those with sessions
// first.
func (e *Engine) ServedProjects() []string {
	var out []string
	add := func(project string) {
		if len(out) < namedProjects && !slices.Contains(out, project) {
			out = append(out, project)
		}
	}
	if e.known != nil {
		for _, project := range e.known.List() {
			if _, rel, served := e.servedAs(project); served && (rel != "." || e.IsProject(project)) && e.Serves(project) {
				add(project)
			}
		}
	}
	for _, root := range e.within {
		for _, project := range projectsBelow(root, namedProjects) {
			add(project)
		}
	}
	return out
}

// servedHint says where a cwd may be, and what there is.
func (e *Engine) servedHint() string {
	hint := ", in " + strings.Join(e.within, " or ")
	if projects := e.ServedProjects(); len(projects) > 0 {
		hint += "; projects there: " + strings.Join(projects, ", ")
	}
	return hint
}

func hasAny(folder string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	})
}

// projectsBelow returns up to most projects below a folder, the nearest first. It does not
// follow links, nor look into projects.
func projectsBelow(folder string, most int) []string {
	var out []string
	looked := 0
	level := []string{folder}
	for range searchDepth {
		var next []string
		for _, parent := range level {
			entries, err := firstEntries(parent)
			if err != nil {
				continue
			}
			for _, entry := range entries {
				if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" {
					continue
				}
				if looked++; looked > searchFolders || len(out) >= most {
					return out
				}
				child := filepath.Join(parent, entry.Name())
				if hasAny(child, sources...) || hasAny(child, sessionsFolder) {
					out = append(out, child)
				} else {
					next = append(next, child)
				}
			}
		}
		level = next
	}
	return out
}

// firstEntries returns what lies in a folder, by name; of a very full one, some of it.
func firstEntries(folder string) ([]os.DirEntry, error) {
	root, err := os.OpenRoot(folder) // waits for no pipe that took the folder's place
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	entries, err := f.ReadDir(4 * searchFolders)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if len(entries) > 0 {
		err = nil
	}
	return entries, err
}
