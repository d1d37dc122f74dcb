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
)

// The folders of a git directory that hold only data, and the files that give orders besides settings and hooks.
var (
	dataFolders = []string{"objects", "refs", "logs", "lfs", "rr-cache"}
	orderFiles  = []string{"commondir", "gitdir", "attributes", "git-rebase-todo"}
)

// Orders returns the files that git obeys in the repository of a folder, with the mode and a hash of each: the settings and
// the hooks, also of submodules and linked work trees. Files that settings name are not among them. It is empty
// without a repository.
func Orders(folder string) map[string]string {
	found := map[string]string{}
	r, err := findRepository(folder)
	if r == nil || err != nil {
		return found
	}
	for _, dir := range []string{r.dir, r.common} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, name)
			isHook := slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(rel)), "/"), "hooks")
			base := filepath.Base(name)
			isOrder := isHook || strings.HasPrefix(base, "config") || slices.Contains(orderFiles, base)
			switch {
			case err != nil: // it cannot be read, or has just gone
			case d.IsDir() && slices.Contains(dataFolders, d.Name()):
				return fs.SkipDir
			case r.isOrdinaryRecord(dir, rel):
			case !d.IsDir() && isOrder:
				addFile(found, name)
			}
			return nil
		})
	}
	return found
}

// isOrdinaryRecord reports whether a file in a git directory is in the record of a linked work tree, and as it has to be: work
// trees come, move and go meanwhile. A commondir elsewhere would give a work tree other settings.
func (r *repository) isOrdinaryRecord(dir, rel string) bool {
	common, err := filepath.EvalSymlinks(r.common)
	if err != nil {
		return false
	}
	inside, err := filepath.Rel(common, filepath.Join(dir, rel))
	parts := strings.Split(filepath.ToSlash(inside), "/")
	if err != nil || len(parts) != 3 || parts[0] != "worktrees" {
		return false
	}
	text, err := durable.ReadPath(filepath.Join(dir, rel), maxPointer)
	switch value := strings.TrimSpace(string(text)); parts[2] {
	case "commondir":
		return err == nil && value == "../.."
	case "gitdir":
		return parts[1] != filepath.Base(r.dir) || value == filepath.Join(r.tree, ".git")
	}
	return false
}

func addFile(found map[string]string, name string) {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return
	}
	text, err := durable.ReadPath(name, maxText)
	found[name] = fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(text))
	if err != nil {
		found[name] += info.ModTime().String()
	}
}
