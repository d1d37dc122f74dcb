package git

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Orders returns the files that git obeys in the repository of a folder, with the mode and a hash of each: the settings
// with what they name, and the hooks, also of submodules and linked work trees. It is empty without a repository.
func Orders(folder string) map[string]string {
	found := orders{}
	if r, err := findRepository(folder); r != nil && err == nil {
		for _, dir := range []string{r.dir, r.common} {
			found.addAll(dir, r.tree)
		}
	}
	return found
}

type orders map[string]string

// The folders of a git directory that hold only data, and the files that give orders besides settings and hooks.
var (
	dataFolders = []string{"objects", "refs", "logs", "lfs", "rr-cache"}
	orderFiles  = []string{"commondir", "gitdir", "attributes", "git-rebase-todo"}
)

// addAll adds the files of a git directory.
func (o orders) addAll(dir, tree string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil: // it cannot be read, or has just gone
		case d.IsDir() && slices.Contains(dataFolders, d.Name()):
			return fs.SkipDir
		case d.IsDir():
		case strings.HasPrefix(d.Name(), "config"):
			o.addSettings(name, tree)
		case slices.Contains(orderFiles, d.Name()), slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(rel)), "/"), "hooks"):
			o.addFile(name)
		}
		return nil
	})
}

// addFile adds a file, and returns the text unless it is known or too long.
func (o orders) addFile(name string) []byte {
	info, err := os.Stat(name)
	if _, known := o[name]; known || err != nil || info.IsDir() {
		return nil
	}
	text, err := durable.ReadPath(name, maxText)
	o[name] = fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(text))
	if err != nil {
		o[name] += info.ModTime().String()
	}
	return text
}

// setting matches a setting with a value.
var setting = pattern.New(`(?m)^[ \t]*(?:\[[^\]\r\n]*\][ \t]*)?([\w.-]+)[ \t]*=[ \t]*["!]*([^"\r\n]+)`)

// addSettings adds a file of settings, and the files named there: more settings, hooks, and programs of the work tree.
func (o orders) addSettings(name, tree string) {
	for _, found := range setting.FindAllStringSubmatch(string(o.addFile(name)), -1) {
		value := strings.TrimSpace(found[2])
		switch strings.ToLower(found[1]) {
		case "path":
			if at := resolvePath(filepath.Dir(name), value); at != "" {
				o.addSettings(at, tree)
			}
		case "hookspath":
			folder := resolvePath(tree, value)
			_ = filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() && name != folder { // git runs none below
					return fs.SkipDir
				}
				o.addFile(name)
				return nil
			})
		default:
			program, _, _ := strings.Cut(value, " ")
			if at := resolvePath(tree, program); strings.Contains(program, "/") && at != "" {
				o.addFile(at)
			}
		}
	}
}
