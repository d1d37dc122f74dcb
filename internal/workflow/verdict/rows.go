package verdict

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// readObjects returns the items of a list of objects. An object of objects counts as a list, with
// the keys as ids: {"AC-1": {"result": "pass"}}, {"AC-1": "pass"}.
func (r *Report) readObjects(name string, v any) []map[string]any {
	list, isList := v.([]any)
	byID, isObject := v.(map[string]any)
	if v != nil && !isList && !isObject {
		r.addDefect(lang.T("%q is not a list", name))
	}
	var out []map[string]any
	for i, item := range list {
		if o, ok := item.(map[string]any); ok {
			out = append(out, r.canonicalRow(o))
		} else {
			r.addDefect(lang.T("item %d of %q is not an object", i+1, name))
		}
	}
	for _, id := range sortedKeys(byID) {
		o, ok := byID[id].(map[string]any)
		if !ok {
			o = map[string]any{"result": byID[id]}
		}
		o = r.canonicalRow(o)
		o["id"] = id
		out = append(out, o)
	}
	if len(out) > maxRows {
		r.addDefect(lang.T("%q has %d items; at most %d are read", name, len(out), maxRows))
		out = out[:maxRows]
	}
	return out
}

// rowFields are the names of the fields of rows, by their form without case and separators.
var rowFields = map[string]string{
	"ac": "id", "status": "status", "outcome": "result", "state": "status", "notes": "evidence", "reason": "why", "exitcode": "exit", "cmd": "command",
	"description": "problem", "issue": "problem", "suggestion": "fix", "recommendation": "fix", "path": "file", "location": "file", "level": "severity",
}

func (r *Report) canonicalRow(o map[string]any) map[string]any {
	out, twice := renameFields(o, jsonblock.Name)
	r.addDuplicates(twice)
	for _, name := range sortedKeys(out) {
		if other := rowFields[name]; other != "" && out[other] == nil {
			out[other] = out[name]
		}
	}
	return out
}

// readID returns the id of a row, without invisible characters: two ids that look the same are the
// same.
func (r *Report) readID(o map[string]any) string {
	id := strings.Join(strings.Fields(strings.Map(criteria.Visible, textField(o, "id"))), " ")
	if runes := []rune(id); len(runes) > maxID {
		r.addDefect(lang.T("the id %s… is longer than %d characters", quote(string(runes[:20])), maxID))
		return string(runes[:maxID])
	}
	return id
}

func (r *Report) readChecks(v any) {
	known := indexOf(r.Checks, func(c workflow.Check) string { return c.ID })
	for _, o := range r.readObjects("checks", v) {
		c := workflow.Check{ID: r.readID(o), Command: clip(textField(o, "command")), Output: clip(textField(o, "output"))}
		if c.ID == "" {
			c.ID = fmt.Sprintf("C%d", len(r.Checks)+1)
		}
		exit, ok := readInteger(o["exit"])
		switch {
		case known.at(c.ID) >= 0:
			r.addDefect(lang.T("two checks have the id %s", quote(c.ID)))
		case c.Command == "":
			r.addDefect(lang.T("check %s names no command", quote(c.ID)))
		case !ok:
			r.addDefect(lang.T(`check %s needs "exit", the exit code of its command as a number`, quote(c.ID)))
		}
		c.Exit = exit
		known.add(c.ID, len(r.Checks))
		r.Checks = append(r.Checks, c)
	}
}

func (r *Report) readCriteria(v any) {
	known := indexOf(r.Criteria, func(c workflow.Criterion) string { return c.ID })
	for _, o := range r.readObjects("criteria", v) {
		c := workflow.Criterion{
			ID: r.readID(o), Criterion: clip(textField(o, "criterion")), Evidence: clip(textField(o, "evidence")), Check: clip(textField(o, "check")), Why: clip(textField(o, "why")),
		}
		if list, ok := o["check"].([]any); ok {
			c.Check = joinNeeds(list)
		}
		c.Result = r.readRowResult(c.ID, o)
		var fromOK, sprintOK bool
		c.From, fromOK = readOptionalInteger(o["from"])
		c.Sprint, sprintOK = readOptionalInteger(o["sprint"])
		if !fromOK || !sprintOK {
			r.addDefect(lang.T(`"from" and "sprint" of row %s are numbers: a round, a sprint`, quote(c.ID)))
		}
		if c.ID == "" {
			r.addDefect(lang.T("row %d of \"criteria\" has no id", len(r.Criteria)+1))
			continue
		}
		if at := known.at(c.ID); at >= 0 {
			r.mergeRepeated(at, c)
			continue
		}
		known.add(c.ID, len(r.Criteria))
		r.Criteria = append(r.Criteria, c)
	}
}

