package score

import (
	"fmt"
	"regexp"
	"strings"

	"bmad-mcp/internal/workflow"
)

// readVerdict fills verdict, findings, criteria and objections. A "verdict" field
// goes before lines of the text; among lines, those that speak of the whole
// ("Verdict:", "Overall status:") go before plain "Status:" lines, of which the
// worst counts: a gate held too long costs a question, one opened wrongly costs trust.
func (a *Assessment) readVerdict(e envelope) {
	a.Findings = readFindings(e.object["findings"])
	a.Criteria = readCriteria(e.object["criteria"])
	for _, t := range markdownTables(a.Document) {
		if len(a.Findings) == 0 {
			a.Findings = t.findings()
		}
		if len(a.Criteria) == 0 {
			a.Criteria = t.criteria()
		}
	}
	a.StatedVerdict = field(e.object, "verdict")
	a.Verdict = Classify(a.StatedVerdict)
	if a.Verdict == "" {
		a.Verdict = Classify(field(e.object, "status"))
	}
	if a.Verdict == "" {
		a.Verdict = statedVerdict(a.Document)
	}
	a.Objections = objections(*a)
}

var (
	wholeVerdict = regexp.MustCompile(`(?im)^[^\w\p{Han}\n]*(?:(?:overall|final|review|qa|test)[ \t]+(?:status|result|verdict)|verdict|总体状态|最终状态|结论)[*_"'\x60 \t]*[:：|](.+)$`)
	statusLine   = regexp.MustCompile(`(?im)^[^\w\p{Han}\n]*(?:status|状态)[*_"'\x60 \t]*[:：|](.+)$`)
)

func statedVerdict(text string) workflow.Verdict {
	last := workflow.Verdict("")
	for _, m := range wholeVerdict.FindAllStringSubmatch(text, -1) {
		if v := Classify(m[1]); v != "" {
			last = v
		}
	}
	if last != "" {
		return last
	}
	for _, m := range statusLine.FindAllStringSubmatch(text, -1) {
		last = worse(last, Classify(m[1]))
	}
	return last
}

var (
	verdictFail = regexp.MustCompile(`^(?:fail(?:s|ed|ing|ure)?\b|reject(?:ed)?\b|not[ _-]pass(?:ed)?\b|did not pass\b|blocked\b|needs?[ _-](?:rework|changes|work)\b|request(?:ed)?[ _-]changes\b|changes[ _-]requested\b|不通过|未通过|失败|驳回)`)
	verdictRisk = regexp.MustCompile(`^(?:(?:pass(?:ed)?|approved?)[ _-]+with[ _-]+(?:minor[ _-]+|some[ _-]+|known[ _-]+)?(?:risks?|concerns?|reservations?|issues?|comments?|changes?)\b|conditional(?:ly)?[ _-](?:pass(?:ed)?|approved?)\b|有风险通过|带风险通过|有条件通过|风险通过)`)
	verdictPass = regexp.MustCompile(`^(?:pass(?:es|ed)?\b|approved?\b|accept(?:ed)?\b|通过|合格)`)
	choice      = regexp.MustCompile(`(?i)pass[^|/]*[|/].*fail|fail[^|/]*[|/].*pass|通过.*[|/].*(?:失败|不通过)`)
)

// Classify reads a stated verdict such as "PASS ✅", "Pass with risk" or
// "不通过"; it returns "" for anything else, a list of the choices included.
func Classify(value string) workflow.Verdict {
	v := strings.ToLower(strings.TrimLeft(value, " \t*_`\"'|[(:：✅❌⚠🟢🔴🟡\ufe0f>-"))
	switch {
	case choice.MatchString(v):
		return ""
	case verdictFail.MatchString(v):
		return workflow.Fail
	case verdictRisk.MatchString(v):
		return workflow.PassWithRisk
	case verdictPass.MatchString(v):
		return workflow.Pass
	}
	return ""
}

// worse returns the less favourable of two verdicts; none is better than any.
func worse(a, b workflow.Verdict) workflow.Verdict {
	rank := map[workflow.Verdict]int{workflow.Pass: 1, workflow.PassWithRisk: 2, workflow.Fail: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

var allTestsFail = regexp.MustCompile(`(?im)^[^\w\n]*all(?: \d+)? tests? (?:are |have )?(?:fail(?:s|ed|ing)?)\b`)

// objections lists what in the submission contradicts a pass.
func objections(a Assessment) []string {
	if a.Verdict != workflow.Pass && a.Verdict != workflow.PassWithRisk {
		return nil
	}
	var failed, critical []string
	for _, c := range a.Criteria {
		if c.Result == workflow.ResultFail {
			failed = append(failed, c.ID)
		}
	}
	for _, f := range a.Findings {
		if f.Open() && f.Severity == "critical" {
			critical = append(critical, f.ID)
		}
	}
	var out []string
	if len(failed) > 0 {
		out = append(out, fmt.Sprintf("the verdict is %q, but %d of %d criteria failed: %s", a.Verdict, len(failed), len(a.Criteria), few(failed)))
	}
	if len(critical) > 0 {
		out = append(out, fmt.Sprintf("the verdict is %q, but critical findings are open: %s", a.Verdict, few(critical)))
	}
	if line := allTestsFail.FindString(a.Document); line != "" {
		out = append(out, fmt.Sprintf("the verdict is %q, but the report says %q", a.Verdict, strings.TrimSpace(line)))
	}
	return out
}

// few joins ids, naming at most eight.
func few(ids []string) string {
	if len(ids) > 8 {
		return strings.Join(ids[:8], ", ") + fmt.Sprintf(" and %d more", len(ids)-8)
	}
	return strings.Join(ids, ", ")
}
