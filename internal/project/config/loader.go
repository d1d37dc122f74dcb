package config

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// loader fills in settings from their sources, one after the other.
type loader struct {
	*Config

	from source
	// at is the place of the value that is applied.
	at Origin
	// refused is true if that value does not count.
	refused bool
	// project is the folder of the project, userFile the user's file; "" if there is none.
	project, userFile string
}

// yields reports whether a value of the project's file does not count because the person has set one,
// and notes that. It remembers the person's values.
func (l *loader) yields(key, v string) bool {
	if l.from == own && l.byPerson[key] {
		l.ignore(lang.T("%s %s", key, v), yoursHolds)
		return true
	}
	l.byPerson[key] = l.from != own
	return false
}

var yoursHolds = lang.T("yours holds")

// ignore notes that a setting of the project's file does not count, and why.
func (l *loader) ignore(what, why lang.Text) {
	l.refuse(lang.T("%s of %s does not count: %s", what, ProjectFile, why))
}

// refuse notes that the value that is applied does not count.
func (l *loader) refuse(text lang.Text) {
	l.refused = true
	l.note(text)
}

// isUserFileInside reports whether the user's file is inside the project, which can then write it.
func (l *loader) isUserFileInside() bool {
	return l.project != "" && l.userFile != "" && isInside(l.project, l.userFile)
}
