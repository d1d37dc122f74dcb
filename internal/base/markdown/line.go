package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	fenceMark  = pattern.New("^ {0,3}(```+|~~~+)(.*)$")
	inlineCode = pattern.New("`[^`\n]+`")
	underline  = pattern.New(`^ {0,3}(?:=+|-{3,})[ \t]*$`)
	rule       = pattern.New(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)
)

// Fence reads a line that opens or closes a code block: the mark, and the text behind it.
func Fence(line string) (mark, info string, ok bool) {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return "", "", false
	}
	m := fenceMark.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}

// Comments removes HTML comments from lines, which may begin and end in different ones.
type Comments struct {
	// Open is true inside a comment, From the number of the line at which the last one began.
	Open bool
	From int
}

// Strip returns a line without comments; n is its number.
func (c *Comments) Strip(n int, line string) string {
	if !c.Open && !strings.Contains(line, "<!--") {
		return line
	}
	var b strings.Builder
	for line != "" {
		if c.Open {
			_, after, closed := strings.Cut(line, "-->")
			line, c.Open = after, !closed
			continue
		}
		before, after, opens := strings.Cut(line, "<!--")
		b.WriteString(before)
		if line, c.Open = after, opens; opens {
			c.From = n
		}
	}
	return b.String()
}

// WithoutCode returns a text with a space in place of each piece of inline code.
func WithoutCode(text string) string { return inlineCode.ReplaceAllString(text, " ") }

// blankCode empties the inline code of a line, without a change of length.
func blankCode(line string) string {
	if strings.IndexByte(line, '`') < 0 {
		return line
	}
	return inlineCode.ReplaceAllStringFunc(line, func(c string) string {
		return "`" + strings.Repeat(" ", len(c)-2) + "`"
	})
}

// bulletLength returns the length of the mark at the beginning of a list item, for example -, •, 1. or (1),
// or 0 if there is none.
func bulletLength(s string) int {
	for _, mark := range []string{"-", "*", "+", "•", "·"} {
		if strings.HasPrefix(s, mark) {
			return len(mark)
		}
	}
	most, ends := 3, []string{".", ")", "、", "）"}
	at := 0
	if strings.HasPrefix(s, "(") || strings.HasPrefix(s, "（") {
		most, ends = 2, []string{")", "）"}
		_, at = utf8.DecodeRuneInString(s)
	}
	from := at
	for at < len(s) && s[at] >= '0' && s[at] <= '9' {
		at++
	}
	if at == from || at-from > most {
		return 0
	}
	for _, end := range ends {
		if strings.HasPrefix(s[at:], end) {
			return at + len(end)
		}
	}
	return 0
}

// Item returns the indentation and the text of a list item, without the mark.
func Item(line string) (indent int, body string, ok bool) {
	rest := strings.TrimLeft(line, " \t")
	indent = len(line) - len(rest)
	mark := bulletLength(rest)
	if mark == 0 {
		return 0, "", false
	}
	body = strings.TrimLeft(rest[mark:], " \t")
	if len(body) == len(rest)-mark || strings.IndexByte(body, '\n') >= 0 {
		return 0, "", false
	}
	hasBrackets := len(body) > 3 && body[0] == '[' && body[2] == ']'
	if hasBrackets && strings.IndexByte(" xX", body[1]) >= 0 && strings.IndexByte(" \t", body[3]) >= 0 {
		body = strings.TrimLeft(body[4:], " \t")
	}
	return indent, body, true
}

// hasBullet reports whether a line begins with a bullet. A number does not count, because it may belong
// to a heading.
func hasBullet(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return len(line) > 1 && strings.ContainsAny(line[:1], "-*+") && line[1] == ' '
}

// IsUnderline reports whether a line makes a heading of the one above it, or is a rule.
func IsUnderline(line string) bool { return underline.MatchString(line) }

// IsTableRule reports whether a line is the rule below the head of a table.
func IsTableRule(line string) bool {
	return strings.Trim(line, "|:- \t") == "" && rule.MatchString(line)
}

// Cells splits a row of a table at the bars, except for escaped ones, and removes the marks from both ends
// of each cell.
func Cells(line, marks string) []string {
	const escaped = "\x00"
	line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, escaped)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(strings.ReplaceAll(parts[i], escaped, "|")), marks)
	}
	return parts
}
