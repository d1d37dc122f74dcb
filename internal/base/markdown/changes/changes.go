// Package changes compares two versions of a document by sections, for a person who has approved the first one. It is
// pure, and its work is bounded for texts of any content.
//
// A section begins at a heading of the first or second level, or of the highest level of a document with deeper ones
// only. A document without headings is compared by paragraphs. New line breaks within a paragraph do not count, and
// neither does a new number of a heading.
package changes

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// Kind names the change of a section.
type Kind string

// The kinds.
const (
	Same    Kind = "same"
	Moved   Kind = "moved" // and the text is the same
	Changed Kind = "changed"
	Added   Kind = "added"
	Removed Kind = "removed"
)

// Section is a section of the new version, or a removed one.
type Section struct {
	Kind Kind `json:"change"`
	// Title is the heading; "" for the text before the first one. A paragraph of a document without headings has
	// the first words.
	Title string `json:"title,omitempty"`
	// Was is the earlier heading of a renamed section.
	Was string `json:"was,omitempty"`
	// Added and Removed count words.
	Added   int `json:"words_added"`
	Removed int `json:"words_removed"`
	// From and To are the lines in the new version, OldFrom and OldTo the lines in the old one, from 1; 0 for none.
	From    int `json:"-"`
	To      int `json:"-"`
	OldFrom int `json:"-"`
	OldTo   int `json:"-"`
}

// Sections compares two versions. The sections are in the order of the new version, with the removed ones where they
// stood.
func Sections(before, after string) []Section {
	a, b := split(before), split(after)
	from := match(a, b)
	taken := make([]bool, len(a))
	for _, m := range from {
		if m.at >= 0 {
			taken[m.at] = true
		}
	}
	var out []Section
	left := workOfCounting
	next := 0
	addRemoved := func(until int) {
		for ; next < until; next++ {
			if !taken[next] {
				out = append(out, compare(Removed, &a[next], &part{}, &left))
			}
		}
	}
	for y, m := range from {
		if m.at < 0 {
			out = append(out, compare(Added, &part{}, &b[y], &left))
			continue
		}
		if m.kind != Moved {
			addRemoved(m.at)
		}
		out = append(out, compare(m.kind, &a[m.at], &b[y], &left))
	}
	addRemoved(len(a))
	return out
}

// Differing returns the sections with a change.
func Differing(all []Section) []Section {
	return slices.DeleteFunc(slices.Clone(all), func(s Section) bool { return s.Kind == Same })
}

// Words counts the added and removed words of sections.
func Words(all []Section) (added, removed int) {
	for _, s := range all {
		added, removed = added+s.Added, removed+s.Removed
	}
	return added, removed
}

// workOfCounting bounds the pairs of words compared in order; beyond it, words count by their number.
const workOfCounting = 1 << 24

func compare(kind Kind, a, b *part, left *int) Section {
	out := Section{Kind: kind, Title: b.title, From: b.from, To: b.to, OldFrom: a.from, OldTo: a.to}
	switch kind {
	case Same, Moved:
		return out
	case Removed:
		out.Title = a.title
	case Changed:
		if a.name != b.name && a.title != b.title {
			out.Was = a.title
		}
	}
	before, after := a.words(), b.words()
	common := 0
	if *left -= len(before) * len(after); *left < 0 {
		common = textdiff.CountCommon(before, after)
	} else {
		for _, y := range textdiff.Common(before, after) {
			if y >= 0 {
				common++
			}
		}
	}
	out.Added, out.Removed = len(after)-common, len(before)-common
	return out
}

// origin is the section of the old version from which one of the new version comes; at is -1 for none.
type origin struct {
	at   int
	kind Kind
}

// match finds the origin of each section: the same text, then the same heading, the same text below another heading,
// and last most of the same words.
func match(a, b []part) []origin {
	from := make([]origin, len(b))
	for y := range from {
		from[y].at = -1
	}
	taken := make([]bool, len(a))
	take := func(x, y int, kind Kind) { from[y], taken[x] = origin{x, kind}, true }
	keys := func(parts []part) []string {
		out := make([]string, len(parts))
		for i, p := range parts {
			out[i] = p.whole()
		}
		return out
	}
	for x, y := range textdiff.Common(keys(a), keys(b)) {
		if y >= 0 {
			take(x, y, Same)
		}
	}
	for _, by := range []struct {
		kind Kind
		key  func(part) string // "" for none
	}{
		{Moved, part.whole},
		{Changed, part.heading},
		{Changed, func(p part) string { return p.body }},
		{Changed, func(p part) string { return map[bool]string{true: "title"}[p.isTitle] }},
	} {
		left := map[string][]int{}
		for x, p := range a {
			if key := by.key(p); !taken[x] && key != "" {
				left[key] = append(left[key], x)
			}
		}
		for y, p := range b {
			if xs := left[by.key(p)]; from[y].at < 0 && len(xs) > 0 {
				left[by.key(p)] = xs[1:]
				take(xs[0], y, by.kind)
			}
		}
	}
	matchSimilar(a, b, from, taken, take)
	return from
}

// workOfMatching bounds the words read to match sections by them.
const workOfMatching = 1 << 22

// matchSimilar matches the sections that are left between two others with the ones left in the same place.
func matchSimilar(a, b []part, from []origin, taken []bool, take func(x, y int, kind Kind)) {
	until, end := make([]int, len(b)), len(a) // the origin of the next matched section
	for y, m := range slices.Backward(from) {
		if m.at >= 0 {
			end = m.at
		}
		until[y] = end
	}
	next, left := 0, workOfMatching
	for y := range b {
		if from[y].at >= 0 {
			if from[y].kind != Moved {
				next = max(next, from[y].at+1)
			}
			continue
		}
		best, most := -1, 0
		for x := next; x < len(a) && x != until[y] && left > 0; x++ {
			left--
			if taken[x] {
				continue
			}
			before, after := a[x].words(), b[y].words()
			if 2*min(len(before), len(after)) < max(len(before), len(after)) {
				continue
			}
			left -= len(before) + len(after)
			if common := textdiff.CountCommon(before, after); common > most && 2*common >= max(len(before), len(after)) {
				best, most = x, common
			}
		}
		if best >= 0 {
			take(best, y, Changed)
			next = best + 1
		}
	}
}
