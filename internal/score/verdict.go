package score

import (
	"fmt"
	"regexp"
	"strings"

	"bmad-mcp/internal/workflow"
)

// readVerdict fills verdict, findings, criteria and objections. A "verdict" field
// goes before the words of the text, and contradicting words become an objection:
// a gate held too long costs a question, one opened wrongly costs trust.
func (a *Assessment) readVerdict(e envelope) {
	listed := false
	for _, k := range []string{"findings", "issues", "defects"} {
		listed = listed || e.object[k] != nil
		a.Findings = mergeFindings(a.Findings, readFindings(e.object[k]))
	}
	a.Criteria = readCriteria(e.object["criteria"])
	inText := []workflow.Finding{}
	for _, t := range markdownTables(a.Document) {
		inText = append(inText, t.findings()...)
		a.Criteria = mergeCriteria(a.Criteria, t.criteria())
	}
	if !listed { // a list beside the report is the list, an empty one too
		a.Findings = numbered(inText)
	}
	words := withoutFences(a.Document)
	a.StatedVerdict = verdictField(e.object)
	a.Verdict = Classify(a.StatedVerdict)
	if a.StatedVerdict == "" {
		a.Verdict = statedVerdict(words)
	}
	a.Objections = objections(*a, lastStatedVerdict(words))
	if a.Verdict == workflow.Blocked {
		a.Needs = needs(e.object, a.StatedVerdict, words)
	}
}

// needsLine is where a report without a field says what it is blocked on.
var needsLine = regexp.MustCompile(`(?im)^[^\w\p{Han}\n>]*(?:blocked(?:[ \t]+(?:on|by))?|needs(?:[ \t]+from[ \t]+the[ \t]+human)?|受阻|阻塞|需要)[*_ \t]*[:：][*_ \t]*(\S.*)$`)

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
	if m := needsLine.FindStringSubmatch(words); m != nil {
		return clipRunes(strings.TrimRight(strings.TrimSpace(m[1]), "*_ "), maxText)
	}
	if m := wholeVerdict.FindStringSubmatch(words); m != nil {
		if _, after, ok := strings.Cut(m[1], ":"); ok {
			return clipRunes(strings.TrimSpace(after), maxText)
		}
	}
	return ""
}

func verdictField(object map[string]any) string {
	if inner, ok := object["verdict"].(map[string]any); ok {
		return field(inner, "verdict", "status", "result")
	}
	if v := field(object, "verdict"); v != "" {
		return v
	}
	// "status" may be about anything, so it counts where it is a verdict.
	if v := field(object, "status"); Classify(v) != "" {
		return v
	}
	return ""
}

const (
	wholeWords  = `(?:(?:overall|final|review|qa)[ \t]+(?:status|result|verdict)|verdict|\p{Han}{0,6}(?:结论|结果)|总体状态|最终状态)`
	statusWords = `(?:status|\p{Han}{0,4}状态)`
	// A statement begins its line, but for list marks and emphasis; its value
	// follows on the line, or is the next one.
	lineHead  = `(?im)^[^\w\p{Han}\n>]*`
	lineValue = `[*_"'\x60 \t]*(?:[:：|][*_ \t]*\n+|[:：|]|[ \t][—–-][ \t])(.+)$`
	// A heading has its value in the first line below it.
	titleHead  = `(?im)^#{1,6}[^\w\p{Han}\n]*(?:\d+[.)]?[ \t]*|[一二三四五六七八九十]+、[ \t]*)?`
	titleValue = `[*_ \t]*$\s*^(.+)$`
)

var (
	wholeVerdict   = regexp.MustCompile(lineHead + wholeWords + lineValue)
	verdictHeading = regexp.MustCompile(titleHead + wholeWords + titleValue)
	statusLine     = regexp.MustCompile(lineHead + statusWords + lineValue)
	statusHeading  = regexp.MustCompile(titleHead + statusWords + titleValue)
	// A count or a table header speaks of the whole, but is no verdict.
	noVerdict = regexp.MustCompile(`^[*_ \t]*\d|\|[ \t]*$`)
)

