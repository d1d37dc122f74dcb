package criteria

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Identifier is an id at the beginning of a text: the letters, and the parts of the number. A letter behind the
// number is a part, above the others: "FR-1.2a" is FR, 1, 2 and the letter.
type Identifier struct {
	Family string
	Number []int
	// Written is the id without marks around it.
	Written string
}

// letter is added to the code of the letter at the end of a number; the other parts are smaller.
const letter = 1_000_000

var (
	// idForm matches an id at the beginning of a text: its marks, its letters, and its number. The letters may
	// have digits before a hyphen, as in "FR-OAUTH2-3".
	idForm = pattern.New(`^((?:[A-Za-z][A-Za-z0-9]{0,11}[-_])*?)([A-Za-z]{1,12}?)[-_ .]{0,2}(\d{1,6}(?:[.]\d{1,4}){0,3}(?:-\d{1,4})?[a-zA-Z]?)(?:[^\w.\-]|\.?$|\.\D|_|-[^\w])`)
	// hanForm matches an id in Chinese, Japanese or Korean letters.
	hanForm = pattern.New(`^(` + oneOf("families of other scripts") + `[-_ ]?)(\d{1,4}(?:\.\d{1,4}){0,3})(?:[^\w.]|\.?$|\.\D)`)
	// wordForm matches an id with a name in place of the number: "AC-LOGIN".
	wordForm = pattern.New(`^((?:AC|FR|NFR|REQ|SC|BR|US)-[A-Z0-9]{2,20}(?:-[A-Z0-9]{1,20}){0,3})(?:[^\w-]|$)`)
	// bareNumber matches a number of two and more parts, which is an id where criteria are listed.
	bareNumber = pattern.New(`^(\d{1,4}(?:\.\d{1,4}){1,3})(?:[^\w.]|\.?$|\.\D)`)
	// qualified matches a criterion behind a story: "US-1/AC2", "US-1 AC-2".
	qualified = pattern.New(`^(?i:US)[-_ ]?(\d{1,4}(?:\.\d{1,4}){0,3})[\s/.:,-]{1,3}(?i:AC)[-_ .]{0,2}(\d{1,4}(?:\.\d{1,4}){0,3}[a-z]?)(?:\W|_|$)`)
)

// strip returns a text without what may stand before an id: marks, boxes, emphasis and tags.
func strip(s string) string {
	isMark := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '~' }
	for {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return isMark(r) && r != '<' })
		if !strings.HasPrefix(s, "<") {
			return s
		}
		_, after, ok := strings.Cut(s, ">")
		if !ok {
			return strings.TrimLeftFunc(s, isMark)
		}
		s = after
	}
}

// bare returns a text in common characters, without what may stand before an id.
func bare(s string) string { return strip(Narrow(s)) }

// readID reads the id that begins a text without marks, and returns what follows.
func readID(s string) (id Identifier, rest string, ok bool) {
	head := s[:min(len(s), 100)]
	if m := idForm.FindStringSubmatchIndex(head); m != nil {
		letters := head[:m[5]]
		family, spaced := strings.ToUpper(strings.Trim(letters, "-_")), head[m[5]] == ' '
		if (spaced || letters != strings.ToUpper(letters)) && !strong(family) || spaced && family == "US" || wordNumbers[strings.ToLower(family)] {
			return Identifier{}, "", false
		}
		return Identifier{family, parseNumber(strings.ReplaceAll(head[m[6]:m[7]], "-", ".")), strings.ToUpper(letters) + head[m[5]:m[7]]}, s[m[7]:], true
	}
	if m := wordForm.FindStringSubmatchIndex(head); m != nil {
		return Identifier{head[:m[3]], nil, head[:m[3]]}, s[m[3]:], true
	}
	if m := hanForm.FindStringSubmatchIndex(head); m != nil {
		return Identifier{strings.Trim(head[m[2]:m[3]], "-_ "), parseNumber(head[m[4]:m[5]]), head[:m[5]]}, s[m[5]:], true
	}
	return Identifier{}, "", false
}

// readQualified reads a criterion behind the number of a story.
func readQualified(s string) (story string, id Identifier, rest string, ok bool) {
	m := qualified.FindStringSubmatchIndex(s)
	if m == nil {
		return "", Identifier{}, "", false
	}
	number := s[m[4]:m[5]]
	return FormatNumber(parseNumber(s[m[2]:m[3]])), Identifier{"AC", parseNumber(number), "AC-" + number}, s[m[5]:], true
}

// readNumber reads a number of several parts that begins a text.
func readNumber(s string) (id Identifier, rest string, ok bool) {
	head := s[:min(len(s), 32)]
	if m := bareNumber.FindStringSubmatchIndex(head); m != nil {
		return Identifier{"", parseNumber(head[:m[3]]), head[:m[3]]}, s[m[3]:], true
	}
	return Identifier{}, "", false
}

// parseNumber returns the parts of a number.
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

// FormatNumber writes a number as text: "1.2", "1.2a".
func FormatNumber(number []int) string {
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

// Key returns the form by which ids are compared: without case, width, spaces and dashes between letters and
// numbers, and with "/" between the parts of a qualified one.
func Key(id string) string {
	var b strings.Builder
	gap := false
	var last rune
	for _, c := range strings.ToLower(norm.NFC.String(Narrow(id))) {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && c != '.' {
			gap = gap || c == '/' || !strings.ContainsRune("*`\"'“”", c)
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

// Narrow writes characters of full width as the common ones, and every dash as "-". Invisible characters are
// dropped.
func Narrow(s string) string {
	if !strings.ContainsFunc(s, mayBeWide) {
		return s
	}
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.Is(unicode.Pd, c) || c == '−':
			return '-'
		case unicode.Is(unicode.Zs, c):
			return ' '
		}
		return Visible(c)
	}, width.Fold.String(s))
}

// mayBeWide reports whether a character may have to be changed: letters, and the signs of Chinese, Japanese and Korean
// between those of punctuation and of compatibility, stay as they are.
func mayBeWide(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return false
	case c >= 0xA1 && c <= 0x24F && c != 0xAD, c >= 0x400 && c <= 0x52F:
		return false
	case c >= 0x3001 && c <= 0xD7FF:
		return c == 0x301C || c == 0x3030 || c == 0x30A0
	}
	return true
}

// Visible drops invisible characters.
func Visible(c rune) rune {
	switch {
	case unicode.IsSpace(c):
		return c
	case unicode.Is(unicode.Cf, c), unicode.IsControl(c):
		return -1
	}
	return c
}
