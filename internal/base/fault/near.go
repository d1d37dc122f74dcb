package fault

import (
	"cmp"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/lithammer/fuzzysearch/fuzzy"
)

const (
	// maxNear bounds the similar names in a hint.
	maxNear = 3
	// maxCompared bounds the length of compared names, and maxKnown their number.
	maxCompared, maxKnown = 100, 50_000
)

// Suggest puts the known names similar to a name before the hint.
func (e *Error) Suggest(name string, known []string) *Error { return e.Offer(Near(name, known)) }

// Offer puts names the caller may have meant before the hint.
func (e *Error) Offer(near []string) *Error {
	if len(near) == 0 {
		return e
	}
	e.Suggestions = near
	names := strings.Join(near, ", ")
	if e.Hint == "" {
		return e.WithHint("did you mean %s?", names)
	}
	return e.WithHint("did you mean %s? %s", names, e.Advice())
}

// Near returns the known names similar to a name, the most similar first, and at most three. Capitals, and
// the marks between words, make no difference.
func Near(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var all []candidate
	want := plainName(name)
	for _, k := range known[:min(len(known), maxKnown)] {
		if d, ok := Distance(want, plainName(k)); ok {
			all = append(all, candidate{k, d})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(a.distance-b.distance, strings.Compare(a.name, b.name)) })
	var out []string
	for _, c := range all {
		if !slices.Contains(out, c.name) {
			out = append(out, c.name)
		}
		if len(out) == maxNear {
			break
		}
	}
	return out
}

var marks = strings.NewReplacer("_", "-", " ", "-", ".", "-", "/", "-")

func plainName(name string) string {
	if len(name) > maxCompared {
		return ""
	}
	return strings.Trim(marks.Replace(strings.ToLower(name)), "-*")
}

// Distance measures how far a known name is from the wanted one; ok is false if they are
// not similar. Short names resemble everything, so they have to begin alike.
func Distance(want, known string) (distance int, ok bool) {
	if len(known) == 2 && len(want) == 3 && strings.HasPrefix(want, known) {
		return 1, true
	}
	if want == "" || len(known) < 3 && len(want) >= 3 || len(want) < 4 && !strings.HasPrefix(known, want) {
		return 0, false
	}
	limit := max(1, min(len(want), len(known))/3)
	switch {
	case len(want) >= 3 && (strings.HasPrefix(known, want) || strings.HasPrefix(want, known) && 2*len(known) >= len(want)):
		return 1, true
	case len(want) >= 4 && strings.Contains(known, want):
		distance = 2
	case len(want) >= 8 && len(known) > len(want)+limit: // the beginning of a long name
		distance, ok = Distance(want, strings.ToValidUTF8(known[:len(want)+1], ""))
		return distance + 1, ok
	case max(len(want)-len(known), len(known)-len(want)) > limit*4 || bits.OnesCount64(letterSet(want)&^letterSet(known)) > limit*4:
		return 0, false // cheaper than counting, if no count could be small; a character has up to 4 bytes
	default:
		distance = fuzzy.LevenshteinDistance(want, known)
	}
	return distance, distance <= limit
}

// letterSet returns the set of a name's bytes, in which some share a place.
func letterSet(s string) (set uint64) {
	for i := range len(s) {
		set |= 1 << (s[i] & 63)
	}
	return set
}

// NearPath returns paths a caller may have meant by a missing one: it follows the path part by part, and
// takes the similar name for a missing part. list returns the names in a folder, with a / at the end of
// folders; it is asked once for each part.
func NearPath(name string, list func(folder string) []string) []string {
	folder, parts := ".", strings.Split(path.Clean(name), "/")
	for i, part := range parts {
		names := list(folder)
		last := i == len(parts)-1
		if !last && slices.Contains(names, part+"/") {
			folder = path.Join(folder, part)
			continue
		}
		near := Near(part, withoutSlash(names, last))
		if len(near) == 0 {
			return nil
		}
		if !last {
			folder = path.Join(folder, near[0])
			continue
		}
		for n := range near {
			near[n] = path.Join(folder, near[n])
		}
		return near
	}
	return nil
}

// withoutSlash returns the names of the files in a list, or the names of the folders.
func withoutSlash(names []string, files bool) (out []string) {
	for _, name := range names {
		if plain, folder := strings.CutSuffix(name, "/"); folder != files {
			out = append(out, plain)
		}
	}
	return out
}
