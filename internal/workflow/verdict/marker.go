package verdict

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// phrases are the verdicts that programs and prompts write into a line of their own, in the form of
// [fold]; a longer phrase is tried before a shorter one.
var phrases = splitMeanings(map[string]workflow.Verdict{
	"pass passed approved approve 通过 合格 批准 已通过":                                                            workflow.Pass,
	"pass_with_risk pass_with_risks passed_with_risk passed_with_risks conditional_pass 有风险通过 带风险通过 有条件通过": workflow.PassWithRisk,
	"blocked 受阻 阻塞": workflow.Blocked,
	"fail failed not_approved not_passed not_pass rejected reject changes_requested request_changes": workflow.Fail,
	"needs_fix needs_fixes needs_rework needs_work needs_changes":                                    workflow.Fail,
	"不通过 未通过 失败 不合格 驳回 需要修复 需修复 需要返工 需返工":                                                            workflow.Fail,
})

// longest are the phrases by their first character, the longest first.
var longest = sync.OnceValue(func() map[rune][]string {
	out := map[rune][]string{}
	for p := range phrases {
		first, _ := utf8.DecodeRuneInString(p)
		out[first] = append(out[first], p)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return out
})

// about are words before a label, labels the ones that announce a verdict.
const (
	about  = "overall|final|qa|review|test|总体|最终|整体"
	labels = "status|verdict|result|conclusion|decision|状态|结论|判定|结果|评审结论|测试结论"
)

var (
	// labelled matches a line that states a verdict under a label; alone one that is nothing but
	// the verdict, as older programs end a report.
	labelled = pattern.New(`(?i)^[^\p{L}\d]*(?:\d+[.)]\s*)?(?:(?:` + about + `)[ _-]*)?(?:` + labels + `)[*_\s]*(?:[:：=]|\s[–—-]\s)(.+)$`)
	alone    = pattern.New(`^[^\p{L}\d]*(APPROVED|NEEDS[ _-]FIX(?:ES)?|NEEDS[ _-]REWORK|REJECTED|CHANGES[ _-]REQUESTED|通过|不通过|未通过|需要修复|驳回)[^\p{L}\d]*$`)
	// stating matches the verdict in an unreadable block.
	stating = pattern.New(`(?i)["'“]verdict["'”]\s*[:：]\s*["'“]([^"'”]{1,40})["'”]`)
)

// readVerdict reads a verdict as a value or behind a label: "" if the value is anything else.
// Behind the words an explanation may stand in parentheses or after a mark, and no other word.
func readVerdict(value string) workflow.Verdict {
	value = strings.TrimLeftFunc(criteria.Narrow(value), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	lower := strings.ToLower(value)
	first, _ := utf8.DecodeRuneInString(lower)
	for _, p := range longest()[first] {
		rest, ok := cutPhrase(lower, p)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, "*_`~ \t")
		if rest == "" || strings.ContainsAny(rest[:1], "(.,;:!-\"'") || strings.ContainsRune("（。，；：！—–…✅✓✔❌✗⚠", []rune(rest)[0]) {
			return phrases[p]
		}
		return ""
	}
	return ""
}

// cutPhrase cuts the words of a phrase off a text; any space, underline or dash may stand between
// the words.
func cutPhrase(text, phrase string) (rest string, ok bool) {
	for i, word := range strings.Split(phrase, "_") {
		if i > 0 {
			trimmed := strings.TrimLeft(text, " _-\t")
			if trimmed == text {
				return "", false
			}
			text = trimmed
		}
		if text, ok = strings.CutPrefix(text, word); !ok {
			return "", false
		}
	}
	next, _ := utf8.DecodeRuneInString(text)
	first, _ := utf8.DecodeRuneInString(phrase)
	latin := !unicode.Is(unicode.Han, first) // a Chinese word needs no space behind it
	if unicode.IsDigit(next) || latin && unicode.IsLetter(next) {
		return "", false
	}
	return text, true
}

// readStatements reads the statements beside the block: lines with a verdict, outside of fences,
// tables, quotations and comments, and in fences the totals of test runners. Without the first
// dashes, the lines of front matter are lines of the text.
func (r *Report) readStatements(text string) {
	doc := markdown.Read(strings.TrimPrefix(text, "---\n"), nil)
	for i, line := range doc.Said {
		text := strings.TrimSpace(doc.Lines[i])
		_, row := doc.Rows[i]
		if doc.Code[i] || row || line == "" || strings.HasPrefix(text, ">") || strings.HasPrefix(text, "|") || len(text) > 400 {
			continue
		}
		if m := labelled.FindStringSubmatch(line); m != nil {
			r.addStated(readVerdict(m[1]))
		} else if m := alone.FindStringSubmatch(line); m != nil {
			r.addStated(readVerdict(m[1]))
		}
	}
	r.Totals = append(r.Totals, totalsInFences(doc)...)
}

// verdictIn returns the worst verdict in an unreadable block.
func verdictIn(raw string) (out workflow.Verdict) {
	for _, m := range stating.FindAllStringSubmatch(raw, 10) {
		out = worseVerdict(out, readVerdict(m[1]))
	}
	return out
}
