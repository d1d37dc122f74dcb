package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// Contract lists the rows that a report owes. It is known before the report is read.
type Contract struct {
	Owes workflow.Owes
	// Criteria are the session's criteria; nil if the documents were not read.
	Criteria *Criteria
	// Earlier is the stage's last judged report, and Round the round of it, from 1.
	Earlier workflow.Record
	Round   int
	// Server are the server's own runs of commands.
	Server []workflow.Evidence
	// Lines are the numbers of lines of the files that exist among [Report.Files].
	Lines map[string]int
	// Told is true if this report was returned because of rows by word only, Taken if the person has
	// accepted such rows in this run.
	Told, Taken bool
	// Proved says how many of the passed rows the server's own runs have to prove.
	Proved workflow.Proof
}

// Judgement is the result of judging a report under a contract.
type Judgement struct {
	// Verdict is derived from the rows, and never better than the stated one.
	Verdict workflow.Verdict
	// Returned are the reasons to ask the assistant for the report again; Held are the reasons why
	// the person decides about a pass; Missing are the reasons why a recorded failure is
	// incomplete.
	Returned, Held, Missing []lang.Text
	Criteria                []workflow.Criterion
	Findings                []workflow.Finding
	Checks                  []workflow.Check
}

// Judge derives the verdict of a report.
func Judge(r Report, c Contract) Judgement {
	j := judge{Report: r, Contract: c, before: indexOf(c.Earlier.Criteria, func(c workflow.Criterion) string { return c.ID })}
	j.out.Checks = j.takeServer()
	j.checks = indexOf(j.out.Checks, func(c workflow.Check) string { return c.ID })
	j.citable = readCitable(j.out.Checks)
	j.out.Criteria = j.judgeRows()
	j.out.Findings = j.judgeFindings()
	j.judgeForm()
	derived := j.deriveVerdict()
	if j.out.Verdict = worseVerdict(derived, r.Stated); j.out.Verdict.Passes() {
		j.judgeWords()
	}
	returned := append(slices.Clone(r.Defects), j.lacking...)
	switch {
	case j.out.Verdict == workflow.Fail, j.out.Verdict == workflow.Blocked:
		j.out.Missing = returned // a bad form does not return a failure
		j.keepOpen()
	case len(returned) > 0:
		j.out.Returned = returned
	default:
		j.addHolds(derived)
	}
	return j.out
}

// judge is a report that is being judged, with the contract.
type judge struct {
	Report
	Contract
	out     Judgement
	lacking []lang.Text
	failed  []workflow.Check
	// before are the rows of the last report, checks those of this one.
	before, checks index
	citable        citable
	words          []string // the ids of rows by word only
}

func (j *judge) addLacking(t lang.Text) { j.lacking = append(j.lacking, t) }

// lackIDs adds a reason with ids, if there are any.
func (j *judge) lackIDs(ids []string, reason lang.Text) {
	if len(ids) > 0 {
		j.addLacking(reason)
	}
}

// List names ids in a sentence, the first forty of them.
func List(ids []string) string {
	shown := make([]string, 0, maxListed)
	for _, id := range ids[:min(len(ids), maxListed)] {
		shown = append(shown, strings.Trim(quote(id), `"`))
	}
	if more := len(ids) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("+%d", more))
	}
	return strings.Join(shown, ", ")
}

// takeServer returns the checks of the report, with the server's own results in place of claimed
// ones.
func (j *judge) takeServer() []workflow.Check {
	out := slices.Clone(j.Checks)
	for i := range out {
		at := slices.IndexFunc(j.Server, func(e workflow.Evidence) bool {
			return e.NotRun == "" && strings.TrimSpace(e.Command) == strings.TrimSpace(out[i].Command)
		})
		if at >= 0 {
			e := j.Server[at]
			out[i].Exit, out[i].Output, out[i].Server = e.ExitCode, clip(e.Tail), true
		}
		if out[i].Exit != 0 {
			j.failed = append(j.failed, out[i])
		}
	}
	return out
}

// serverFailed reports whether one of the server's own runs failed.
func (j *judge) serverFailed() bool {
	return slices.ContainsFunc(j.Server, func(e workflow.Evidence) bool { return e.Failed() })
}

