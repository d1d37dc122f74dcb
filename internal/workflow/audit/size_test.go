package audit_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
)

var stages = workflow.IDsOf(auditedStages())

// auditedStages returns the stages of the default workflow whose documents are.
func auditedStages() []workflow.Stage {
	return slices.DeleteFunc(slices.Clone(workflow.Default().Stages), func(st workflow.Stage) bool { return !st.Audited() })
}

// FuzzAudit looks for panics and broken promises: the score's range, the order
// and bounds of the findings, lines that exist, and equal results for equal texts.
func FuzzAudit(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join(corpus, "*", "*.md"))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(slices.Index(stages, filepath.Base(filepath.Dir(name)))), string(data), "FR-1 (Must) x\nAC-1.1 y")
	}
	for _, s := range []string{"", "\ufeff", "|", "||\n|-|\n|\n", "# ", "**", "`", "```", "<!--", "---\n---", "US-99999.9: x", "AC-1.1 to AC-0.1, 2, 3", "- [ ] TODO", "\xff\xfe", "## Sprint 1\n### S1-1\n|a|\n|-|\n|S1-1|", "待定", "\r\r\n\r"} {
		for i := range stages {
			f.Add(uint8(i), s, s)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, document, prd string) {
		for _, stage := range stages[int(n)%len(stages):][:1] {
			a := rubric(t, workflow.StageID(stage)).Audit(document, audit.Background{Plan: workflow.SM, Earlier: map[workflow.StageID]string{workflow.PO: prd, workflow.SM: document}})
			if a.Score < 0 || a.Score > 100 {
				t.Errorf("score %g", a.Score)
			}
			if len(a.Findings) > 50 || len(a.Summary) > 160 || !utf8.ValidString(a.Summary) || (a.Summary == "") != (len(a.Findings) == 0) {
				t.Errorf("%d findings, summary %q", len(a.Findings), a.Summary)
			}
			lines := strings.Count(document, "\n") + 1
			for i, x := range a.Findings {
				if x.Line < 0 || x.Line > lines || (x.Points <= 0) != x.Asks() || x.Problem == "" || x.Fix == "" || len(x.Problem) > 300 || len(x.Fix) > 300 || !utf8.ValidString(x.Problem) {
					t.Errorf("finding %+v", x)
				}
				if i > 0 && (x.Points > a.Findings[i-1].Points || x.Points == a.Findings[i-1].Points && x.Line < a.Findings[i-1].Line) {
					t.Errorf("out of order: %+v before %+v", a.Findings[i-1], x)
				}
			}
			if b := rubric(t, workflow.StageID(stage)).Audit(document, audit.Background{Plan: workflow.SM, Earlier: map[workflow.StageID]string{workflow.PO: prd, workflow.SM: document}}); show(a) != show(b) {
				t.Error("two audits of one text differ")
			}
		}
	})
}

// hard are texts of which one piece is repeated until the whole is large.
var hard = map[string]string{
	"prose":       "The relay stores every webhook before it answers, and nobody has to send it again. ",
	"lines":       "The relay stores every webhook before it answers.\n",
	"headings":    "## Business Goals\n\n",
	"deep":        "# a\n## b\n### US-1: c\n#### d\n**e**\n",
	"stories":     "- US-1: As a user, I want to win, so that I am happy\n",
	"requirement": "- FR-1 (Must, US-1) The system stores 100 MB in 5 s\n",
	"rows":        "| FR-1 | a | b |\n",
	"table":       "| Id | What |\n|---|---|\n| AC-1.1 | pass |\n\n",
	"fences":      "```json\n",
	"tildes":      "~~~\na\n~~~~\n",
	"comments":    "<!-- a\n",
	"ranges":      "FR-1 to FR-9, FR-2 to FR-8 and 3, 4, 5\n",
	"ids":         "FR-1, 2, 3, ",
	"sprints":     "## Sprint 1: a\n### S1-1 b\n",
	"bars":        "||||||||",
	"stars":       "**** ** * ",
	"backticks":   "` `` ``` ",
	"todo":        "TODO: a\n",
	"chinese":     "作为读者，我希望预约座位，以便到馆后直接入座。验收标准：系统正常工作\n",
	"crlf":        "a\r\n\r\n",
	"braces":      "{a\n",
	"cells":       "| a | b |\n",
	"titles":      "# x\n",
	"words":       "abc def ",
	"brackets":    "(",
	"quotes":      "\"",
	"given":       "given ",
	"denials":     "the tests were not ",
	"denied":      "the tests were never run, no test was run. ",
	"characters":  "测试结果编造",
	"results":     "测试结果都是编造的\n",
	"oneStory":    "US-1\n",
	"oneCriteria": "- AC-1.1 a\n",
	"latin":       "lorem ipsum dolor sit amet ",
	"keys":        "asdf ",
}

