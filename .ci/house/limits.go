package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// limits are those of this module. Lower a number in wider or up as soon as its count falls; never
// raise one.
var limits = limit{
	file:    500,
	methods: 60,
	wider:   map[string]int{},
	up: map[string]int{
		"internal/engine":       0,
		"internal/submission":   0,
		"internal/request":      0,
		"internal/permission":   0,
		"internal/documents":    0,
		"internal/mcpserver":    0,
		"internal/bmad/catalog": 1,
		"internal/cli":          1,
		"internal/audit":        15,
	},
}

// limit is a set of limits.
type limit struct {
	file    int            // the lines of a file that is not a test
	methods int            // the methods of a type
	wider   map[string]int // the types that are allowed more, until they are split
	up      map[string]int // by package, the arrows that run back up
}

// check returns an error that names each limit that is broken.
func (l limit) check(f *figures) error {
	var broken []error
	for _, file := range f.files {
		if file.size > l.file {
			broken = append(broken, fmt.Errorf("%s has %d lines, at most %d are allowed: split it by what its parts do", file.name, file.size, l.file))
		}
	}
	for _, t := range f.methods {
		if allowed := max(l.methods, l.wider[t.name]); t.size > allowed {
			broken = append(broken, fmt.Errorf("%s has %d methods, at most %d are allowed: give a part of it a type of its own", t.name, t.size, allowed))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.up)) {
		p, ok := f.packages[name]
		switch up := p.upward(); {
		case !ok:
			broken = append(broken, fmt.Errorf("limits.go names the package %s, which is missing: remove it there", name))
		case len(up) > l.up[name]:
			broken = append(broken, fmt.Errorf("%s has %d arrows back up, at most %d are allowed:\n  %s", name, len(up), l.up[name], strings.Join(up, "\n  ")))
		}
	}
	return errors.Join(broken...)
}
