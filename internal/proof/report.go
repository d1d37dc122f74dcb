package proof

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Result is what a check of a project finds.
type Result struct {
	Runs []Run
	// Notes are about the project as a whole.
	Notes []Finding
}

// Run is what a check finds about one run.
type Run struct {
	Task string
	// Path is that of its statement, from the project.
	Path     string
	Finished bool
	// People are the accounts whose decisions opened its gates; Documents counts its approved artifacts.
	People    []string
	Documents int
	// Touched counts those of the decisions that were signed with a security key, which a person has touched.
	Touched int
	// Findings are problems. Notes are facts that reviewers should know; a strict check counts them as problems.
	Findings, Notes []Finding
	Risks           []Risk
}

// Finding is a problem of a file, or a fact about it.
type Finding struct {
	// Rule names the kind of the finding for programs; it does not change.
	Rule string
	Path string
	// What names the problem with its reason, and Do the remedy.
	What, Do lang.Text
}

// Says returns the problem and the remedy, each in one line of visible characters, because parts of both come from the
// files under check.
func (f Finding) Says(l lang.Language) (what, do string) {
	return visible.Line(f.What.In(l)), visible.Line(f.Do.In(l))
}

// Risk is work that a person let pass although it did not pass its gate.
type Risk struct {
	Stage   workflow.StageID `json:"stage"`
	Subject string           `json:"subject"`
	At      string           `json:"at"`
	// Verdict is that of the report, Open its open findings, Failed and NotTested count its rows.
	Verdict   workflow.Verdict `json:"verdict,omitempty"`
	Open      []string         `json:"open_findings,omitempty"`
	Failed    int              `json:"failed,omitempty"`
	NotTested int              `json:"not_tested,omitempty"`
}

// Holds reports whether there is no finding; strict counts notes as findings.
func (r Result) Holds(strict bool) bool {
	for _, run := range r.Runs {
		if len(run.Findings) > 0 || strict && len(run.Notes) > 0 {
			return false
		}
	}
	return !strict || len(r.Notes) == 0
}
