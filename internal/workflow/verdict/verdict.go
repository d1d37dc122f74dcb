// Package verdict derives the verdict of a review or QA report from its rows: results of
// criteria with their evidence, commands with their exit codes, and findings.
//
// [Read] reads a [Report]; a [Contract] lists the rows that the report owes, known before it is read.
// [Judge] compares the two. Everything here is pure. Of the text beside the rows only formats of
// machines are read: lines, for example "Status: Pass", and the totals of test runners. A report with a
// stated pass and no rows passes nothing.
//
// # Invariants
//
//   - A report of a verdict stage always owes its rows. A missing row returns the report to the
//     author, and only a pass derived from rows that nothing contradicts continues (TestJudge,
//     TestMutationsAreSeen, TestReportsAreReturned).
//   - A passed row for which nothing can be looked up returns the report once, and then continues only
//     by a person's yes (TestEvidence, TestWordsAreAskedAboutOnce).
//   - A stated verdict opens nothing, and can only make the derived one worse (TestJudge).
package verdict

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Report is the content of one report, or of the reports of two engines together.
type Report struct {
	// Body is the report as Markdown, without the block and without the tables that
	// [Report.Document] renders from it. Blocks are the blocks of JSON as they were handed in.
	Body   string
	Blocks []string
	// Summary describes the checks in a few sentences.
	Summary  string
	Checks   []workflow.Check
	NoChecks string
	Criteria []workflow.Criterion
	Findings []workflow.Finding
	Resolved []workflow.Resolution
	// Listed is true if the block has a list of findings, even an empty one.
	Listed bool
	// Needs names the things that a blocked report waits for.
	Needs string
	// Stated is the worst of the verdicts that the block and the text state; empty if there is
	// none.
	Stated workflow.Verdict
	// Defects are the mistakes of form, which return a report.
	Defects []lang.Text
	// Totals are the lines in which test runners report a failure.
	Totals []Total
}

// Limits of a report; the text of each round has all of it.
const (
	maxRows   = 20_000 // of each list
	maxListed = 40     // ids in a sentence
)

// Blank reports whether nobody has filled in anything: the report is as [Contract.Form] lays it
// out, or empty.
func (r Report) Blank() bool {
	for _, c := range r.Criteria {
		if c.Result != "" || c.Evidence != "" {
			return false
		}
	}
	return r.Body == "" && r.Summary == "" && len(r.Checks)+len(r.Findings) == 0 && r.NoChecks == "" && r.Needs == "" && r.Stated == ""
}

// rank orders verdicts, the better first.
var rank = map[workflow.Verdict]int{workflow.Pass: 1, workflow.PassWithRisk: 2, workflow.Blocked: 3, workflow.Fail: 4}

// worseVerdict returns the worse of two verdicts; none is better than any.
func worseVerdict(a, b workflow.Verdict) workflow.Verdict {
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// addStated takes in a stated verdict: the worst counts.
func (r *Report) addStated(v workflow.Verdict) { r.Stated = worseVerdict(r.Stated, v) }

// maxDefects bounds the named mistakes.
const maxDefects = 100

func (r *Report) addDefect(t lang.Text) {
	if len(r.Defects) < maxDefects {
		r.Defects = append(r.Defects, t)
	}
}

// addDuplicates notes repeated fields, in other spellings or by another name: a reader of the
// report may take the one, and the verdict the other.
func (r *Report) addDuplicates(names []string) {
	for _, name := range names {
		r.addDefect(lang.T("an object of the block has the field %s twice, in two spellings", quote(name)))
	}
}
