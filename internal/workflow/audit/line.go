package audit

import (
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// clip returns a text on one line, of at most n bytes.
func clip(s string, n int) string { return visible.Fit(strings.Join(strings.Fields(s), " "), n) }

// runeBoundary returns the largest index up to n that does not cut a character, or 0.
func runeBoundary(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return max(n, 0)
}

// isHan reports whether a character is a Chinese one; the comparison answers at once for most
// others.
func isHan(r rune) bool { return r >= 0x2E80 && unicode.Is(unicode.Han, r) }

// isLetter reports whether a character is a letter of ASCII.
func isLetter(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// hasSubstance reports whether a line says anything: not blank, no rule, no lone word for "later".
func hasSubstance(l string) bool {
	if _, body, ok := markdown.Item(l); ok {
		l = body
	}
	l = strings.ToLower(strings.Trim(strings.TrimSpace(l), "*_>|-:：.。…()（）[]【】 \t"))
	return l != "" && !lonePlaceholder[l]
}

// lonePlaceholder has the texts of an unfilled section or cell.
var lonePlaceholder = map[string]bool{
	"tbd": true, "todo": true, "tbc": true, "to do": true, "to be done": true, "to be defined": true, "to be determined": true, "fixme": true, "xxx": true,
	"coming soon": true, "to be added": true, "待定": true, "待补充": true, "待完善": true, "待填写": true, "待确认": true,
	"待补": true, "待明确": true, "待讨论": true, "待决定": true, "未定": true, "暂缺": true, "稍后补充": true, "后续补充": true,
	"略": true,
}

// emptyLabel is a line without content, for example "- Acceptance: TBD".
var emptyLabel = pattern.New(`(?i)^[\s*_>+-]*[^:：|]{2,40}[:：][\s*_]*(?:tbd|tbc|todo|待定|待补充|待补|待明确|-|–|—|\.\.\.|…)\s*[.。]?\s*$`)
