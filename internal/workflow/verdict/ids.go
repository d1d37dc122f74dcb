package verdict

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// canonicalID returns the form by which ids are compared: without case, width, spaces and dashes
// between letters and numbers, and with "/" between the parts of a qualified one.
func canonicalID(id string) string {
	var b strings.Builder
	s := strings.ToLower(narrow(id))
	gap := false
	var last rune
	for _, c := range s {
		switch {
		case c == ' ' || c == '-' || c == '_' || c == '/' || c == ':' || c == '\t' || c == '#':
			gap = true
			continue
		case !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.':
			continue
		}
		if gap && b.Len() > 0 {
			switch {
			case unicode.IsDigit(last) && unicode.IsLetter(c):
				b.WriteByte('/')
			case unicode.IsDigit(last) && unicode.IsDigit(c):
				b.WriteByte('-')
			}
		}
		gap, last = false, c
		b.WriteRune(c)
	}
	return strings.Trim(leadingZeros.ReplaceAllString(b.String(), "$1$2"), ".")
}

// leadingZeros matches the leading zeros of a number, also behind a dot.
var leadingZeros = pattern.New(`(^|[^\d])0+(\d)`)

// index has the places of rows by the canonical form of their ids.
type index map[string]int

func indexOf[T any](rows []T, id func(T) string) index {
	out := make(index, len(rows))
	for i, row := range rows {
		out.add(id(row), i)
	}
	return out
}

func indexFindings(list []workflow.Finding) index {
	return indexOf(list, func(f workflow.Finding) string { return f.ID })
}

// at returns the place of an id, -1 if there is none.
func (x index) at(id string) int {
	if at, ok := x[canonicalID(id)]; ok {
		return at
	}
	return -1
}

// add notes the place of an id; of equal ids the first counts.
func (x index) add(id string, at int) {
	if key := canonicalID(id); x.at(id) < 0 {
		x[key] = at
	}
}

// idToken is the id of a criterion, requirement or story in text from [narrow]: the family and the
// number.
const idToken = `((?:AC|FR|US)(?:-[A-Z]{2,12}){0,2})[-_ .]{0,2}(\d{1,4}(?:\.\d{1,4}){0,3}[a-z]?)` //nolint:gosec // it is a pattern of ids

var (
	leadingID = pattern.New(`(?i)^[^\pL\pN]*(?:\[[ xX]\]\s*)?[^\pL\pN]*` + idToken + `(?:[^\w.]|\.?$|\.\D|_)`)
	// leadingStory is a story without an id: "Story 1.2: sign in".
	leadingStory = pattern.New(`(?i)^[^\pL\pN]*(?:(?:user[ -]?)?story|feature|epic|use case|(?:用户)?故事|功能|用例|史诗)[ #-]*(\d{1,4}(?:\.\d{1,4}){0,3})(?:\D|$)`)
	// qualifiedID is a criterion behind a story: "US-1/AC2", "US-1 AC-2".
	qualifiedID = pattern.New(`(?i)^[\s*_\x60~\[(【]*US[-_ ]?(\d{1,4}(?:\.\d{1,4}){0,3})[\s/.:,-]{1,3}AC[-_ .]{0,2}(\d{1,4}(?:\.\d{1,4}){0,3}[a-z]?)(?:[^\w]|_|$)`)
	anyID       = pattern.New(`(?i)(^|[^\w./])(?:US[-_ ]?(\d{1,4}(?:\.\d{1,4}){0,3})[\s/.:,-]{1,3})?` + idToken + `(?:[^\w.]|\.|$|_)`)
	// to and also match the text between the ids of a range and of a list that names the family
	// once.
	to   = pattern.New(`(?i)^[*_\x60\s]*(?:to|through|thru|until|-|~|\.{2,3}|…|至|到)[*_\x60\s]*(?:(?:US[-_ ]?\d[\d.]*[/ ])?(?:AC|FR|US)[-_ .]{0,2})?(\d{1,4}(?:\.\d{1,4}){0,3})\b`)
	also = pattern.New(`(?i)^[*_\x60\s]*(?:, ?and|,|、|，|and|&|/|和|及|与)[*_\x60\s]*(\d{1,4}(?:\.\d{1,4}){0,3})\b`)
	// genericID is the id that begins an item of a section on acceptance criteria: "C1", "REQ-7".
	genericID = pattern.New(`^[\s*_\x60~\[(【]*([A-Za-z]{1,8}[-_]?\d{1,4}(?:\.\d{1,4}){0,3}[a-z]?)(?:[^\w.]|\.?$|\.\D)`)
	// listed matches the text behind the first id of a list of whole ids.
	listed = pattern.New(`(?i)^[*_\x60\s)\]]*(?:,|、|，|;|/|&|and|or|和|及|与)[*_\x60\s(\[]*(?:AC|FR|US|NFR)[-_ ]?\d`)
	// token is anything that looks like an id.
	token = pattern.New(`(?i)[a-z]{1,10}[-_ ]?\d{1,4}(?:\.\d{1,4}){0,3}`)
)

// mention is an id that a text names, or a range of ids.
type mention struct {
	family, story string
	from, to      []int
}

// mentionsIn returns the ids that a line names, alone, in a list or as the ends of a range.
func mentionsIn(line string) (out []mention) {
	line = narrow(line)
	for at := 0; at < len(line); {
		m := anyID.FindStringSubmatchIndex(line[at:])
		if m == nil {
			break
		}
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return line[at+m[2*i] : at+m[2*i+1]]
		}
		id := mention{family: strings.ToUpper(group(3)), story: group(2), from: parseNumber(group(4))}
		at += m[9]
		for range 200 {
			if r := to.FindStringSubmatch(line[at:]); r != nil && id.to == nil {
				id.to = completeNumber(id.from, parseNumber(r[1]))
				at += len(r[0])
			} else if l := also.FindStringSubmatch(line[at:]); l != nil {
				out = append(out, id)
				id = mention{family: id.family, story: id.story, from: completeNumber(id.from, parseNumber(l[1]))}
				at += len(l[0])
			} else {
				break
			}
		}
		out = append(out, id)
	}
	return out
}

// completeNumber returns a number with the first parts of another: "AC-1.1 to 3" ends at 1.3.
func completeNumber(first, number []int) []int {
	if len(number) < len(first) {
		return append(append([]int(nil), first[:len(first)-len(number)]...), number...)
	}
	return number
}

// letter is added to the code of the letter at the end of a number; the other parts are smaller.
const letter = 10_000

// parseNumber returns the parts of a number that [idToken] matches; the letter at the end is a
// part.
func parseNumber(s string) (out []int) {
	for part := range strings.SplitSeq(strings.ToLower(s), ".") {
		digits := strings.TrimRightFunc(part, unicode.IsLetter)
		n, err := strconv.Atoi(digits)
		if err != nil {
			continue
		}
		if out = append(out, n); digits != part {
			out = append(out, letter+int(part[len(digits)]))
		}
	}
	return out
}

// formatNumber writes a number as text: "1.2", "1.2a".
func formatNumber(number []int) string {
	var b strings.Builder
	for i, n := range number {
		if n >= letter {
			b.WriteRune(rune(n - letter)) //nolint:gosec // n - letter is a small letter of ASCII
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
