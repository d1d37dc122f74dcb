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
	// Path is the path of the statement, from the project.
	Path     string
	Finished bool
	// People are the accounts whose decisions opened the gates; Documents counts the approved artifacts.
	People    []string
	Documents int
	// Touched counts the decisions that a person signed by touching a security key.
	Touched int
	// Findings are problems. Notes are facts for reviewers; a strict check counts them as problems.
	Findings, Notes []Finding
	Risks           []Risk
}

// Finding is a problem of a file, or a fact about it.
type Finding struct {
	// Rule names the kind of the finding for programs; it does not change.
	Rule string
	Path string
	// What names the problem and the reason, and Do the remedy.
	What, Do lang.Text
}

// Says returns the problem and the remedy, each in one line of visible characters, because parts of both come from the
// files under check.
func (f Finding) Says(l lang.Language) (what, do string) {
	return visible.Line(f.What.In(l)), visible.Line(f.Do.In(l))
}

// Risk is work that a person let pass against the gate.
type Risk struct {
	Stage   workflow.StageID `json:"stage"`
	Subject string           `json:"subject"`
	At      string           `json:"at"`
	// Verdict is the verdict of the report, Open are the open findings, Failed and NotTested count the rows.
	Verdict   workflow.Verdict `json:"verdict,omitempty"`
	Open      []string         `json:"open_findings,omitempty"`
	Failed    int              `json:"failed,omitempty"`
	NotTested int              `json:"not_tested,omitempty"`
}

// Holds reports whether there is no finding; strict counts notes as findings.
func (r Result) Holds(strict bool) bool {
	for _, run := range r.Runs {
		hasNotes := strict && len(run.Notes) > 0
		if len(run.Findings) > 0 || hasNotes {
			return false
		}
	}
	return !strict || len(r.Notes) == 0
}
