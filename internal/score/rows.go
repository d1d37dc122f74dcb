package score

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// rows is what the tables and lists of a report hold against a pass, beside its findings and
// criteria.
type rows struct {
	lines    []line
	taken    map[int]bool // the lines that tables take up
	untested func(workflow.Verdict) lang.Text
}

// readRows fills findings and criteria from the fields of the envelope and the tables of the
// report. A list of findings beside the report is the list; a critical one that only the report
// has is added to it.
func (a *Assessment) readRows(e envelope, lines []line) rows {
	listed := false
	for _, k := range []string{"findings", "issues", "defects"} {
		listed = listed || e.object[k] != nil
		a.Findings = mergeFindings(a.Findings, readFindings(e.object[k]))
	}
	criteria := readCriteria(e.object["criteria"])
	var inText []workflow.Finding
	plain := false // a table without more than severities and words may define them
	var total tally
	for _, c := range criteria {
		total.count(map[string]resultKind{workflow.ResultNotTested: resultUntested}[c.Result])
	}
	tables, taken := markdownTables(lines)
	out := rows{taken: taken}
	for _, t := range tables {
		inText = append(inText, t.findings()...)
		plain = plain || t.column(colStatus|colFile|colID) >= 0
		rows := t.criteria()
		criteria = append(criteria, rows...)
		against := t.against(&total)
		if len(rows) < len(t.rows) || len(rows) == 0 { // else the criteria say it
			out.lines = append(out.lines, against...)
		}
	}
	for _, l := range lines {
		if l.spoken() && !l.later && !taken[l.number] {
			total.item(l.text)
		}
	}
	out.lines = append(out.lines, listOutliers(lines, taken)...)
	a.Criteria = mergeCriteria(nil, criteria)
	out.untested = total.untestedRows
	if !listed {
		a.Findings = numbered(inText)
		return out
	}
	if plain {
		a.addCritical(inText)
	}
	a.Findings = numbered(a.Findings)
	return out
}

// addCritical adds the open critical findings that the list beside the report lacks.
func (a *Assessment) addCritical(inText []workflow.Finding) {
	for _, f := range inText {
		known := slices.ContainsFunc(a.Findings, func(g workflow.Finding) bool {
			return g.ID == f.ID && f.ID != "" || folded(g.Problem) == folded(f.Problem) || g.File != "" && g.File == f.File
		})
		if f.Open() && f.Severity == "critical" && !known && len(a.Findings) < maxItems {
			a.Findings = append(a.Findings, f)
		}
	}
}

// objects returns the items of a list as objects. A list may also be grouped in
// an object: {"critical": […]} or {"AC-1": "fail"}; groupKey is the field that
// the group's name then fills.
func objects(v any, groupKey string) []map[string]any {
	var out []map[string]any
	add := func(item any, group string) {
		o := map[string]any{}
		switch item := item.(type) {
		case map[string]any:
			maps.Copy(o, item)
		case string, bool:
			o["problem"], o["result"] = item, item
		default:
			return
		}
		if _, has := o[groupKey]; group != "" && !has {
			o[groupKey] = group
		}
		out = append(out, o)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			add(item, "")
		}
	case map[string]any:
		for _, group := range slices.Sorted(maps.Keys(v)) {
			if list, ok := v[group].([]any); ok {
				for _, item := range list {
					add(item, group)
				}
			} else {
				add(v[group], group)
			}
		}
	}
	return out
}

func readFindings(v any) []workflow.Finding {
	var out []workflow.Finding
	for _, o := range objects(v, "severity") {
		f := workflow.Finding{
			ID:       field(o, "id"),
			Severity: severity(field(o, "severity", "level", "priority")),
			File:     field(o, "file", "location", "path"),
			Problem:  field(o, "problem", "description", "issue", "title", "message", "finding"),
			Fix:      field(o, "fix", "suggestion", "recommendation"),
		}
		f.Status = findingStatus(field(o, "status", "state", "resolution"), f.Severity)
		if line := field(o, "line"); line != "" && f.File != "" && !strings.Contains(f.File, ":") {
			f.File += ":" + line
		}
		if (f.Problem != "" || f.ID != "") && !noFinding.MatchString(f.Problem) {
			out = append(out, f)
		}
	}
	return numbered(out)
}

// noFinding matches what stands in a row to say that there is none.
var noFinding = pattern.New(`(?i)^[^\p{L}\d]*(?:none|n/a|no\b.*findings?|nothing|无|没有|\d+)[^\p{L}\d]*$|^[\s–—-]+$`)

// numbered gives missing finding ids and replaces repeated ones.
func numbered(findings []workflow.Finding) []workflow.Finding {
	used := map[string]bool{}
	for i := range findings {
		id := clipRunes(strings.TrimSpace(findings[i].ID), maxID)
		if used[id] {
			id = ""
		}
		findings[i].ID = id
		used[id] = true
	}
	n := 0
	for i := range findings {
		for findings[i].ID == "" {
			n++
			if id := fmt.Sprintf("F%d", n); !used[id] {
				findings[i].ID = id
			}
		}
	}
	return findings
}

