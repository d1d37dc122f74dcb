// Package pattern matches regular expressions. It compiles them at their first use, and is fast on texts
// without a match, as most are.
//
// A [Pattern] has the methods of a [regexp.Regexp] and their results. A separate automaton decides whether
// a text matches at all. It looks at each character of a text once, and more alternatives do not slow it
// down. Package regexp goes over a text only if it matches and the caller asks for the place. The automaton
// grows as texts need it, up to a bound.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression in the syntax of package regexp. Several goroutines may use it.
type Pattern struct {
	source string
	// places finds the place of a match. any decides whether there is one.
	places   *regexp.Regexp
	compiled sync.Once
	any      *automaton
	made     sync.Once
}

// New returns the pattern for an expression. If the expression is not valid, the first use panics.
func New(source string) *Pattern { return &Pattern{source: source} }

func (p *Pattern) toRegexp() *regexp.Regexp {
	p.compiled.Do(func() { p.places = regexp.MustCompile(p.source) })
	return p.places
}

func (p *Pattern) toAutomaton() *automaton {
	p.made.Do(func() { p.any = newAutomaton(p.source) })
	return p.any
}

// MatchString reports whether a part of s matches.
func (p *Pattern) MatchString(s string) bool {
	matches, known := p.toAutomaton().match(s)
	if !known {
		return p.toRegexp().MatchString(s)
	}
	return matches
}

// FindString returns the first match in s.
func (p *Pattern) FindString(s string) string {
	if !p.MatchString(s) {
		return ""
	}
	return p.toRegexp().FindString(s)
}

// FindStringIndex returns the place of the first match, or nil.
func (p *Pattern) FindStringIndex(s string) []int {
	if !p.MatchString(s) {
		return nil
	}
	return p.toRegexp().FindStringIndex(s)
}

// FindStringSubmatch returns the first match with all groups, or nil.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if !p.MatchString(s) {
		return nil
	}
	return p.toRegexp().FindStringSubmatch(s)
}

// FindStringSubmatchIndex returns the places of the first match and of each group, or nil.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	if !p.MatchString(s) {
		return nil
	}
	return p.toRegexp().FindStringSubmatchIndex(s)
}

// FindAllString returns the first n matches, or all of them if n is negative.
func (p *Pattern) FindAllString(s string, n int) []string {
	if !p.MatchString(s) {
		return nil
	}
	return p.toRegexp().FindAllString(s, n)
}

// FindAllStringIndex returns the places of the first n matches.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	if !p.MatchString(s) {
		return nil
	}
	return p.toRegexp().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch returns the first n matches with their groups.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	if !p.MatchString(s) {
		return nil
	}
	return p.toRegexp().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex returns the places of the first n matches and of their groups.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if !p.MatchString(s) {
		return nil
	}
	return p.toRegexp().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString returns s with each match replaced, and $1 in the replacement by the match's group.
func (p *Pattern) ReplaceAllString(s, by string) string {
	if !p.MatchString(s) {
		return s
	}
	return p.toRegexp().ReplaceAllString(s, by)
}

// ReplaceAllStringFunc returns s with each match replaced by the function's result for it.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	if !p.MatchString(s) {
		return s
	}
	return p.toRegexp().ReplaceAllStringFunc(s, by)
}

// Split cuts s at the matches into at most n parts, or at all of them if n is negative.
func (p *Pattern) Split(s string, n int) []string {
	if n != 0 && !p.MatchString(s) {
		return []string{s}
	}
	return p.toRegexp().Split(s, n)
}