// statedVerdict reads the verdict from the words of a report that has no field
// for it. Statements about the whole ("Verdict:", "Overall status:") go before
// plain "Status:" lines, of either kind the worst counts. A whole statement that
// cannot be read leaves the report without a verdict.
func statedVerdict(text string) workflow.Verdict {
	for _, kind := range []struct{ line, heading *regexp.Regexp }{{wholeVerdict, verdictHeading}, {statusLine, statusHeading}} {
		verdict, unread := workflow.Verdict(""), false
		for _, m := range kind.line.FindAllStringSubmatch(text, -1) {
			v := Classify(m[1])
			verdict = worse(verdict, v)
			unread = unread || v == "" && !noVerdict.MatchString(m[1])
		}
		// Below a heading prose is as usual as a verdict, so only a verdict counts.
		for _, m := range kind.heading.FindAllStringSubmatch(text, -1) {
			verdict = worse(verdict, Classify(m[1]))
		}
		if verdict != "" || unread {
			return verdict
		}
	}
	return ""
}

// lastStatedVerdict reads the last statement that is a verdict, about the whole if
// there is one: what a report says beside a verdict field may tell of earlier
// rounds first.
func lastStatedVerdict(text string) workflow.Verdict {
	for _, kind := range [][]*regexp.Regexp{{wholeVerdict, verdictHeading}, {statusLine, statusHeading}} {
		verdict, at := workflow.Verdict(""), -1
		for _, re := range kind {
			for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
				if v := Classify(text[m[2]:m[3]]); v != "" && m[0] > at {
					verdict, at = v, m[0]
				}
			}
		}
		if verdict != "" {
			return verdict
		}
	}
	return ""
}

// lastPart returns what a value came to: the right side of an arrow, the last cell of a row.
func lastPart(value string) string {
	for _, sep := range []string{"→", "->", "|"} {
		parts := strings.Split(strings.TrimRight(value, " \t|*_"), sep)
		value = parts[len(parts)-1]
	}
	return value
}

var (
	verdictFail    = regexp.MustCompile(`^(?:fail(?:s|ed|ing|ure)?\b|reject(?:ed)?\b|not[ _-](?:pass(?:ed)?|approved|accepted|ready|met)\b|did not pass\b|needs?[ _-](?:rework|changes|work)\b|request(?:ed)?[ _-]changes\b|changes[ _-]requested\b|不通过|未通过|不合格|失败|驳回)`)
	verdictBlocked = regexp.MustCompile(`^(?:blocked\b|受阻|阻塞)`)
	verdictRisk    = regexp.MustCompile(`^(?:(?:pass(?:ed)?|approved?)[ _-]*\(?with[ _-]*(?:minor[ _-]+|some[ _-]+|known[ _-]+|residual[ _-]+|\d+[ _-]+)?(?:risks?|concerns?|reservations?|issues?|comments?|changes?)\b|conditional(?:ly)?[ _-](?:pass(?:ed)?|approved?)\b|有风险通过|带风险通过|有条件通过|风险通过|通过[(（]有风险)`)
	verdictPass    = regexp.MustCompile(`^(?:pass(?:es|ed)?\b|approved?\b|accept(?:ed)?\b|(?:已|全部|审查|测试|评审)?通过|合格)`)
	// What follows a word can take it back, or make it another sentence.
	failNot     = regexp.MustCompile(`^[\s:：(]*(?:0\b|none\b|no\b|with \d{3}\b|无)`)
	failWord    = regexp.MustCompile(`^[*_"'\x60)\]]*\s*(?:$|[^\w\s]|\d|because\b|due\b|on\b|with\b)`)
	blockedWord = regexp.MustCompile(`^[*_"'\x60)\]]*\s*(?:$|[^\w\s]|\d|because\b|due\b|on\b|by\b|until\b|for\b)`)
	passNot     = regexp.MustCompile(`^[\s,:：;(（-]*(?:rates?\b|ratio\b|率|requires?\b|means?\b)`)
	passOnly    = regexp.MustCompile(`^[\s,:：;(（-]*(?:once|if|when|only|subject|unless|pending|provided|with\s+(?:[1-9]\d*\s+|some\s+|known\s+)?fail|but\b.*\bfail|or\s+fail)`)
	orFail      = regexp.MustCompile(`^\s*or\s+fail`)
	// The choices of a form, not a choice among them.
	choice = regexp.MustCompile(`^(?:pass|fail)[a-z_ ]*[\s*_\x60"\]]*[|/／]\s*[*_\x60"\[]*(?:pass|fail)|^(?:通过|不通过)\s*[|/／]`)
)

