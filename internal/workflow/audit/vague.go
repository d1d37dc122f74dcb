package audit

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// findVague lists the criteria with a word that two testers would read differently, and nothing in
// the line that makes it sharp.
func findVague(c check, s *document) *miss {
	words, lower := wordPattern(c.Words), lowerAll(c.Words)
	var out miss
	for i, l := range s.Said {
		// Most lines have none of the words, which is cheap to see.
		if !s.criterion()[i] || s.Code[i] || !containsAny(strings.ToLower(l), lower...) {
			continue
		}
		if sharp.MatchString(blankIDs(s.Lines[i])) {
			continue
		}
		if m := words.FindString(l); m != "" {
			place := atLine(i)
			if at := slices.IndexFunc(s.read().Nodes, func(n criteria.Node) bool { return n.Line == i && n.Written != "" }); at >= 0 {
				place = plainText(nodeLabel(s.read().Nodes[at]))
			}
			out.addItem(i, lang.T("%s \"%s\"", place, strings.ToLower(strings.TrimSpace(m))))
		}
	}
	return out.orNil()
}

// findPhrases lists the lines with a phrase that promises much and says nothing: not quoted, denied or made sharp by a
// figure, and in no heading.
func findPhrases(c check, s *document) *miss {
	words := phrasePattern(c.Words)
	headed := s.LinesOf(nil)
	for _, h := range s.Heads {
		headed[h.Line] = h.Rest == ""
	}
	var out miss
	for i, l := range s.Said {
		if l == "" || headed[i] || strings.ContainsAny(s.Lines[i], "0123456789`") {
			continue
		}
		l = strings.ToLower(quoted.ReplaceAllString(l, " "))
		if at := words.FindStringIndex(l); at != nil && !hasNegation(l[:at[0]]) {
			out.name = cmp.Or(out.name, strings.TrimFunc(l[at[0]:at[1]], func(r rune) bool { return !unicode.IsLetter(r) }))
			out.addItem(i, atLine(i))
		}
	}
	return out.orNil()
}

// sharp matches the signs of an exact criterion: a figure, a quotation, a code, a status.
var sharp = pattern.New("\\d|[\"“”「」`]|(?i)\\b(?:never|exactly|only|none|error|refused|rejected|disabled|empty|unchanged|sorted|listed|shown)\\b|『|绝不|从不|恰好|只有|仅|没有|报错|错误|拒绝|退回|禁用|为空|不变|排序|列出|显示")
