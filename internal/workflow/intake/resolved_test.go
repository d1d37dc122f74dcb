package intake_test

import (
	"fmt"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// TestResolved: the answers of a submission to change requests are read in every stage and form, and
// does not stay in the document.
func TestResolved(t *testing.T) {
	t.Parallel()
	const block = "\n\n```json\n{\"resolved\": [{\"id\": \"r1c1\", \"how\": \"done\"}, {\"id\": \"r1c2\", \"status\": \"Declined\", \"reason\": \"the law\"}]}\n```"
	const both = "[{r1c1 done false map[]} {r1c2 the law true map[]}]"
	for name, tt := range map[string]struct {
		stage    workflow.StageID
		text     string
		want     string
		document string
	}{
		"a document":         {workflow.PO, "# P\n\nx" + block, both, "# P\n\nx"},
		"a plan":             {workflow.SM, "# S\n\n## Sprint 1: a" + block, both, "# S\n\n## Sprint 1: a"},
		"a report of a dev":  {workflow.Dev, "# D\n\nx" + block, both, "# D\n\nx"},
		"a report of a test": {workflow.QA, "# Q\n\nStatus: pass" + block, both, "# Q\n\nStatus: pass"},
		"an envelope":        {workflow.PO, `{"prd_draft": "# P", "quality_score": 90, "resolved": {"r1c1": "done"}}`, "[{r1c1 done false map[]}]", "# P"},
		"ids alone":          {workflow.PO, `{"prd_draft": "# P", "quality_score": 90, "resolved": ["r1c1"]}`, "[{r1c1  false map[]}]", "# P"},
		"an example":         {workflow.PO, "# P" + block + "\n\n## More\n\nx", "[]", "# P" + block + "\n\n## More\n\nx"},
		"a count":            {workflow.SM, "# S\n\n## Sprint 1: a\n\n```json\n{\"resolved\": 3}\n```", "[]", "# S\n\n## Sprint 1: a\n\n```json\n{\"resolved\": 3}\n```"},
	} {
		st, _ := workflow.Default().Stage(tt.stage)
		a := intake.Read(st, tt.text)
		if got := fmt.Sprint(a.Resolved); got != tt.want || a.Document != tt.document {
			t.Errorf("%s: got %s in %q, want %s in %q", name, got, a.Document, tt.want, tt.document)
		}
	}
}
