package submission

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// TestFrontMatterVerdict checks that a failure that front matter states counts beside a block with
// rows.
func TestFrontMatterVerdict(t *testing.T) {
	t.Parallel()
	const rows = "# QA\n\n```json\n{\"criteria\": [{\"id\": \"AC-1\", \"result\": \"pass\", \"evidence\": \"303\"}]}\n```\n"
	for front, want := range map[string]workflow.Verdict{
		"verdict: fail":                         workflow.Fail,
		"title: QA report\nverdict: fail":       workflow.Fail,
		"title: QA report\nauthor: QA\ndate: x": workflow.Pass,
	} {
		r := readReport(workflow.Stage{ID: "qa", Kind: workflow.KindVerdict, Gate: workflow.GateVerdict}, "---\n"+front+"\n---\n\n"+rows)
		if got := verdict.Judge(r, verdict.Contract{}).Verdict; got != want {
			t.Errorf("%q: got %s, want %s", front, got, want)
		}
	}
	const broken = "---\nverdict: fail\ntitle: [a\n---\n\n"
	for text, want := range map[string]int{broken + "# QA\n": 1, broken + rows: 0, "# QA\n": 0, rows: 0} {
		r := readReport(workflow.Stage{ID: "qa", Kind: workflow.KindVerdict, Gate: workflow.GateVerdict}, text)
		if len(r.Defects) != want {
			t.Errorf("%q: defects %v, want %d", text, r.Defects, want)
		}
	}
}
