package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Origin is the place of a setting's value.
type Origin struct {
	// Kind is default, user, project or variable.
	Kind string `json:"kind"`
	// File and Line are set for a file's, Variable for a variable's.
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Variable string `json:"variable,omitempty"`
}

// Place names the place, for people.
func (o Origin) Place() lang.Text {
	switch {
	case o.Variable != "":
		return lang.T("%s", o.Variable)
	case o.File != "":
		return lang.T("%s, line %d", shorten(o.File), o.Line)
	}
	return lang.T("default")
}

// shorten writes a path below the home folder with ~.
func shorten(path string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	if rel, below := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); below {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}
