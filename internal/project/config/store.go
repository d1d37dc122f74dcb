package config

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// storeIsTheirs is why a project's file names no store: it would send the person's documents to a stranger.
var storeIsTheirs = lang.T("only the person decides where runs are kept")

// storeRequired is the word by which a project's file demands a store without naming one.
const storeRequired = "required"

// setStore sets the store. No error and no note repeats the address, which may hold a password.
func setStore(l *loader, values []string) error {
	v := values[0]
	switch {
	case l.from == own && strings.EqualFold(v, storeRequired):
		l.Store.Required = true
		return nil
	case l.from == own && strings.Contains(v, ":"):
		l.ignore(lang.T("%s", "store"), storeIsTheirs)
		return nil
	case l.from == own: // to ignore a typing error would be to use files
		return lang.Errorf("store in a project's file can only be %q; the address is in the settings of each member", storeRequired)
	case !strings.HasPrefix(v, "postgres://") && !strings.HasPrefix(v, "postgresql://"):
		return lang.Errorf("store is not the address of a PostgreSQL database, such as postgres://host/database")
	}
	l.Store.Address = v
	return nil
}

// show returns the address without its secrets, or what the project's file demands.
func (s Store) show() any {
	if s.Address == "" && s.Required {
		return storeRequired
	}
	return withoutPassword(s.Address)
}

// setProject sets the name of the project in the store.
func setProject(l *loader, values []string) error {
	if !IsProjectName(values[0]) {
		return lang.Errorf("project %q is not a name of at most %d bytes without blanks", values[0], maxProjectName)
	}
	l.Store.Project = values[0]
	return nil
}

// maxProjectName is the length of the longest name of a project in a store, in bytes.
const maxProjectName = 200

// IsProjectName reports whether a project can have a name in a store.
func IsProjectName(name string) bool {
	return name != "" && len(name) <= maxProjectName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
}
