package verdict

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Revision is a report after an edit at the gate, judged again by the block.
type Revision struct {
	Report
	Judgement
	// Document is the text of the report's round, with the tables rendered from the block.
	Document string
	// Refused are the reasons why the edit cannot be taken.
	Refused []lang.Text
}

// Revise judges the edited text of a report. c is the contract of the stage whose record has the report as it was
// judged before: each open finding has to stay mentioned. An edit of the tables is refused, because they are
// rendered from the block.
func Revise(judged, edited string, keys []string, c Contract, l lang.Language) Revision {
	for _, check := range c.Earlier.Checks {
		if check.Server {
			c.Server = append(c.Server, workflow.Evidence{Command: check.Command, ExitCode: check.Exit, Tail: check.Output})
		}
	}
	r := Read(edited, keys)
	out := Revision{Report: r, Judgement: Judge(r, c)}
	if TablesIn(judged) != TablesIn(edited) {
		out.Refused = append(out.Refused, lang.T("its tables were edited; they are rendered from the block of JSON at the end, so edit the block"))
	}
	out.Refused = append(append(out.Refused, out.Returned...), out.Missing...)
	rows := &workflow.Record{Criteria: out.Judgement.Criteria, Findings: out.Judgement.Findings, Checks: out.Judgement.Checks}
	out.Document = r.Document(Tables(l, rows)) + "\n"
	return out
}
