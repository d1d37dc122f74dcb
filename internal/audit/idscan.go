package audit

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// identifier is the id of a requirement, story or criterion: FR-3, AC-1.2, S1-4.
type identifier struct {
	prefix string // "FR", "AC", "S1"
	number []int  // 1, 2 of 1.2
}

func (id identifier) String() string {
	parts := make([]string, len(id.number))
	for i, n := range id.number {
		parts[i] = strconv.Itoa(n)
	}
	return id.prefix + "-" + strings.Join(parts, ".")
}

func numbers(s string) []int {
	var out []int
	for part := range strings.SplitSeq(s, ".") {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// idReader finds ids in a text: FR-3, AC-1.2, S1-4, 需求 3. It has the methods of a pattern, and
// finds in one pass the ids that every line of every document is searched for.
type idReader struct{}

var anyID idReader

// foundID is an id in a text, by its places: the whole, its prefix, and its number. The prefix of a
// Chinese one is empty.
type foundID struct{ from, to, prefix, prefixEnd, number, numberEnd int }

// in returns the id that was found.
func (f foundID) in(s string) identifier {
	prefix := s[f.prefix:f.prefixEnd]
	if prefix == "" {
		prefix = "FR"
	}
	return identifier{prefix, numbers(s[f.number:f.numberEnd])}
}

// MatchString reports whether a text has an id.
func (r idReader) MatchString(s string) bool {
	_, ok := r.next(s, 0)
	return ok
}

// all returns the ids of a text in their order.
func (r idReader) all(s string) []foundID {
	var out []foundID
	for f, ok := r.next(s, 0); ok; f, ok = r.next(s, f.to) {
		out = append(out, f)
	}
	return out
}

// blank returns the text with a space in place of each id.
func (r idReader) blank(s string) string {
	f, ok := r.next(s, 0)
	if !ok {
		return s
	}
	var b strings.Builder
	at := 0
	for ; ok; f, ok = r.next(s, f.to) {
		b.WriteString(s[at:f.from])
		b.WriteByte(' ')
		at = f.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// next returns the first id at or behind a place.
func (r idReader) next(s string, from int) (foundID, bool) {
	for i := from; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z':
			if i > 0 && wordByte(s[i-1]) {
				continue
			}
			if f, ok := r.latin(s, i); ok {
				return f, true
			}
		case c == "需"[0] || c == "功"[0]:
			if f, ok := r.chinese(s, i, from); ok {
				return f, true
			}
		}
	}
	return foundID{}, false
}

// latin reads an id that begins with the capital letter at a place.
func (r idReader) latin(s string, at int) (foundID, bool) {
	end := at + 1
	for end < len(s) && s[end] >= 'A' && s[end] <= 'Z' {
		end++
	}
	f := foundID{from: at, prefix: at, prefixEnd: end}
	switch s[at:end] {
	case "S": // of a sprint: S1-4
		f.prefixEnd = digits(s, end, 3)
		if f.prefixEnd == end || !byteIn(s, f.prefixEnd, "-.") {
			return foundID{}, false
		}
		f.number = f.prefixEnd + 1
		f.numberEnd = digits(s, f.number, 4)
		f.to = idEnd(s, f.numberEnd)
		return f, f.numberEnd > f.number && f.to >= 0
	case "US", "FR", "NFR", "AC", "BG", "TR", "R", "T", "Q", "SEC", "PERF":
	default:
		return foundID{}, false
	}
	if byteIn(s, end, "-_") {
		end++
	}
	f.number = end
	for _, f.numberEnd = range slices.Backward(numberEnds(s, end)) {
		if f.to = idEnd(s, f.numberEnd); f.to >= 0 {
			return f, true
		}
	}
	return foundID{}, false
}

// hanID matches 需求 3 and 功能需求 3. Nothing has to follow, so that the first four of more digits are
// a number.
var hanID = pattern.New(`^(?:功能需求|需求)[ -]?(\d{1,4}(?:\.\d{1,4}){0,2})`)

// chinese reads 需求 3 or 功能需求 3 at a place, behind anything but a letter or a Chinese
// character that is not before from.
func (r idReader) chinese(s string, at, from int) (foundID, bool) {
	m := hanID.FindStringSubmatchIndex(s[at:min(len(s), at+40)])
	if m == nil {
		return foundID{}, false
	}
	f := foundID{from: at, to: at + m[1], prefix: at, prefixEnd: at, number: at + m[2], numberEnd: at + m[3]}
	if at > 0 {
		before, size := utf8.DecodeLastRuneInString(s[from:at])
		if size == 0 || isHan(before) || isLetter(before) {
			return foundID{}, false
		}
		f.from -= size
	}
	return f, true
}

// numberEnds returns the ends of 1, 1.2 and 1.2.3 that begin at a place.
func numberEnds(s string, at int) []int {
	var ends []int
	for len(ends) < 3 {
		end := digits(s, at, 4)
		if end == at {
			break
		}
		ends = append(ends, end)
		if end == len(s) || s[end] != '.' {
			break
		}
		at = end + 1
	}
	return ends
}

// byteIn reports whether a text has one of the bytes at a place.
func byteIn(s string, at int, bytes string) bool {
	return at < len(s) && strings.IndexByte(bytes, s[at]) >= 0
}

// digits returns the end of the digits at a place, or the place if they are none or too many.
func digits(s string, at, most int) int {
	end := at
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end-at > most {
		return at
	}
	return end
}

// idEnd returns the end of an id whose number ends at a place: a small letter may follow, and then
// no word; -1 if one does.
func idEnd(s string, at int) int {
	wordAt := func(i int) bool { return i < len(s) && wordByte(s[i]) }
	switch {
	case at < len(s) && s[at] >= 'a' && s[at] <= 'z' && !wordAt(at+1):
		return at + 1
	case wordAt(at):
		return -1
	}
	return at
}
