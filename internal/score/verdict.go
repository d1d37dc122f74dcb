package score

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bmad-mcp/internal/workflow"
)

// readVerdict fills verdict, findings, criteria and objections. A "verdict" field
// goes before the words of the text, and contradicting words become an objection:
// a gate held too long costs a question, one opened wrongly costs trust.
func (a *Assessment) readVerdict(e envelope) {
	for _, k := range []string{"findings", "issues", "defects"} {
		a.Findings = mergeFindings(a.Findings, readFindings(e.object[k]))
	}
	a.Criteria = readCriteria(e.object["criteria"])
	inText := []workflow.Finding{}
	for _, t := range markdownTables(a.Document) {
		inText = append(inText, t.findings()...)
		a.Criteria = mergeCriteria(a.Criteria, t.criteria())
	}
	if len(a.Findings) == 0 {
		a.Findings = numbered(inText)
	}
	a.StatedVerdict = verdictField(e.object)
	a.Verdict = Classify(a.StatedVerdict)
	inWords := statedVerdict(a.Document)
	if a.StatedVerdict == "" {
		a.Verdict = inWords
	}
	a.Objections = objections(*a, inWords)
}

func verdictField(object map[string]any) string {
	for _, k := range []string{"verdict", "status"} {
		if inner, ok := object[k].(map[string]any); ok {
			if v := field(inner, "verdict", "status", "result"); v != "" {
				return v
			}
		}
		if v := field(object, k); v != "" {
			return v
		}
	}
	return ""
}

const wholeWords = `(?:(?:overall|final|review|qa)[ \t]+(?:status|result|verdict)|verdict|\p{Han}{0,6}结论|总体状态|最终状态)`

var (
	wholeVerdict = regexp.MustCompile(`(?im)^[^\w\p{Han}\n]*` + wholeWords + `[*_"'\x60 \t]*[:：|](.+)$`)
	// A heading with the verdict in the first line below it.
	verdictHeading = regexp.MustCompile(`(?im)^#{1,6}[^\w\p{Han}\n]*(?:\d+[.)]?[ \t]*)?` + wholeWords + `[*_ \t]*$\s*^(.+)$`)
	statusHeading  = regexp.MustCompile(`(?im)^#{1,6}[^\w\p{Han}\n]*(?:status|状态)[*_ \t]*$\s*^(.+)$`)
	statusLine     = regexp.MustCompile(`(?im)^[^\w\p{Han}\n]*(?:status|状态)[*_"'\x60 \t]*[:：|](.+)$`)
)

// statedVerdict reads the verdict from the words of a report. Statements about
// the whole ("Verdict:", "Overall status:") go before plain "Status:" lines, of
// either kind the worst counts. A whole statement that cannot be read leaves the
// report without a verdict.
func statedVerdict(text string) workflow.Verdict {
	for _, kind := range []struct{ line, heading *regexp.Regexp }{{wholeVerdict, verdictHeading}, {statusLine, statusHeading}} {
		lines := kind.line.FindAllStringSubmatch(text, -1)
		verdict := workflow.Verdict("")
		// Below a heading prose is as usual as a verdict, so only a verdict counts.
		for _, m := range slices.Concat(lines, kind.heading.FindAllStringSubmatch(text, -1)) {
			verdict = worse(verdict, Classify(m[1]))
		}
		if verdict != "" || len(lines) > 0 {
			return verdict
		}
	}
	return ""
}

var (
	verdictFail = regexp.MustCompile(`^(?:fail(?:s|ed|ing|ure)?\b|reject(?:ed)?\b|not[ _-](?:pass(?:ed)?|approved|accepted|ready|met)\b|did not pass\b|blocked\b|needs?[ _-](?:rework|changes|work)\b|request(?:ed)?[ _-]changes\b|changes[ _-]requested\b|不通过|未通过|不合格|失败|驳回)`)
	verdictRisk = regexp.MustCompile(`^(?:(?:pass(?:ed)?|approved?)[ _-]+with[ _-]+(?:minor[ _-]+|some[ _-]+|known[ _-]+|\d+[ _-]+)?(?:risks?|concerns?|reservations?|issues?|comments?|changes?)\b|conditional(?:ly)?[ _-](?:pass(?:ed)?|approved?)\b|有风险通过|带风险通过|有条件通过|风险通过)`)
	verdictPass = regexp.MustCompile(`^(?:pass(?:es|ed)?\b|approved?\b|accept(?:ed)?\b|通过|合格)`)
	// What follows a word of passing can take it back, or make it another sentence.
	passNot  = regexp.MustCompile(`^[\s,:：;(（-]*(?:rates?\b|ratio\b|率|requires?\b|means?\b|criteria\b)`)
	passOnly = regexp.MustCompile(`^[\s,:：;(（-]*(?:after|once|if|when|only|subject|unless|pending|provided|with\b.*\bfail|but\b.*\bfail|or\s+fail)`)
	// The choices of a form, not a choice among them.
	choice = regexp.MustCompile(`^(?:pass|fail)[a-z_ ]*[\s*_\x60"\]]*[|/／]\s*[*_\x60"\[]*(?:pass|fail)|^(?:通过|不通过)\s*[|/／]`)
)

// Classify reads a stated verdict such as "PASS ✅", "Pass with risk" or
// "不通过"; it returns "" for anything else, a list of the choices included.
func Classify(value string) workflow.Verdict {
	v := strings.ToLower(strings.TrimLeft(value, " \t*_`\"'|[(:：✅❌⚠🟢🔴🟡✔✗✘\ufe0f>-"))
	switch {
	case choice.MatchString(v):
		return ""
	case verdictFail.MatchString(v):
		return workflow.Fail
	}
	for _, kind := range []struct {
		re *regexp.Regexp
		is workflow.Verdict
	}{{verdictRisk, workflow.PassWithRisk}, {verdictPass, workflow.Pass}} {
		loc := kind.re.FindStringIndex(v)
		if loc == nil {
			continue
		}
		switch rest := v[loc[1]:]; {
		case passNot.MatchString(rest):
			return ""
		case passOnly.MatchString(rest):
			return workflow.Fail
		}
		return kind.is
	}
	return ""
}

// worse returns the less favourable of two verdicts; none is better than any.
func worse(a, b workflow.Verdict) workflow.Verdict {
	if rank[b] > rank[a] {
		return b
	}
	return a
}

var rank = map[workflow.Verdict]int{workflow.Pass: 1, workflow.PassWithRisk: 2, workflow.Fail: 3}

var allTestsFail = regexp.MustCompile(`(?im)^[^\w\n]*all(?: \d+)? tests? (?:are |have )?(?:fail(?:s|ed|ing)?)\b`)

// objections lists what in the submission contradicts a pass.
func objections(a Assessment, inWords workflow.Verdict) []string {
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
	if inWords == workflow.Fail {
		out = append(out, fmt.Sprintf("the verdict field is %q, but the report says it fails", a.Verdict))
	}
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
