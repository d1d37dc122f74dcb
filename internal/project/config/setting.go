package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Guard limits the say in a setting that a project's file has, which an assistant can write.
type Guard string

// The guards of settings. A setting with none is the project's to change, and of no weight for the decision at a gate.
const (
	// Tighten: it can only make the setting stricter.
	Tighten Guard = "tighten"
	// PersonOnly: it has no say.
	PersonOnly Guard = "person"
	// PersonFirst: it counts if the person has set nothing.
	PersonFirst Guard = "first"
)

// setting is a setting that is not of one stage.
type setting struct {
	key string
	// list is true if it takes any number of values; the others take one.
	list  bool
	guard Guard
	set   func(l *loader, values []string) error
	// value returns the value in force; nil for a rule of stages, each of which has its own.
	value func(c *Config) any
}

// show returns the value in force as text; "" if there is none.
func (s setting) show(c *Config) string {
	if s.value == nil {
		return ""
	}
	return fmt.Sprint(s.value(c))
}

// personOnly returns the setting with the guard PersonOnly; why is the reason.
func (s setting) personOnly(why lang.Text) setting {
	set := s.set
	s.guard, s.set = PersonOnly, func(l *loader, values []string) error {
		if l.from == own {
			l.ignore(lang.T("%s %s", s.key, strings.Join(values, ", ")), why)
			return nil
		}
		return set(l, values)
	}
	return s
}

// personFirst returns the setting with the guard PersonFirst.
func (s setting) personFirst() setting {
	set := s.set
	s.guard, s.set = PersonFirst, func(l *loader, values []string) error {
		if l.yields(s.key, values[0]) {
			return nil
		}
		return set(l, values)
	}
	return s
}

// rule returns the setting of a rule for the gates of all stages.
func rule(name string) setting {
	return setting{key: name, list: name == "approvers", guard: Tighten, set: func(l *loader, values []string) error {
		return setRule(&l.rules.layers[l.from].all, name, name, strings.Join(values, ","))
	}}
}

// choice returns the setting of one of a few words.
func choice(key string, field func(*Config) *string, valid func() []string) setting {
	set := func(l *loader, values []string) error { return pick(field(l.Config), key, values[0], valid()) }
	return setting{key: key, set: set, value: func(c *Config) any { return *field(c) }}
}

// address returns the setting of the address of a server.
func address(key string, field func(*Config) *string) setting {
	set := func(l *loader, values []string) error { return setAddress(field(l.Config), key, values[0]) }
	return setting{key: key, set: set, value: func(c *Config) any { return *field(c) }}
}

func setAddress(field *string, key, v string) error {
	u, err := url.Parse(v)
	if err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return lang.Errorf("%s is not the address of a server, such as http://localhost:11434/v1 (without a password)", key)
	}
	*field = strings.TrimRight(v, "/")
	return nil
}

func pick[T ~string](field *T, key, v string, valid []T) error {
	if !slices.Contains(valid, T(v)) {
		names := make([]string, len(valid))
		for i, name := range valid {
			names[i] = string(name)
		}
		return lang.Errorf("%s %q is not one of %s", key, visible.Cut(v, 80, "…"), strings.Join(names, ", "))
	}
	*field = T(v)
	return nil
}

// unknownName returns the error for a name that is not among the known ones; problem is its first part.
func unknownName(problem lang.Text, name string, known []string, valid lang.Text) error {
	if near := fault.Near(name, known); len(near) > 0 {
		return lang.Errorf("%s, did you mean %s? %s", problem, strings.Join(near, ", "), valid)
	}
	return lang.Errorf("%s; %s", problem, valid)
}
