package pandoc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Program is pandoc, and TeX for PDFs.
type Program struct {
	// Path is the absolute path of pandoc, without links.
	Path string
	// Engine is the absolute path of a program of TeX, "" if there is none. Links stay, since TeX goes by the name.
	Engine string
}

// engines make a PDF. Others run Lua, or load the files that a document names.
var engines = []string{"xelatex", "pdflatex"}

// Find returns the programs in PATH, except for relative folders in it and for files in a project, or reached through it:
// tools such as npm put folders of a project into PATH, and a writer of the project could run programs as the person.
func Find(project string) (p Program, err error) {
	avoided, err := os.Stat(project)
	if err != nil {
		return p, err
	}
	if _, p.Path = findProgram(Name, avoided); p.Path == "" {
		return p, errors.New("pandoc is not installed outside of the project (https://pandoc.org/installing.html)")
	}
	for _, engine := range engines {
		if p.Engine == "" {
			p.Engine, _ = findProgram(engine, avoided)
		}
	}
	return p, nil
}

// findProgram returns a program in PATH, and the same path without links.
func findProgram(name string, avoided os.FileInfo) (found, real string) {
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			if real, ok := followLinks(found, avoided); ok {
				return found, real
			}
		}
	}
	return "", ""
}

// maxLinks is how many links a path may have.
const maxLinks = 40

// followLinks returns an absolute path without links, unless the way to it leads through a folder.
func followLinks(name string, avoided os.FileInfo) (real string, ok bool) {
	links := 0
	for at, rest := splitPath(name); links <= maxLinks; {
		if info, err := os.Stat(at); err != nil || os.SameFile(info, avoided) { //nolint:gosec // a folder of PATH, which is only looked at
			return "", false
		}
		if len(rest) == 0 {
			return at, true
		}
		next := filepath.Join(at, rest[0])
		target, err := os.Readlink(next)
		switch {
		case err != nil:
			at, rest = next, rest[1:]
		case filepath.IsAbs(target):
			root, parts := splitPath(target)
			at, rest, links = root, append(parts, rest[1:]...), links+1
		default:
			rest, links = append(strings.Split(filepath.ToSlash(target), "/"), rest[1:]...), links+1
		}
	}
	return "", false
}

// splitPath returns the root of an absolute path, and the parts below.
func splitPath(name string) (root string, parts []string) {
	root = filepath.VolumeName(name) + string(filepath.Separator)
	return root, strings.Split(filepath.ToSlash(strings.TrimPrefix(filepath.Clean(name), root)), "/")
}

// searchPath returns the PATH of the programs: their own folders, and the folders of the system.
func (p Program) searchPath() string {
	folders := []string{filepath.Dir(p.Path), "/usr/bin", "/bin"}
	if runtime.GOOS == "windows" {
		folders = []string{filepath.Dir(p.Path), filepath.Join(os.Getenv("SystemRoot"), "System32")}
	}
	if p.Engine != "" {
		folders = append([]string{filepath.Dir(p.Engine)}, folders...)
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}