// Classify reads a stated verdict such as "PASS ✅", "Pass with risk" or
// "不通过"; it returns "" for anything else, a list of the choices included.
func Classify(value string) workflow.Verdict {
	v := strings.ToLower(strings.TrimSpace(strings.TrimLeft(value, " \t*_`\"'|[(:：✅❌⚠🟢🔴🟡✔✗✘\ufe0f>-")))
	if choice.MatchString(v) {
		return ""
	}
	if came := lastPart(v); came != v {
		return Classify(came)
	}
	if loc := verdictFail.FindStringIndex(v); loc != nil {
		if rest := v[loc[1]:]; failNot.MatchString(rest) || !failWord.MatchString(rest) {
			return ""
		}
		return workflow.Fail
	}
	if loc := verdictBlocked.FindStringIndex(v); loc != nil {
		if !blockedWord.MatchString(v[loc[1]:]) {
			return ""
		}
		return workflow.Blocked
	}
	if loc := verdictRisk.FindStringIndex(v); loc != nil {
		if orFail.MatchString(v[loc[1]:]) {
			return workflow.Fail
		}
		return workflow.PassWithRisk
	}
	loc := verdictPass.FindStringIndex(v)
	if loc == nil {
		return ""
	}
	rest := v[loc[1]:]
	switch {
	case passNot.MatchString(rest):
		return ""
	case passOnly.MatchString(rest), v[:loc[1]] == "approve" && strings.HasPrefix(rest, " after"):
		return workflow.Fail
	}
	return workflow.Pass
}

// worse returns the less favourable of two verdicts; none is better than any.
func worse(a, b workflow.Verdict) workflow.Verdict {
	if rank[b] > rank[a] {
		return b
	}
	return a
}

var rank = map[workflow.Verdict]int{workflow.Pass: 1, workflow.PassWithRisk: 2, workflow.Blocked: 3, workflow.Fail: 4}

var allTestsFail = regexp.MustCompile(`(?im)^[^\w\n]*all(?: \d+)? tests? (?:are |have )?fail(?:s|ed|ing)?[^\w\n]*$`)

// objections lists what in the submission contradicts a pass.
func objections(a Assessment, inWords workflow.Verdict) []string {
	if a.Verdict != workflow.Pass && a.Verdict != workflow.PassWithRisk {
		return nil
	}
	var failed, critical []string
	for _, c := range workflow.FailedCriteria(a.Criteria) {
		failed = append(failed, c.ID)
	}
	for _, f := range workflow.OpenFindings(a.Findings) {
		if f.Severity == "critical" {
			critical = append(critical, f.ID)
		}
	}
	var out []string
	switch inWords {
	case workflow.Fail:
		out = append(out, fmt.Sprintf("the verdict field is %q, but the report says it fails", a.Verdict))
	case workflow.Blocked:
		out = append(out, fmt.Sprintf("the verdict field is %q, but the report says it is blocked", a.Verdict))
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