// mergeFindings appends the findings of b that a does not have word for word.
func mergeFindings(a, b []workflow.Finding) []workflow.Finding {
	type place struct{ problem, file string }
	out, has := slices.Clone(a), map[place]bool{}
	for _, f := range a {
		has[place{f.Problem, f.File}] = true
	}
	for _, f := range b {
		if !has[place{f.Problem, f.File}] {
			out = append(out, f)
		}
	}
	return numbered(out)
}

// mergeCriteria joins the rows of two lists; of one id the worse result counts.
func mergeCriteria(a, b []workflow.Criterion) []workflow.Criterion {
	badness := map[string]int{workflow.ResultPass: 0, workflow.ResultNotTested: 1, workflow.ResultFail: 2}
	out, at := slices.Clone(a), map[string]int{}
	for i, c := range a {
		at[c.ID] = i
	}
	for _, c := range b {
		i, has := at[c.ID]
		switch {
		case !has:
			at[c.ID] = len(out)
			out = append(out, c)
		case badness[c.Result] > badness[out[i].Result]:
			out[i].Result = c.Result
		}
	}
	return out
}

// severity reads a level of severity: an unknown one counts as critical.
func severity(s string) string {
	us := units(s)
	if len(us) == 0 {
		return ""
	}
	is := meaning(0)
	for i := 0; i < len(us); {
		m, n := words().match(us[i:], isCritical|isMajor|isMinor)
		if is |= m; is != 0 && us[i].isWord {
			break
		}
		i += n
	}
	switch {
	case is&isMinor != 0:
		return "minor"
	case is&isCritical != 0:
		return "critical"
	case is&isMajor != 0:
		return "major"
	case strings.Trim(s, "-–— ") == "":
		return ""
	}
	if score, ok := rating(us); ok {
		return score
	}
	return "critical"
}

// rating reads a severity given as a number from 0 to 10, as CVSS has it; 1 to 4 may be the
// levels of a scale that begins at either end.
func rating(us []unit) (string, bool) {
	for _, u := range us {
		switch {
		case !u.isNumber:
		case u.number >= 9 || u.number == 1:
			return "critical", true
		case u.number >= 7 || u.number == 2:
			return "major", true
		default:
			return "minor", true
		}
	}
	return "", false
}

var inBrackets = pattern.New(`[(（][^)）]*[)）]`)

// findingStatus reads words such as "Fixed, verified"; anything else given is open. A finding
// that is accepted as it is counts as withdrawn, unless it is critical.
func findingStatus(s, severity string) string {
	s = inBrackets.ReplaceAllString(strings.TrimPrefix(strings.ToLower(s), "[x]"), "")
	if len(units(s)) == 0 {
		return ""
	}
	is := meaning(0)
	first := meaning(0)
	for _, sent := range sentences(s[:min(len(s), maxText)], isResolved|isUnresolved|isPass|isFail|isWithdrawn|isWaived|isStillOpen|isPartial|isNegation|isSettled) {
		for i, t := range sent.tokens {
			if sent.negated(i) && !t.has(isUnresolved|isStillOpen|isWaived) {
				is |= isUnresolved
				continue
			}
			is |= t.is
			if first == 0 {
				first = t.is
			}
		}
	}
	switch {
	case is&(isUnresolved|isFail|isPartial) != 0:
		return "open"
	case first&(isStillOpen) != 0 && first&isWaived == 0:
		return "open"
	case first&isWithdrawn != 0 && first&isWaived == 0:
		return "withdrawn"
	case first&isWaived != 0:
		if s := strings.TrimSpace(strings.Trim(s, "*_` ")); severity == "critical" || strings.HasPrefix(s, "accepted") || strings.HasPrefix(s, "接受") || strings.HasPrefix(s, "已接受") {
			return "open"
		}
		return "withdrawn"
	case is&isResolved != 0, first&(isPass|isSettled) != 0:
		return "fixed"
	}
	return "open"
}

func readCriteria(v any) []workflow.Criterion {
	var out []workflow.Criterion
	for _, o := range objects(v, "id") {
		c := workflow.Criterion{
			ID:        clipRunes(field(o, "id", "ac"), maxID),
			Criterion: field(o, "criterion", "description", "title"),
			Result:    result(field(o, "result", "status", "verdict")),
			Evidence:  field(o, "evidence", "notes"),
		}
		for _, k := range []string{"result", "passed", "pass", "met"} {
			if passed, ok := o[k].(bool); ok {
				c.Result = map[bool]string{true: workflow.ResultPass, false: workflow.ResultFail}[passed]
				break
			}
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("row %d", len(out)+1)
		}
		out = append(out, c)
	}
	return out
}

func readResolved(v any) []workflow.Resolution {
	var out []workflow.Resolution
	for _, o := range objects(v, "id") {
		id := field(o, "id", "finding", "problem")
		r := workflow.Resolution{ID: clipRunes(id, maxID), How: field(o, "how", "resolution", "fix", "note", "reason")}
		if text := field(o, "problem"); r.How == "" && text != id && o["result"] != nil { // {"R1": "the key is checked"}
			r.How = text
		}
		state := folded(field(o, "status", "state"))
		r.Declined = strings.HasPrefix(state, "declined") || strings.HasPrefix(state, "rejected")
		if r.ID != "" {
			out = append(out, r)
		}
	}
	return out
}
