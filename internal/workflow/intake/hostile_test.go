package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// hostile are texts that make a reader look at the same bytes again and again, by the piece that
// is repeated.
var hostile = map[string]string{
	"open braces":         "{a\n",
	"open objects":        "{\"a\": ",
	"nested score fields": `{"quality_score":`,
	"score statements":    "quality score: 9 ",
	"score lines":         "Quality Score: 9\n",
	"verdict fields":      `"verdict": "pass", `,
	"verdict objects":     "{\"verdict\": \"pass\"}\n",
	"broken documents":    "```json\n{\"qa_report\": \"x\n",
	"fences":              "```\n",
	"one-line fences":     "```json\n{}\n```\n",
	"brackets":            "[",
	"closed brackets":     "[]",
	"quotes":              "\"",
	"backslashes":         "\\",
	"headings":            "# a\n",
	"sprint headings":     "## Sprint 1: a\n",
	"tables":              "| a | result |\n|---|---|\n| AC-1 | pass |\n\n",
	"new criteria":        "| AC-%d | pass |\n",
	"cells":               "| a ",
	"rules":               "|---|\n",
	"failures":            "FAIL ",
	"failure lines":       "FAIL: a\n",
	"counts":              "1 failed 2 ",
	"ratios":              "1 of 2 ",
	"conditions":          "if it fails ",
	"quoted statements":   "\"quality score: 9\" `quality score: 9` ",
	"comments":            "<!-- a --> <!-- ",
	"tags":                "<a><b",
	"critical":            "critical: ",
	"list items":          "- AC-1: pass\n",
	"questions":           "## Clarifying questions\n- Q1: a\n",
	"Chinese":             "测试失败，",
	"Chinese lines":       "- 测试失败，见下\n",
	"no spaces":           "失败",
	"one word":            "a",
	"digits":              "1",
	"dots":                ".",
	"emphasis":            "**",
	"struck":              "~~a",
	"escapes":             "\x1b[",
	"status":              "Status: pass ",
	"arrows":              "Status: a → ",
}

// opened are pieces that are repeated as often as an envelope is looked for, before a long text.
var opened = map[string]string{
	"score fields first":   `{"quality_score":`,
	"documents first":      "{\"qa_report\": \"x\n",
	"closed objects first": "{\"verdict\": {}, \"a\": \n",
}

func repeat(unit string, size int) string {
	if !strings.Contains(unit, "%d") {
		return strings.Repeat(unit, size/len(unit))
	}
	var b strings.Builder
	b.WriteString("| AC | Result |\n|---|---|\n")
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, unit, n)
	}
	return b.String()
}

// TestHostileTextIsCheap reads texts that make naive scanners quadratic; it hangs if they do here.
func TestHostileTextIsCheap(t *testing.T) {
	const size = 128 << 10
	texts := map[string]string{}
	for name, unit := range hostile {
		texts[name] = repeat(unit, size)
	}
	for name, unit := range opened {
		texts[name] = strings.Repeat(unit, 500) + strings.Repeat("one two three\n", size/14)
	}
	for name, text := range texts {
		for _, stage := range []workflow.StageID{workflow.PO, workflow.SM, workflow.Dev, workflow.QA} {
			if a := Read(stageOf(stage), text); a.Estimated < estimateBase {
				t.Errorf("%s, %s: %+v", name, stage, a)
			}
		}
	}
}

// BenchmarkRead shows the cost of a byte: of an honest report, and of hostile texts at two sizes,
// which should cost the same a byte.
func BenchmarkRead(b *testing.B) {
	honest := strings.Repeat("# QA\n\nStatus: pass\n\n| Id | Criterion | Result |\n|---|---|---|\n| AC-1 | a link works once | pass |\n\nThe suite was run three times: 44 passed, 0 failed.\n\n", 40)
	run := func(name, text string) {
		for _, stage := range []workflow.StageID{workflow.PO, workflow.QA} {
			b.Run(name+"/"+string(stage), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Read(stageOf(stage), text)
				}
			})
		}
	}
	run("honest", honest)
	for name, unit := range hostile {
		for _, size := range []int{64 << 10, 1 << 20} {
			run(fmt.Sprintf("%s/%dk", strings.ReplaceAll(name, " ", "-"), size>>10), repeat(unit, size))
		}
	}
}

// stageOf returns a stage of the default workflow.
func stageOf(id workflow.StageID) workflow.Stage {
	st, _ := workflow.Default().Stage(id)
	return st
}