// judgeRows checks each row against its criterion, and returns the rows in one form: with the text
// of the requirements, and with the results carried over from an earlier round.
func (j *judge) judgeRows() []workflow.Criterion {
	var unknown, bare, unread, unreasoned, dangling, outside []string
	out := slices.Clone(j.Report.Criteria)
	for i := range out {
		row := &out[i]
		known := j.Contract.Criteria.Find(row.ID)
		if known != nil {
			row.ID, row.Criterion = known.ID, known.Text
		} else if j.hasIDs() && !j.Contract.Criteria.knowsID(row.ID) {
			unknown = append(unknown, row.ID)
		}
		if row.From != 0 {
			j.carryOver(row, known)
			continue
		}
		proved, refs := j.checksOf(row)
		if !refs {
			dangling = append(dangling, row.ID)
		}
		switch {
		case !slices.Contains(workflow.Results(), row.Result):
			unread = append(unread, row.ID)
		case isBare(*row):
			bare = append(bare, row.ID)
		case row.Result == workflow.ResultNotTested && isBlank(row.Why) && isBlank(row.Evidence):
			unreasoned = append(unreasoned, row.ID)
		case row.Result == workflow.ResultOutOfScope && !j.outOfScope(row, known):
			outside = append(outside, row.ID)
		}
		passed := row.Result == workflow.ResultPass
		row.Proved, row.ByWord = passed && proved, passed && !j.isCited(row)
	}
	j.lackIDs(unknown, lang.T("no document of this run has the ids %s; use those in `owed`", List(unknown)))
	j.lackIDs(unread, lang.T("the results of %s are not one of pass, fail, not_tested, out_of_scope", List(unread)))
	j.lackIDs(bare, lang.T("%s pass without evidence or a check", List(bare)))
	j.lackIDs(unreasoned, lang.T("%s are not tested, and no reason is given in `why`", List(unreasoned)))
	j.lackIDs(dangling, lang.T("%s name a check that `checks` does not have", List(dangling)))
	j.lackIDs(outside, lang.T("%s are in scope; out_of_scope takes the number of a `sprint` that is not built yet", List(outside)))
	return out
}

// isBare reports whether a row passes without a word.
func isBare(row workflow.Criterion) bool {
	return row.Result == workflow.ResultPass && isBlank(row.Evidence) && row.Check == ""
}

// hasIDs reports whether the documents name criteria.
func (j *judge) hasIDs() bool { return j.Contract.Criteria != nil && len(j.Contract.Criteria.All) > 0 }

// checksOf reports whether the server itself ran all the checks of a row, and whether the report
// has them.
func (j *judge) checksOf(row *workflow.Criterion) (proved, known bool) {
	if row.Check == "" {
		return false, true
	}
	proved, known = true, true
	for _, ref := range splitRefs(row.Check) {
		at := j.checks.at(ref)
		if at < 0 {
			return false, false
		}
		proved = proved && j.out.Checks[at].Server && j.citable.checks[criteria.Key(ref)]
	}
	return proved, known
}

// splitRefs returns the ids of checks in a row.
func splitRefs(refs string) []string {
	out := strings.FieldsFunc(refs, func(c rune) bool { return strings.ContainsRune(",;、，；", c) })
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return dropEmpty(out...)
}

// outOfScope reports whether a row may say so: the row of a criterion not owed, or if the plan
// assigns none, with a sprint not yet built.
func (j *judge) outOfScope(row *workflow.Criterion, known *Criterion) bool {
	criteria := j.Contract.Criteria
	switch {
	case criteria == nil:
		return false
	case known != nil && known.Waived:
		return true
	case known != nil && known.Owed && criteria.Assigned:
		return false
	}
	src := criteria.sources
	pending := slices.ContainsFunc(src.Sprints, func(s workflow.Sprint) bool { return s.Number == row.Sprint && s.Status == workflow.SprintPending })
	return pending && !slices.Contains(src.InScope, row.Sprint)
}

