package verdict

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func FuzzReport(f *testing.F) {
	paths, _ := filepath.Glob("../../../testdata/submissions/*/*")
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil && len(b) < 8<<10 {
			f.Add(string(b))
		}
	}
	h := honestReports()[0]
	for _, write := range shapes {
		f.Add(write(h))
	}
	f.Add("Status: pass\n\n{\"criteria\": {\"AC-1.1\": \"pass\"}, 'findings': [,]}")
	contract := h.contract()
	contract.Round, contract.Earlier = 1, workflow.Record{Findings: []workflow.Finding{{ID: "R1", Severity: "major", Problem: "x"}}}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		r := Read(text, []string{"qa_report"})
		for _, owes := range []workflow.Owes{workflow.OwesCriteria, workflow.OwesFindings} {
			contract.Owes = owes
			j := Judge(r, contract)
			if len(j.Returned) == 0 && j.Verdict.Passes() && len(r.Blocks) == 0 {
				t.Error("a report without a block passes")
			}
			if len(j.Returned) == 0 && j.Verdict == workflow.Pass && len(j.Held) == 0 {
				for _, c := range j.Criteria {
					if c.Result != workflow.ResultPass && c.Result != workflow.ResultOutOfScope {
						t.Errorf("%s goes on with %q", c.ID, c.Result)
					}
				}
				if owes == workflow.OwesCriteria && CountRows(j.Criteria).Passed < len(h.ids) {
					t.Error("rows are missing")
				}
				if indexFindings(j.Findings).at("R1") < 0 {
					t.Error("an open finding is lost")
				}
			}
			// The rendered report is read again as the same report.
			document := r.Document(Tables(lang.English, &workflow.Record{Criteria: j.Criteria, Findings: j.Findings, Checks: j.Checks}))
			again := Read(document, []string{"qa_report"})
			if len(r.Defects) == 0 && len(r.Blocks) == 1 && (len(again.Criteria) != len(r.Criteria) || len(again.Findings) != len(r.Findings)) {
				t.Errorf("%d rows and %d findings are read as %d and %d from\n%s", len(r.Criteria), len(r.Findings), len(again.Criteria), len(again.Findings), document)
			}
		}
	})
}

// FuzzCriteria reads any requirements and any plan.
func FuzzCriteria(f *testing.F) {
	f.Add(requirements, "## Sprint 1: a\n\nAC-1.1 to AC-1.3\n\n## Out of scope\n\n- AC-2.1")
	f.Fuzz(func(t *testing.T, prd, plan string) {
		c := ReadCriteria(Sources{Requirements: []string{prd}, Plan: plan, Approved: true, Sprints: []workflow.Sprint{{Number: 1}, {Number: 2, Status: workflow.SprintPending}}, InScope: []int{1}})
		seen := map[string]bool{}
		for _, one := range c.All {
			if found := c.Find(one.ID); seen[one.ID] || found == nil || found.ID != one.ID {
				t.Errorf("%+v", one)
			}
			seen[one.ID] = true
		}
	})
}

// BenchmarkRead shows the cost of a byte of an honest report of 20 kB and of hostile texts.
func BenchmarkRead(b *testing.B) {
	h := honestReports()[1]
	honest := strings.Repeat("The relay was killed ten times and lost nothing. ", 300) + "\n\n" + fenceJSON(h.block(h.rows(), nil))
	contract := h.contract()
	b.Run("honest", func(b *testing.B) {
		b.SetBytes(int64(len(honest)))
		for b.Loop() {
			Judge(Read(honest, nil), contract)
		}
	})
	for name, unit := range map[string]string{"braces": "{\"criteria\": \n", "fences": "```json\n{\"criteria\": [\n", "quotes": "{\"criteria\": \"a \"b\" c\"\n", "markers": "Status: pass\n", "rows": "| AC-1 | pass |\n"} {
		text := strings.Repeat(unit, 256<<10/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Read(text, nil)
			}
		})
	}
}
