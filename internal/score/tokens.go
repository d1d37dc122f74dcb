package score

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// unit is the smallest piece of a text: a word, a number, a character of a script without
// spaces, or a mark.
type unit struct {
	text       string // in lower case
	start, end int
	number     float64
	isNumber   bool
	isWord     bool // a word of letters, or a character of a script without spaces
	caps       bool // a word of at least three capitals
	spaced     bool // a space stands before it
	glued      bool // a part of a longer name: joined to its neighbours by - _ . or ::
}

// units cuts a text into its pieces. Emphasis, apostrophes and what joins words are left out.
func units(text string) []unit {
	out := make([]unit, 0, len(text)/5+1) // a word has about five bytes
	spaced, joined := true, false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			spaced, joined = true, false
			i += size
		case r == '*' || r == '`' || r == '\'' || r == '’' || r == '\u200b' || r == '\ufeff' || r == '\ufe0f' || r == '\u200d' || r == '\u2060' || r == '\u00ad':
			i += size
		case wordless(r):
			out = append(out, unit{text: text[i : i+size], start: i, end: i + size, isWord: true, spaced: spaced})
			spaced, joined = false, false
			i += size
		case unicode.IsDigit(r) || unicode.IsLetter(r):
			u := wordAt(text, i)
			u.spaced = spaced
			if joined && len(out) > 0 {
				u.glued, out[len(out)-1].glued = true, true
			}
			out = append(out, u)
			spaced, joined = false, false
			i = u.end
		case joins(text, i):
			joined = true
			i += size
		default:
			out = append(out, unit{text: text[i : i+size], start: i, end: i + size, spaced: spaced})
			spaced, joined = false, false
			i += size
		}
	}
	return out
}

// firstWordless is the first character of such a script.
const firstWordless = '\u1100'

// wordless reports whether a character belongs to a script that writes words without spaces.
func wordless(r rune) bool {
	return r >= firstWordless && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// joins reports whether the mark at i joins two words into a name.
func joins(text string, i int) bool {
	switch text[i] {
	case '_':
		return true
	case '-', '.', ':', '\\':
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+1:])
		if text[i] == ':' {
			return after == ':' || before == ':'
		}
		return (unicode.IsLetter(before) || unicode.IsDigit(before)) && (unicode.IsLetter(after) || unicode.IsDigit(after)) && !wordless(after)
	}
	return false
}