// carryOver takes a row over from an earlier round, if it passed there with the same text. A failed
// command of this round revokes it.
func (j *judge) carryOver(row *workflow.Criterion, known *Criterion) {
	var before workflow.Criterion
	if at := j.before.at(row.ID); at >= 0 {
		before = j.Earlier.Criteria[at]
	}
	if before.Result != workflow.ResultPass || cmp.Or(row.Result, workflow.ResultPass) != workflow.ResultPass {
		j.addLacking(lang.T("%s did not pass in an earlier round; `from` is for rows that did", quote(row.ID)))
		return
	}
	if round := cmp.Or(before.From, j.Round); row.From != round {
		j.addLacking(lang.T("%s passed in round %d, not in round %d", quote(row.ID), round, row.From))
		return
	}
	if known != nil && known.Text != before.Criterion {
		j.addLacking(lang.T("the text of %s has changed since round %d; test it again", quote(row.ID), row.From))
		return
	}
	row.ByWord = before.ByWord && !j.isCited(row)
	row.Result, row.Evidence, row.Check = workflow.ResultPass, cmp.Or(row.Evidence, before.Evidence), ""
	if len(j.failed) > 0 || j.serverFailed() {
		row.Result, row.ByWord, row.Why = workflow.ResultNotTested, false, fmt.Sprintf("carried over from round %d; a command failed in this one", row.From)
	}
}

// judgeFindings returns the findings. A finding open before has to be mentioned.
func (j *judge) judgeFindings() []workflow.Finding {
	var missing []string
	here, before := indexFindings(j.Findings), indexFindings(j.Earlier.Findings)
	for _, f := range workflow.OpenFindings(j.Earlier.Findings) {
		if here.at(f.ID) < 0 {
			missing = append(missing, f.ID)
		}
	}
	if len(j.Blocks) > 0 {
		j.lackIDs(missing, lang.T("%s were open in the last report; list each again with its status: open, fixed or withdrawn", List(missing)))
	}
	out := slices.Clone(j.Findings)
	for i := range out {
		f := &out[i]
		if at := before.at(f.ID); at >= 0 {
			last := j.Earlier.Findings[at]
			f.ID = last.ID
			f.Severity = cmp.Or(f.Severity, last.Severity)
			f.Problem = cmp.Or(f.Problem, last.Problem)
			f.File = cmp.Or(f.File, last.File)
		}
		switch {
		case f.Severity == "":
			j.addLacking(lang.T("finding %s has no severity", quote(f.ID)))
		case isBlank(f.Problem):
			j.addLacking(lang.T("finding %s names no problem", quote(f.ID)))
		}
		for _, ref := range splitRefs(f.Check) {
			if j.checks.at(ref) < 0 {
				j.addLacking(lang.T("finding %s names check %s, which `checks` does not have", quote(f.ID), quote(ref)))
			}
		}
	}
	return out
}

// keepOpen adds the open findings of the last report that a recorded one leaves out, and opens
// findings whose status cannot be read.
func (j *judge) keepOpen() {
	for i, f := range j.out.Findings {
		if _, known := readStatus(f.Status); !known {
			j.out.Findings[i].Status = "open"
		}
	}
	here := indexFindings(j.out.Findings)
	for _, f := range workflow.OpenFindings(j.Earlier.Findings) {
		if here.at(f.ID) < 0 {
			j.out.Findings = append(j.out.Findings, f)
		}
	}
}

// judgeForm adds the defects of the report as a whole.
func (j *judge) judgeForm() {
	if len(j.Blocks) == 0 {
		j.addLacking(lang.T("it has no block of JSON with its rows"))
		return
	}
	unread := len(j.Defects) > 0 && len(j.Report.Criteria)+len(j.Findings)+len(j.Checks) == 0
	if unread { // the block itself comes first
		return
	}
	owesFindings := j.Owes == workflow.OwesFindings
	if owesFindings && !j.Listed {
		j.addLacking(lang.T(`"findings" is missing; an empty list says that there are none`))
	}
	if !owesFindings && j.hasIDs() {
		missing := slices.DeleteFunc(j.Contract.Criteria.Owed(), func(id string) bool {
			return slices.ContainsFunc(j.out.Criteria, func(c workflow.Criterion) bool { return c.ID == id })
		})
		j.lackIDs(missing, lang.T("rows are missing: %s", List(missing)))
	} else if len(j.Checks) == 0 && isBlank(j.NoChecks) {
		j.addLacking(lang.T(`neither "checks" nor "no_checks" is there: name the commands that were run, or why none could be`))
	}
}

