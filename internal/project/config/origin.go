package config

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Origin is the place of a setting's value.
type Origin struct {
	// Kind is FromDefault, FromUser, FromProject or FromVariable.
	Kind string `json:"kind"`
	// File and Line are set for a file's, Variable for a variable's.
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Variable string `json:"variable,omitempty"`
}

// The kinds of origins.
const (
	FromDefault  = "default"
	FromUser     = "user"
	FromProject  = "project"
	FromVariable = "variable"
)

// Place names the place, for people.
func (o Origin) Place() lang.Text {
	switch {
	case o.Variable != "":
		return lang.T("%s", o.Variable)
	case o.File != "":
		return lang.T("%s, line %d", homeRelative(o.File), o.Line)
	}
	return lang.T("default")
}

// homeRelative writes a path below the home folder with ~.
func homeRelative(path string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	if rel, below := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); below {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}

// Mention is a value that a place has for a setting, without passwords.
type Mention struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin Origin `json:"origin"`
}

// Text is the mention for people.
func (m Mention) Text() lang.Text { return lang.T("%s (%s)", cmp.Or(m.Value, "–"), m.Origin.Place()) }

// Notice tells that something at a place has no effect.
type Notice struct{ Place, What lang.Text }

// Text is the notice as a sentence.
func (n Notice) Text() lang.Text { return lang.T("%s: %s", n.Place, n.What) }
