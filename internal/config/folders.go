package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// folder sets a folder, which has to exist.
func (c *Config) folder(field *string, key, v, base string) error {
	if v == "" {
		return lang.Errorf("%s names no folder", key)
	}
	if !filepath.IsAbs(v) {
		v = filepath.Join(base, filepath.FromSlash(v))
	}
	if !c.isFolder(v, base) {
		return lang.Errorf("%s %q is not an existing folder", key, v)
	}
	*field = v
	return nil
}

// isFolder reports whether a path is a folder. For a path of a project's file that leads out of
// the project, directly or through a link, a confined server does not reveal that.
func (c *Config) isFolder(path, base string) bool {
	if c.from != own || !c.confined {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	}
	rel, err := filepath.Rel(base, path)
	if err != nil || !filepath.IsLocal(rel) {
		return true
	}
	dir, err := durable.OpenDir(base)
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }() // nothing was written
	info, err := dir.Stat(filepath.ToSlash(rel))
	return err == nil && info.IsDir()
}

// setProjects adds folders in which assistants may work. Only the person can set them: a
// repository must not open others.
func (c *Config) setProjects(values []string) error {
	if c.from == own {
		c.ignoreBecause(lang.T("%s %s", "projects", strings.Join(values, ", ")), lang.T("only the person decides which folders may be used"))
		return nil
	}
	if c.from == environment && len(values) == 1 {
		values = filepath.SplitList(values[0])
	}
	for _, v := range values {
		if v = strings.TrimSpace(v); v == "" || strings.HasPrefix(v, "${") { // a host's placeholder without a value
			continue
		}
		path := v
		if rest, ok := strings.CutPrefix(filepath.ToSlash(v), "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return lang.Errorf("projects %q: there is no home folder: %w", v, err)
			}
			path = filepath.Join(home, filepath.FromSlash(rest))
		}
		if !filepath.IsAbs(path) {
			return lang.Errorf("projects %q is not an absolute path; write /… or ~/…", v)
		}
		if path = filepath.Clean(path); !slices.Contains(c.Projects, path) {
			c.Projects = append(c.Projects, path)
		}
	}
	return nil
}
