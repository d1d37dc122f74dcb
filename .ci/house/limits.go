package main

import (
	"path"
	"slices"
	"strings"
)

// limits are those of this module. A limit shows a knot: untie the knot, or raise the limit in the open; never move
// code so that a number fits. Lines have no limit: a table of lines for each wing is printed, and the change log names
// an addition of more than 500 with its reason.
var limits = limit{
	file:    bound{most: 500, what: "lines", advice: "split it by what its parts do"},
	methods: bound{most: 60, what: "methods, with those of embedded types", advice: "give a part of it a type of its own, or embed less"},
	fields: bound{most: 25, what: "fields", advice: "group those that go together", named: map[string]exception{
		"internal/project/config.Config": {40, "one for each setting"},
	}},
	up: bound{most: 5, what: "arrows back up", advice: "let files lean on each other in one direction"},

	// Rates have a fifth of room, because deleting other code raises them.
	mixed:       goal{want: 0.85},
	participles: goal{want: 2},
	oneWord:     goal{want: 35},
	long:        goal{want: 47},
}

// isSupport reports whether a package is for tests or for this folder's checks alone.
func isSupport(pkg string) bool {
	return slices.ContainsFunc(strings.Split(pkg, "/"), func(part string) bool {
		return part == ".ci" || part == "testkit" || part == "conformance" || strings.HasSuffix(part, "test")
	})
}

// wingOf returns the wing of a package: the folder below internal, or that at the top.
func wingOf(pkg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pkg, "internal/"), "/")
	return name
}

// linesOf adds the lines of files up by wing.
func linesOf(files []sized) map[string]int {
	out := map[string]int{}
	for _, file := range files {
		out[wingOf(path.Dir(file.name))] += file.size
	}
	return out
}