// goesOn reports whether the character r at i belongs to the word or the number before it.
func goesOn(text string, i int, r rune, digits bool) bool {
	switch {
	case 'a' <= r && r <= 'z' && !digits:
		return true
	case wordless(r):
		return false
	case digits:
		return unicode.IsDigit(r) || (r == '.' || r == ',') && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’' || unicode.Is(unicode.Mn, r)
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

func wordAt(text string, i int) unit {
	r, _ := utf8.DecodeRuneInString(text[i:])
	digits := unicode.IsDigit(r)
	end, upper, letters, marked := i, 0, 0, false
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !goesOn(text, end, r, digits) {
			break
		}
		switch {
		case 'a' <= r && r <= 'z':
			letters++
		case unicode.IsUpper(r):
			letters++
			upper++
		case unicode.IsLetter(r):
			letters++
		}
		marked = marked || r == '\'' || r == '’'
		end += size
	}
	u := unit{start: i, end: end, isNumber: digits, isWord: !digits, caps: letters >= 3 && upper == letters}
	u.text = strings.ToLower(text[i:end])
	if marked {
		u.text = apostrophes.Replace(u.text)
	}
	if digits {
		n, err := strconv.ParseFloat(strings.ReplaceAll(u.text, ",", ""), 64)
		u.number, u.isNumber = n, err == nil
	}
	return u
}

// token is a phrase of a sentence, with what it means, or a single unit that means nothing here.
type token struct {
	unit
	is meaning
	// Of its sentence: a condition stands before it; a rule behind it; it stands between quotation
	// marks; it is a part of inline code and not all of it.
	conditioned, ruled, quoted, inCode bool
}

func (t token) has(m meaning) bool { return t.is&m != 0 }

// sentence is a run of tokens, and all that they mean together.
type sentence struct {
	tokens []token
	all    meaning
	text   string
}

func (s sentence) has(m meaning) bool { return s.all&m != 0 }

// maxPiece bounds how much of a line is looked at in one piece.
const maxPiece = 2000

// pieces cuts a line that is too long to be a sentence, at spaces.
func pieces(line string) []string {
	var out []string
	for len(line) > maxPiece {
		cut := strings.LastIndex(line[:maxPiece], ". ") + 1
		if cut < maxPiece/2 {
			cut = strings.LastIndexByte(line[:maxPiece], ' ')
		}
		if cut <= 0 {
			for cut = maxPiece; cut > 1 && !utf8.RuneStart(line[cut]); {
				cut--
			}
		}
		out, line = append(out, line[:cut]), line[cut:]
	}
	return append(out, line)
}

// sentences reads a line of text.
func sentences(line string, counts meaning) []sentence {
	us := units(line)
	marked := quoteMark.MatchString(line)
	var out []sentence
	current := sentence{text: line, tokens: make([]token, 0, len(us))}
	for i := 0; i < len(us); {
		allowed := counts
		if counts&isAgainst != 0 && !current.begun() { // what tools print stands at the head
			allowed |= isTool
		}
		is, n := words().match(us[i:], allowed)
		t := token{unit: us[i], is: is}
		t.end = us[i+n-1].end
		for _, u := range us[i : i+n] {
			t.glued = t.glued || n == 1 && u.glued
			t.caps = t.caps && (u.caps || !u.isWord || u.isNumber)
		}
		if t.isNumber && n > 1 {
			t.isNumber = false
		}
		current.tokens = append(current.tokens, t)
		current.all |= t.is
		i += n
		if ends(line, t, n) {
			current.finish(marked)
			out, current = append(out, current), sentence{text: line}
		}
	}
	if len(current.tokens) > 0 {
		current.finish(marked)
		out = append(out, current)
	}
	return out
}

// quoteMark is what stands around a quotation or code.
var quoteMark = pattern.New("[\"“「『«`]")

// finish notes at each token what the tokens before and behind it mean for it; marked is true of a
// line with quotations or code.
func (s *sentence) finish(marked bool) {
	s.noteConditions()
	if marked {
		s.noteMarks()
	}
}

func (s *sentence) noteConditions() {
	conditioned := false
	for i := range s.tokens {
		t := &s.tokens[i]
		t.conditioned = conditioned
		denied := i+1 < len(s.tokens) && s.tokens[i+1].denial() // "could not": it was so
		// In Chinese the condition of a time stands behind what it is about.
		conditioned = conditioned || !denied && (t.has(isCondition) || t.has(isRule) && !wordless(firstRune(t.text)))
	}
	rule, inClause := false, false
	for i := len(s.tokens) - 1; i >= 0; i-- {
		t := &s.tokens[i]
		t.ruled = rule || inClause
		switch {
		case t.has(isRule) && !wordless(firstRune(t.text)):
			rule = true
		case t.has(isRule):
			inClause = true
		case t.text == "," || t.text == "，" || t.text == ":" || t.text == "：":
			inClause = false
		}
	}
}

func (s *sentence) noteMarks() {
	quoted, from := false, s.tokens[0].start
	code, words := strings.Count(s.text[:from], "`")%2 == 1, false // words in the code before the token
	for i := range s.tokens {
		t := &s.tokens[i]
		for ; from < t.start; from++ {
			if s.text[from] == '`' {
				code, words = !code, false
			}
		}
		t.quoted, t.inCode = quoted, code && words
		words = words || code
		switch t.text {
		case "\"":
			quoted = !quoted
		case "“", "「", "『", "«":
			quoted = true
		case "”", "」", "』", "»":
			quoted = false
		}
	}
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// begun reports whether a sentence has more than marks.
func (s sentence) begun() bool {
	for _, t := range s.tokens {
		if t.isWord || t.isNumber || t.is != 0 {
			return true
		}
	}
	return false
}

// ends reports whether a sentence ends with the token.
func ends(line string, t token, n int) bool {
	if n > 1 || t.isWord || t.isNumber {
		return false
	}
	switch t.text {
	case "。", "！", "？", "；", ";":
		return true
	case ".", "!", "?":
		return t.end == len(line) || line[t.end] == ' ' || line[t.end] == '\t' || line[t.end] == '*' || line[t.end] == '_' || line[t.end] == '"' || line[t.end] == ')'
	}
	return false
}