// readRowResult returns the result of a row. Of two stated results the worse counts, and the report
// is returned.
func (r *Report) readRowResult(id string, o map[string]any) (out string) {
	for _, field := range []string{"result", "status", "outcome"} {
		result := readResult(o[field])
		if out == "" && o[field] != nil {
			if out = result; out == "" {
				out = clip(scalarText(o[field]))
			}
			continue
		}
		if result != "" && result != out {
			r.addDefect(lang.T("%s has two results: %s and %s", quote(id), quote(out), quote(result)))
			if badnessOf(result) > badnessOf(out) {
				out = result
			}
		}
	}
	return out
}

// mergeRepeated takes in a second row for a criterion. Two results for one id return the report;
// the worse one is kept.
func (r *Report) mergeRepeated(at int, c workflow.Criterion) {
	if r.Criteria[at].Result == c.Result {
		return
	}
	r.addDefect(lang.T("%s has two results: %s and %s", quote(c.ID), quote(r.Criteria[at].Result), quote(c.Result)))
	if badnessOf(c.Result) > badnessOf(r.Criteria[at].Result) {
		r.Criteria[at] = c
	}
}

// badness orders results, the better first.
var badness = map[string]int{workflow.ResultOutOfScope: 0, workflow.ResultPass: 1, workflow.ResultNotTested: 2, workflow.ResultFail: 4}

// badnessOf returns the badness of a result; an unreadable one is bad, if not as bad as a failure.
func badnessOf(result string) int {
	if at, known := badness[result]; known {
		return at
	}
	return 3
}

func (r *Report) readFindings(v any) {
	known := indexFindings(r.Findings)
	for _, o := range r.readObjects("findings", v) {
		f := workflow.Finding{
			ID: r.readID(o), Severity: clip(textField(o, "severity")), File: clip(textField(o, "file")), Problem: clip(textField(o, "problem")),
			Fix: clip(textField(o, "fix")), Check: clip(textField(o, "check")), Status: clip(textField(o, "status")),
		}
		if line := textField(o, "line"); line != "" && f.File != "" && !strings.Contains(f.File, ":") {
			f.File += ":" + line
		}
		f.ID = r.freshID(f.ID, known)
		known.add(f.ID, len(r.Findings))
		severity, known := severities[fold(f.Severity)]
		status, stated := readStatus(f.Status)
		switch {
		case f.Severity != "" && !known:
			r.addDefect(lang.T("the severity of finding %s is %s, and not one of critical, major, minor", quote(f.ID), quote(f.Severity)))
		case !stated:
			r.addDefect(lang.T("the status of finding %s is %s, and not one of open, fixed, withdrawn", quote(f.ID), quote(f.Status)))
		}
		if known {
			f.Severity = severity
		}
		if stated {
			f.Status = status
		}
		r.Findings = append(r.Findings, f)
	}
}

// readStatus reads the status of a finding; a missing status counts as open.
func readStatus(s string) (status string, ok bool) {
	if s = fold(s); s == "" {
		return "", true
	}
	status, ok = statuses[s]
	return status, ok
}

// freshID returns the id of a finding, or F1, F2, … for one without. An id that stands twice
// returns the report.
func (r *Report) freshID(id string, known index) string {
	if id != "" && known.at(id) >= 0 {
		r.addDefect(lang.T("two findings have the id %s", quote(id)))
	}
	for n := len(r.Findings) + 1; id == "" || known.at(id) >= 0; n++ {
		id = fmt.Sprintf("F%d", n)
	}
	return id
}

// The values that are read, in lower case with one underline between words. The Chinese ones are
// those that models write in Chinese reports.
var (
	results = splitMeanings(map[string]string{
		"pass passed ok true 通过 已通过 合格":         workflow.ResultPass,
		"fail failed false 失败 不通过 未通过 不合格":      workflow.ResultFail,
		"not_tested untested skipped 未测试 未测 跳过": workflow.ResultNotTested,
		"out_of_scope 范围外 超出范围 不在范围":            workflow.ResultOutOfScope,
	})
	severities = splitMeanings(map[string]string{
		"critical 致命 严重": "critical",
		"major 重大 主要":    "major",
		"minor 一般 次要 轻微": "minor",
	})
	statuses = splitMeanings(map[string]string{
		"open 未解决 未修复":     "open",
		"fixed 已修复 已解决":    "fixed",
		"withdrawn 已撤回 撤回": "withdrawn",
	})
	marks = map[rune]string{
		'✓': workflow.ResultPass, '✔': workflow.ResultPass, '✅': workflow.ResultPass, '☑': workflow.ResultPass,
		'✗': workflow.ResultFail, '✘': workflow.ResultFail, '❌': workflow.ResultFail, '✕': workflow.ResultFail,
	}
)

// readResult reads the result of a criterion; "" if it is unknown. A mark beside a word has to mean
// the same.
func readResult(v any) string {
	mark := ""
	word := fold(strings.Map(func(c rune) rune {
		if m, ok := marks[c]; ok {
			mark = m
			return -1
		}
		return c
	}, scalarText(v)))
	switch result := results[word]; {
	case word == "":
		return mark
	case mark != "" && mark != result:
		return ""
	default:
		return result
	}
}