// TestLargeDocuments runs into the package's time limit if the work grows
// with the square of the size.
func TestLargeDocuments(t *testing.T) {
	const size = 5 << 20
	for name, piece := range hard {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document := strings.Repeat(piece, size/len(piece)/shrink())
			for _, stage := range stages {
				rubric(t, workflow.StageID(stage)).Audit(document, audit.Background{Plan: workflow.SM, Earlier: map[workflow.StageID]string{workflow.PO: document, workflow.SM: document}})
			}
		})
	}
}

// TestReadsWhatSomebodyWouldRead audits documents larger than anybody's: the text after
// the first megabyte costs points, and no work.
func TestReadsWhatSomebodyWouldRead(t *testing.T) {
	for _, piece := range []string{"| FR-1 | a | b |\n"} {
		large := strings.Repeat(piece, (1<<20)/len(piece)+1)
		larger := strings.Repeat(large, 20)
		r := rubric(t, workflow.PO)
		var a workflow.Audit
		least := allocations(func() { r.Audit(large, audit.Background{}) })
		most := allocations(func() { a = r.Audit(larger, audit.Background{}) })
		if most > 1.2*least {
			t.Errorf("%q: %.0f allocations for 20 MB, %.0f for 1 MB", piece, most, least)
		}
		if !strings.Contains(show(a), "TOO-LONG: it takes 20480 kB; our check reads the first 1024 kB") {
			t.Errorf("%q: %s", piece, show(a))
		}
	}
}

// TestWorkGrowsWithTheSize counts the allocations of hard documents of one size and of
// twice that: if a reader goes over the rest of the text for each place, or keeps the text that
// it has seen again and again, they grow faster than the text.
func TestWorkGrowsWithTheSize(t *testing.T) {
	if slow > 1 {
		t.Skip("the race detector allocates too")
	}
	const size = 8 << 10
	for name, piece := range hard {
		r := rubric(t, workflow.Dev)
		count := func(bytes int) float64 {
			document := strings.Repeat(piece, bytes/len(piece))
			return allocations(func() {
				r.Audit(document, audit.Background{Plan: workflow.SM, Objective: "a relay for webhooks", Earlier: map[workflow.StageID]string{workflow.PO: document}})
			})
		}
		if once, twice := count(size), count(2*size); twice > 2.4*once+2000 {
			t.Errorf("%s: %.0f allocations for %d kB, %.0f for twice that", name, once, size>>10, twice)
		}
	}
}

// allocations counts those of one call. No test of this package runs beside another.
func allocations(call func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// shrink makes the documents smaller: 16 kB by default, 40 kB with TEST_BMAD_EVERY_CUT=1, less if the
// race detector looks on. How the work grows with the size is TestWorkGrowsWithTheSize's to show.
func shrink() int {
	if testing.Short() {
		return 100
	}
	if os.Getenv("TEST_BMAD_EVERY_CUT") != "1" {
		return 320 * slow
	}
	return 128 * slow
}
