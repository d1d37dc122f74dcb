package score_test

import (
	"regexp"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestObjectionsInChinese: what speaks against a pass is said in Chinese, with the words of the
// report as they are.
func TestObjectionsInChinese(t *testing.T) {
	t.Parallel()
	quotation := regexp.MustCompile(`“[^”]*”|"[^"]*"`)
	english := regexp.MustCompile(`[A-Za-z]+(?: [A-Za-z]+){2}`)
	seen := 0
	for _, text := range []string{
		`{"qa_report":"# R\n\nALL TESTS FAIL","verdict":"pass"}`,
		`{"qa_report":"# R","verdict":"pass, mostly"}`,
		`{"qa_report":"# R","verdict":"pass","verdict":"fail"}`,
		`{"qa_report":"# R","verdict":"pass","criteria":[{"id":"AC-1","result":"fail"},{"id":"AC-2","result":"pass"}],"findings":[{"id":"F1","severity":"critical","problem":"x"},{"id":"F2","severity":"major","problem":"y"}]}`,
		"# R\n\nStatus: pass\n\n| Criterion | Result |\n|---|---|\n| AC-1 | not tested |\n| AC-2 | not tested |\n",
		"# R\n\nStatus: pass\n\n| Criterion | Result |\n|---|---|\n| AC-1 | not tested |\n| AC-2 | pass |\n",
		"# R\n\nStatus: pass\n\n- 1 test failed\n- 2 tests failed\n- 3 tests failed\n- 4 tests failed\n- 5 tests failed\n- 6 tests failed\n- 7 tests failed\n- 8 tests failed\n",
	} {
		a := score.Read(named(workflow.QA), text)
		if len(a.Objections) == 0 {
			t.Errorf("nothing speaks against %q", text)
		}
		for _, o := range append([]lang.Text{a.ScoreNote}, a.Objections...) {
			seen++
			if m := english.FindString(quotation.ReplaceAllString(o.In("zh"), "")); m != "" {
				t.Errorf("%q is not Chinese", o.In("zh"))
			}
		}
	}
	a := score.Read(named(workflow.QA), `{"qa_report":"# R\n\nALL TESTS FAIL","verdict":"pass"}`)
	if got := a.Objections[0].In("zh"); got != "第 3 行写道“ALL TESTS FAIL”" {
		t.Errorf("got %q", got)
	}
	if got := score.Merge(a, a).Objections; len(got) != len(a.Objections) {
		t.Errorf("two equal reports have %d objections, one has %d", len(got), len(a.Objections))
	}
}
