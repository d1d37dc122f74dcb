package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// signs are the files that show that a folder is worked in as one project: a repository, or the file by which a
// language's tools recognize the top of a project.
var signs = []string{
	".git", ".hg", ".jj", "go.mod", "package.json", "deno.json", "Cargo.toml", "pyproject.toml", "setup.py", "requirements.txt",
	"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "CMakeLists.txt", "Makefile", "composer.json", "Gemfile",
	"mix.exs", "Package.swift", "pubspec.yaml",
}

const (
	// searchDepth and searchFolders bound the search for projects below a folder: if there are hundreds, naming
	// a few is enough.
	searchDepth, searchFolders = 3, 500
)

// Is reports whether a folder is itself a project. One that only has sessions is not, if
// there are projects below it: the sessions may have come there because nothing said which
// of those was meant.
func Is(folder string) bool {
	return hasAny(folder, signs...) || hasAny(folder, store.Folder) && len(below(folder, 1)) == 0
}

// Holds reports whether a folder is a place for several projects that was never worked in
// as one, so that nothing says which of them is meant.
func Holds(folder string) bool {
	return !hasAny(folder, signs...) && !hasAny(folder, store.Folder) && len(below(folder, 1)) > 0
}

// Nearest returns the project of a folder: the nearest existing folder upwards that has sessions, or settings of a
// project, which a fresh clone has before it has sessions; else the folder itself.
// Sessions in a folder for files of all kinds, such as the home folder, are not for what lies below it, and a linked
// worktree is a project by itself.
func Nearest(folder string) string {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return folder
	}
	home, _ := os.UserHomeDir()
	all := []string{filepath.Clean(home), filepath.Clean(os.TempDir()), "/tmp", "/var/tmp"}
	for dir := folder; dir != filepath.Dir(dir) && !slices.Contains(all, dir); dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, store.Folder)); err == nil && info.IsDir() {
			return dir
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(config.ProjectFile))); err == nil {
			return dir
		}
		if isWorktree(dir) {
			break
		}
	}
	return folder
}

// isWorktree reports whether a folder is the top of a linked worktree of git.
func isWorktree(folder string) bool {
	text, err := durable.ReadPath(filepath.Join(folder, ".git"), 4096)
	return err == nil && strings.Contains(filepath.ToSlash(string(text)), "/worktrees/")
}

// Top returns the nearest folder upwards that is the top of a repository, else the folder itself: with a shared store
// a project that nobody has worked on in this clone has no folder of sessions.
func Top(folder string) string {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if hasAny(dir, ".git") {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return folder
		}
	}
}

func hasAny(folder string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	})
}

// below returns up to most projects below a folder, the nearest first. It neither follows
// links nor searches inside projects.
func below(folder string, most int) []string {
	var out []string
	searched := 0
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
				if searched++; searched > searchFolders || len(out) >= most {
					return out
				}
				child := filepath.Join(parent, entry.Name())
				if hasAny(child, signs...) || hasAny(child, store.Folder) {
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

// firstEntries returns the entries of a folder, by name; of a very full one, some of them.
func firstEntries(folder string) ([]os.DirEntry, error) {
	root, err := os.OpenRoot(folder) // does not block on a pipe that took the folder's place
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
