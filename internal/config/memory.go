package config

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// Memory is the use that the stages of a run make of a project's notes.
type Memory string

// The values of memory.
const (
	// MemoryAuto: they read the notes that there are, and write some if the project has a folder for them.
	MemoryAuto Memory = "auto"
	// MemoryOn: they write notes in any project.
	MemoryOn Memory = "on"
	// MemoryOff: nobody reads or writes notes, not even by the tools.
	MemoryOff Memory = "off"
)

// setMemory applies a setting of the project memory. A project's file can only switch it off: it
// must not have notes written, or the project's texts sent to a server.
func (c *Config) setMemory(key, v string) error {
	if c.from == own && (key != "memory" || v != string(MemoryOff)) {
		c.ignoreBecause(lang.T("%s %s", key, v), lang.T("only the person decides what the project remembers, and where"))
		return nil
	}
	switch key {
	case "memory":
		return pick(&c.Memory, key, v, []Memory{MemoryAuto, MemoryOn, MemoryOff})
	case "memory_dir":
		return c.setMemoryDir(v)
	case "memory_embedding_model":
		c.MemoryEmbeddingModel = v
		return nil
	case "memory_qdrant":
		return address(&c.MemoryQdrant, key, v)
	default:
		return address(&c.MemoryEmbeddings, key, v)
	}
}

// setMemoryDir sets the folder of the notes, which has to lie in every project that it is for.
func (c *Config) setMemoryDir(v string) error {
	name := path.Clean(filepath.ToSlash(v))
	if v == "" || !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
		return lang.Errorf("memory_dir %q is not a folder inside the project, such as docs/memory", v)
	}
	if first, _, _ := strings.Cut(name, "/"); first == ".bmad-task" || first == ".git" {
		return lang.Errorf("memory_dir %q is in %s, which is not part of the repository", v, first)
	}
	c.MemoryDir = name
	return nil
}

// address sets the address of a server.
func address(field *string, key, v string) error {
	u, err := url.Parse(v)
	if err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return lang.Errorf("%s is not the address of a server, such as http://localhost:11434/v1 (without a password)", key)
	}
	*field = strings.TrimRight(v, "/")
	return nil
}