// deriveVerdict returns the verdict that follows from the rows.
func (j *judge) deriveVerdict() workflow.Verdict {
	has := func(result string) bool {
		return slices.ContainsFunc(j.out.Criteria, func(c workflow.Criterion) bool { return c.Result == result })
	}
	open := func(severity string) bool {
		return slices.ContainsFunc(workflow.OpenFindings(j.out.Findings), func(f workflow.Finding) bool { return f.Severity == severity })
	}
	switch {
	case has(workflow.ResultFail), open("critical"):
		return workflow.Fail
	case !isBlank(j.Needs):
		return workflow.Blocked
	case has(workflow.ResultNotTested), open("major"):
		return workflow.PassWithRisk
	}
	return workflow.Pass
}

// addHolds adds the reasons why the person decides about a pass.
func (j *judge) addHolds(derived workflow.Verdict) {
	hold := func(t lang.Text) { j.out.Held = append(j.out.Held, t) }
	if j.Stated != "" && rank[j.Stated] < rank[derived] && len(j.Blocks) > 0 {
		hold(lang.T("it states %s, and its rows come to %s", j.Stated, derived))
	}
	for _, c := range j.failed {
		if c.Server {
			hold(lang.T("the server ran check %s, `%s`, and it ended with exit code %d", quote(c.ID), visible.Fit(c.Command, 120), c.Exit))
		} else {
			hold(lang.T("check %s, `%s`, ended with exit code %d", quote(c.ID), visible.Fit(c.Command, 120), c.Exit))
		}
	}
	totals := slices.Clone(j.Totals)
	for _, c := range j.out.Checks {
		if !strings.HasPrefix(strings.TrimSpace(c.Command), "!") {
			totals = append(totals, FailedTotals(c.Output)...)
		}
	}
	for _, t := range slices.CompactFunc(totals, func(a, b Total) bool { return a.Line == b.Line }) {
		hold(lang.T("the output of %s says “%s”", t.Runner, visible.Fit(t.Line, 160)))
	}
	if j.Owes == workflow.OwesCriteria {
		j.holdRisk()
	}
	if j.Contract.Criteria.Changed() {
		hold(lang.T("the kept text of the requirements or the plan was changed since it was handed in"))
	}
	j.holdUnproved()
	if len(j.words) > 0 && !j.Taken {
		hold(lang.T("by word only, with nothing that can be looked up: %s", List(j.words)))
	}
}

// holdRisk adds the untested rows and open findings of a report that owes criteria.
func (j *judge) holdRisk() {
	var untested, major []string
	for _, c := range j.out.Criteria {
		if c.Result == workflow.ResultNotTested {
			untested = append(untested, c.ID)
		}
	}
	for _, f := range workflow.OpenFindings(j.out.Findings) {
		if f.Severity == "major" {
			major = append(major, f.ID)
		}
	}
	hold := func(t lang.Text) { j.out.Held = append(j.out.Held, t) }
	switch {
	case len(untested) > 0:
		hold(lang.T("not tested: %s", List(untested)))
	case len(major) > 0:
	case j.out.Verdict == workflow.PassWithRisk:
		hold(lang.T("it states a pass with risk"))
	}
	if len(major) > 0 {
		hold(lang.T("major findings are open: %s", List(major)))
	}
	if !j.hasIDs() && len(j.Checks) == 0 {
		hold(lang.T("no document names criteria, and nothing was run: %s", visible.Fit(j.NoChecks, 160)))
	}
}

// holdUnproved adds a reason if the server's own runs proved fewer rows than the policy wants.
func (j *judge) holdUnproved() {
	n := CountRows(j.out.Criteria)
	least := 0
	switch j.Proved {
	case workflow.ProvedAll:
		least = n.Passed
	case workflow.ProvedSome:
		least = 1
	}
	if j.Owes == workflow.OwesCriteria && n.Proved < least {
		j.out.Held = append(j.out.Held, lang.T("for %d of %d passed rows the server ran a command; the policy asks for %s", n.Proved, n.Passed, j.Proved))
	}
}

// maxSame is how many rows may share one evidence without a word about it.
const maxSame = 3

// SameEvidence returns how many passed rows share one text as their evidence, if more than three
// do; else 0.
func SameEvidence(rows []workflow.Criterion) int {
	count, most := map[string]int{}, 0
	for _, c := range rows {
		if key := strings.ToLower(strings.Join(strings.Fields(c.Evidence), " ")); c.Result == workflow.ResultPass && c.From == 0 && c.Check == "" && key != "" {
			count[key]++
			most = max(most, count[key])
		}
	}
	if most <= maxSame {
		return 0
	}
	return most
}
