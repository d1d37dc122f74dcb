package audit

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// identifier is the id of a requirement, story or criterion: FR-3, AC-1.2, S1-4.
type identifier struct {
	prefix string // "FR", "AC", "S1"
	number []int  // 1, 2 of 1.2
}

// foundID is an id as it is written, with the place in a text.
type foundID struct {
	prefix, number string
	from, to       int
}

func (f foundID) id() identifier { return identifier{f.prefix, parseNumber(f.number)} }

// idNumber is the number of an id: 1, 1.2, 1.2.3.
const idNumber = `(\d{1,4}(?:\.\d{1,4}){0,2})`

var (
	// latinID matches the id at the beginning of a text, and hanID one in Chinese, before any text.
	latinID = pattern.New(`^(?:(S\d{1,3})[-.](\d{1,4})|(US|FR|NFR|AC|BG|TR|R|T|Q|SEC|PERF)[-_]?` + idNumber + `)[a-z]?\b`)
	hanID   = pattern.New(`^(?:功能需求|需求)[ -]?` + idNumber)
)

// maxID is more than an id takes, in bytes.
const maxID = 40

// idsIn returns the ids of a text in order. Every line of every document is searched for ids, so idAt looks at the
// first character before it tries a pattern.
func idsIn(s string) iter.Seq[foundID] {
	return func(yield func(foundID) bool) {
		free := 0 // the end of the id before
		for at := 0; at < len(s); at++ {
			f, ok := idAt(s, at, free)
			if !ok {
				continue
			}
			if !yield(f) {
				return
			}
			free, at = f.to, f.to-1
		}
	}
}

// idAt reads the id at a place. An id in Chinese begins the text, or follows a character that is neither a letter
// nor Chinese, and not part of the id before, which ends at free. That character is a part of the place.
func idAt(s string, at, free int) (foundID, bool) {
	rest := s[at:min(len(s), at+maxID)]
	switch c := s[at]; {
	case strings.IndexByte("ABFNPQRSTU", c) >= 0 && (at == 0 || !markdown.IsWordByte(s[at-1])):
		if m := latinID.FindStringSubmatch(rest); m != nil {
			return foundID{m[1] + m[3], m[2] + m[4], at, at + len(m[0])}, true
		}
	case c == "需"[0] || c == "功"[0]:
		m := hanID.FindStringSubmatch(rest)
		before, size := utf8.DecodeLastRuneInString(s[free:at])
		apart := at == 0 || size > 0 && !isHan(before) && !isLetter(before)
		if m != nil && apart {
			return foundID{"FR", m[1], at - size, at + len(m[0])}, true
		}
	}
	return foundID{}, false
}

// firstID returns the first id of a text.
func firstID(s string) (foundID, bool) {
	for f := range idsIn(s) {
		return f, true
	}
	return foundID{}, false
}

func hasID(s string) bool {
	_, ok := firstID(s)
	return ok
}

// blankIDs returns a text with a space in place of each id.
func blankIDs(s string) string {
	var b strings.Builder
	at := 0
	for f := range idsIn(s) {
		b.WriteString(s[at:f.from] + " ")
		at = f.to
	}
	if at == 0 {
		return s
	}
	return b.String() + s[at:]
}

func (id identifier) String() string {
	parts := make([]string, len(id.number))
	for i, n := range id.number {
		parts[i] = strconv.Itoa(n)
	}
	return id.prefix + "-" + strings.Join(parts, ".")
}

func parseNumber(s string) []int {
	var out []int
	for part := range strings.SplitSeq(s, ".") {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}
