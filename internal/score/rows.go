package score

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"bmad-mcp/internal/workflow"
)

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
			Status:   findingStatus(field(o, "status", "state")),
		}
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
var noFinding = regexp.MustCompile(`(?i)^[^\p{L}\d]*(?:none|n/a|no\b.*findings?|nothing|无|没有|\d+)[^\p{L}\d]*$|^[\s–—-]+$`)

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
	out := slices.Clone(a)
	for _, f := range b {
		if !slices.ContainsFunc(a, func(g workflow.Finding) bool { return g.Problem == f.Problem && g.File == f.File }) {
			out = append(out, f)
		}
	}
	return numbered(out)
}

// mergeCriteria joins the rows of two lists; of one id the worse result counts.
func mergeCriteria(a, b []workflow.Criterion) []workflow.Criterion {
	badness := map[string]int{workflow.ResultPass: 0, workflow.ResultNotTested: 1, workflow.ResultFail: 2}
	out := slices.Clone(a)
	for _, c := range b {
		i := slices.IndexFunc(out, func(o workflow.Criterion) bool { return o.ID == c.ID })
		switch {
		case i < 0:
			out = append(out, c)
		case badness[c.Result] > badness[out[i].Result]:
			out[i].Result = c.Result
		}
	}
	return out
}

var (
	severityCritical = regexp.MustCompile(`(?i)critical|blocker|\bp0\b|致命|严重`)
	severityMinor    = regexp.MustCompile(`(?i)^[^\p{L}]*(?:minor|low|trivial|info|non-?\s?critical|not critical|轻微|低|不严重)`)
	severityMajor    = regexp.MustCompile(`(?i)major|\bhigh\b|\bp1\b|主要|重要|^高`)
)

func severity(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return ""
	case severityMinor.MatchString(s):
		return "minor"
	case severityCritical.MatchString(s):
		return "critical"
	case severityMajor.MatchString(s):
		return "major"
	}
	return "minor"
}

var (
	statusFixed     = regexp.MustCompile(`^(?:(?:confirmed|now|fix)[ ,]+)?(?:fixed|resolved|closed|done|verified|mended|addressed|已修复|已解决|已关闭|已验证|已修正)`)
	statusWithdrawn = regexp.MustCompile(`^(?:withdrawn|invalid|won'?t[ -]?fix|not a (?:bug|defect)|not reproducible|false positive|duplicate|撤回)`)
	statusNot       = regexp.MustCompile(`\bstill\b|\breopened\b|not (?:fixed|resolved)|part(?:ly|ially) (?:fixed|resolved|done)|仍|未(?:修复|解决)`)
	inBrackets      = regexp.MustCompile(`[(（][^)）]*[)）]`)
)

// findingStatus reads words such as "Fixed, verified"; anything else given is open.
func findingStatus(s string) string {
	s = inBrackets.ReplaceAllString(strings.TrimPrefix(strings.ToLower(s), "[x]"), "")
	s = strings.TrimLeftFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	switch {
	case s == "":
		return ""
	case statusNot.MatchString(s):
		return "open"
	case statusFixed.MatchString(s):
		return "fixed"
	case statusWithdrawn.MatchString(s):
		return "withdrawn"
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
		if passed, ok := o["result"].(bool); ok {
			c.Result = map[bool]string{true: workflow.ResultPass, false: workflow.ResultFail}[passed]
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("row %d", len(out)+1)
		}
		out = append(out, c)
	}
	return out
}

var (
	resultFail = regexp.MustCompile(`(?i)^(?:❌|✗|✘|not[ -]met\b|unmet\b|false\b|no$|未满足)`)
	resultPass = regexp.MustCompile(`(?i)^(?:✅|✔|☑|met\b|ok\b|yes\b|true\b|no defects\b|满足)`)
)

// result reads the outcome of one criterion; what is neither pass nor fail was not tested.
func result(s string) string {
	s = strings.Trim(lastPart(s), " \t*_`")
	switch {
	case resultFail.MatchString(s):
		return workflow.ResultFail
	case resultPass.MatchString(s):
		return workflow.ResultPass
	}
	switch Classify(s) {
	case workflow.Fail:
		return workflow.ResultFail
	case "":
		return workflow.ResultNotTested
	}
	return workflow.ResultPass
}

func readResolved(v any) []workflow.Resolution {
	var out []workflow.Resolution
	for _, o := range objects(v, "id") {
		r := workflow.Resolution{ID: clipRunes(field(o, "id", "finding", "problem"), maxID), How: field(o, "how", "resolution", "fix")}
		if r.ID != "" {
			out = append(out, r)
		}
	}
	return out
}
