package config

import (
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Verified returns the stages whose submission a verify command can check.
func (c *Config) Verified() []workflow.StageID {
	return c.those(func(_ *workflow.Definition, st workflow.Stage) bool { return st.Verify })
}

// setVerify accepts the project's command only if the person has set none: theirs must not be
// replaced.
func (c *Config) setVerify(stage workflow.StageID, command string) {
	key, command := "verify "+string(stage), strings.TrimSpace(command)
	switch {
	case c.from == own && c.byPerson[key]:
		c.ignore(lang.T("%s %s", "verify", command))
		return
	case c.from == environment && command == "" && c.byPerson[key]:
		return // a variable is easier to set than the person's file is to change
	}
	c.Verify[stage], c.byPerson[key] = command, c.from != own
	switch {
	case c.from == environment:
		c.VerifyBy[stage] = workflow.SetByEnvironment
	case c.from == own || c.userInside():
		c.VerifyBy[stage] = workflow.SetByProject
	default:
		c.VerifyBy[stage], c.PersonVerify[stage] = workflow.SetByPerson, command
	}
}

// setChecks sets the commands that the server runs if a report names them. Only the person's own
// file counts: a variable can be set by a project's settings of a host.
func (c *Config) setChecks(values []string) error {
	if c.from != user || c.userInside() {
		c.note(lang.T("checks %s does not count: only your own file can name commands to run", strings.Join(values, ", ")))
		return nil
	}
	c.Checks = nil
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			c.Checks = append(c.Checks, v)
		}
	}
	return nil
}

// setVerifies sets the command for every stage that can be verified.
func (c *Config) setVerifies(command string) {
	for _, stage := range c.Verified() {
		c.setVerify(stage, command)
	}
}

// userInside reports whether the user's file is inside the project, which can then write it.
func (c *Config) userInside() bool {
	return c.project != "" && c.userFile != "" && inside(c.project, c.userFile)
}

// inside reports whether a file is inside a folder, with all links followed. The file may
// be missing; a path that cannot be resolved is compared as it is written.
func inside(folder, file string) bool {
	real := func(path string) string {
		if found, err := filepath.EvalSymlinks(path); err == nil {
			return found
		}
		return filepath.Clean(path)
	}
	for _, name := range []string{file, filepath.Join(real(filepath.Dir(file)), filepath.Base(file)), real(file)} {
		for _, root := range []string{filepath.Clean(folder), real(folder)} {
			if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}
