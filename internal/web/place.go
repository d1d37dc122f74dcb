package web

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
)

// findLine returns the line of a document that a remark is about: the heading with the number or the title that it
// names, else the line with the identifier, a heading before the text. It is 0 if the remark names none.
func findLine(remark string, outline []render.Heading, lines []string) int {
	best, longest, lower := 0, 0, strings.ToLower(remark)
	for _, h := range outline {
		number, title := cutNumber(h.Text)
		if n := len(title); n > longest && isDistinct(title) && containsWord(lower, strings.ToLower(title)) {
			best, longest = h.Line, n
		}
		if number != "" && namesSection(lower, number) {
			return h.Line
		}
	}
	if best > 0 {
		return best
	}
	for _, id := range identifiersIn(remark) {
		for _, h := range outline {
			if containsWord(h.Text, id) {
				return h.Line
			}
		}
		for i, line := range lines {
			if containsWord(line, id) {
				return i + 1
			}
		}
	}
	return 0
}

// cutNumber cuts a heading such as "5.2 The lane" into its number and title.
func cutNumber(heading string) (number, title string) {
	end := strings.IndexFunc(heading, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' })
	if end <= 0 {
		return "", heading
	}
	return strings.Trim(heading[:end], "."), strings.TrimSpace(heading[end:])
}

// isDistinct reports whether a title is more than a word that any remark may have.
func isDistinct(title string) bool {
	return utf8.RuneCountInString(title) >= 4 && strings.ContainsFunc(title, func(r rune) bool { return r == ' ' || r >= utf8.RuneSelf })
}

// sectionWords stand before the number of a section.
var sectionWords = []string{"section ", "sections ", "subsection ", "chapter ", "§", "§ ", "第 ", "第"}

// namesSection reports whether a remark, in lower case, names a section by its number.
func namesSection(remark, number string) bool {
	return slices.ContainsFunc(sectionWords, func(word string) bool { return containsWord(remark, word+number) })
}

// identifiersIn returns the identifiers of a remark, such as FR-7, AC-2.1 or R3.
func identifiersIn(remark string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(remark, func(r rune) bool { return !isIdentifierRune(r) }) {
		word = strings.Trim(word, "-.")
		letters := strings.TrimRight(word, "0123456789.-")
		name := strings.TrimSuffix(letters, "-")
		if name != "" && len(name) <= 6 && len(word) > len(letters) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" {
			out = append(out, word)
		}
	}
	return out
}

func isIdentifierRune(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.')
}

// containsWord reports whether a text has a word that is not part of a longer one.
func containsWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)
		isPart := from > 0 && joins(text[from-1], word[0])
		if to < len(text) {
			goesOn := text[to] == '.' && to+1 < len(text) && text[to+1] >= '0' && text[to+1] <= '9'
			isPart = isPart || goesOn || joins(text[to], word[len(word)-1])
		}
		if !isPart {
			return true
		}
		at = from + 1
	}
}

// joins reports whether two neighbouring bytes are of one word.
func joins(a, b byte) bool { return isNameByte(a) && isNameByte(b) }

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
