package audit

import (
	"regexp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
)

func containsAny(l string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(l, w) {
			return true
		}
	}
	return false
}

// quoted matches words of somebody else, or a text of the product.
var quoted = pattern.New(`"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|‘[^’]*’`)

// hasNegation reports whether a text denies the words behind it: "none of the figures is …".
func hasNegation(before string) bool {
	words := strings.Fields(before)
	for _, w := range words[max(0, len(words)-6):] {
		switch w {
		case "no", "none", "not", "nothing", "never", "neither", "nor", "without", "isn't", "aren't", "wasn't", "weren't":
			return true
		}
	}
	return strings.HasSuffix(before, "不") || strings.HasSuffix(before, "没有") || strings.HasSuffix(before, "并非") || strings.HasSuffix(before, "不是")
}

func lowerAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}

// patterns keeps compiled patterns, by their expressions: few rubrics are in use at a time.
var patterns = recent.New[string, *pattern.Pattern](1000)

func patternOf(expression string) *pattern.Pattern {
	if known, ok := patterns.Get(expression); ok {
		return known
	}
	made := pattern.New(expression)
	patterns.Put(expression, made)
	return made
}

// wordPattern matches one of the words as a whole word, in any case.
func wordPattern(words []string) *pattern.Pattern {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = regexp.QuoteMeta(w)
		if w[0] < 0x80 {
			parts[i] = `\b` + parts[i] + `\b`
		}
	}
	return patternOf(`(?i)` + strings.Join(parts, "|"))
}

// phrasePattern matches lines, in lower case, in which [markdown.MatchesName] finds one of the
// phrases.
func phrasePattern(phrases []string) *pattern.Pattern {
	var parts []string
	for _, p := range lowerAll(phrases) {
		whole, exactly := strings.CutPrefix(p, "=")
		switch {
		case exactly:
			parts = append(parts, `\A`+regexp.QuoteMeta(whole)+`\z`)
		case p == "":
		case p[0] < 0x80:
			parts = append(parts, `(?:\A|[^a-zA-Z0-9_])`+regexp.QuoteMeta(p)+`(?:\z|[^a-zA-Z0-9_])`)
		default:
			parts = append(parts, regexp.QuoteMeta(p))
		}
	}
	if len(parts) == 0 {
		return patternOf(`[^\x00-\x{10FFFF}]`)
	}
	return patternOf(strings.Join(parts, "|"))
}
