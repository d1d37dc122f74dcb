package score

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// needsLine names the reason why a report without a field is blocked.
var needsLine = pattern.New(`(?im)^[^\w\p{Han}\n>]*(?:blocked(?:[ \t]+(?:on|by))?|needs(?:[ \t]+from[ \t]+the[ \t]+human)?|受阻|阻塞|需要)[*_ \t]*[:：][*_ \t]*(\S.*)$`)

// blockedValue is a stated verdict that goes on with what is needed.
var blockedValue = pattern.New(`(?im)^[^\w\p{Han}\n>]*(?:verdict|status|结论|状态)[*_ \t]*[:：][*_ \t]*(?:blocked|受阻|阻塞)[*_ \t]*[:：][*_ \t]*(\S.*)$`)

// needs returns what a blocked report waits for, in its own words; "" if it does not say.
func needs(object map[string]any, stated, words string) string {
	if v := field(object, "needs", "blocked_on", "blocked_by", "needs_human", "reason"); v != "" {
		return clipRunes(v, maxText)
	}
	if list := stringList(object["needs"]); len(list) > 0 {
		return clipRunes(strings.Join(list, "; "), maxText)
	}
	if _, after, ok := strings.Cut(stated, ":"); ok && strings.TrimSpace(after) != "" {
		return clipRunes(strings.TrimSpace(after), maxText)
	}
	for _, re := range []*pattern.Pattern{needsLine, blockedValue} {
		if m := re.FindStringSubmatch(words); m != nil {
			return clipRunes(strings.TrimRight(strings.TrimSpace(m[1]), "*_ "), maxText)
		}
	}
	return ""
}

// verdictField returns the verdict that the fields of an envelope state.
func verdictField(object map[string]any) string {
	if inner, ok := object["verdict"].(map[string]any); ok {
		return field(inner, verdictKeys...)
	}
	if v := field(object, "verdict"); v != "" {
		return v
	}
	// "status" may be about anything, so it counts where it is a verdict.
	if v := field(object, "status"); v != "" {
		if read, _ := classify(v); read != "" {
			return v
		}
	}
	return ""
}

// verdictKeys are the fields of an object that stands for a verdict.
var verdictKeys = []string{"verdict", "status", "result", "value", "outcome", "decision", "overall"}

// verdictsIn lists what the fields of one envelope state as its verdict.
func verdictsIn(object map[string]any) []string {
	var out []string
	if inner, ok := object["verdict"].(map[string]any); ok {
		for _, k := range verdictKeys {
			if v := field(inner, k); v != "" {
				out = append(out, v)
			}
		}
	}
	if list, ok := object["verdict"].([]any); ok {
		for _, v := range list[:min(len(list), maxItems)] {
			out = append(out, scalar(v))
		}
	}
	for _, k := range []string{"verdict", "status", "result", "outcome", "conclusion", "decision", "overall", "overall_status", "overall_result", "final_verdict", "overall_verdict", "qa_status", "review_status"} {
		if v := field(object, k); v != "" && len(v) < 200 {
			out = append(out, v)
		}
	}
	return out
}

// worse returns the less favourable of two verdicts; none is better than any.
func worse(a, b workflow.Verdict) workflow.Verdict {
	if rank[b] > rank[a] {
		return b
	}
	return a
}

var rank = map[workflow.Verdict]int{workflow.Pass: 1, workflow.PassWithRisk: 2, workflow.Blocked: 3, workflow.Fail: 4}
