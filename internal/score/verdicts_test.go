package score_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// goesThrough reports whether a report would pass its gate without anyone being asked.
func goesThrough(a score.Assessment) bool {
	v := a.Effective()
	return (v == workflow.Pass || v == workflow.PassWithRisk) && !a.Doubted() && a.Defect.Empty()
}

// outcome is what a report comes to: its verdict, or "doubt".
func outcome(a score.Assessment) workflow.Verdict {
	if a.Doubted() {
		return doubt
	}
	return a.Effective()
}

const doubt workflow.Verdict = "doubt"

// TestReports reads whole reports: in bad/ something speaks against the pass that each states, in
// good/ nothing does, however much failure is mentioned. The first part of a name is the set: 1 was
// there while the reader was written, each later one was written before it was first read.
func TestReports(t *testing.T) {
	for _, kind := range []string{"bad", "good"} {
		paths, err := filepath.Glob(filepath.Join("testdata/verdicts", kind, "*"))
		if err != nil || len(paths) < 40 {
			t.Fatalf("%d reports, %v", len(paths), err)
		}
		read, right := map[string]int{}, map[string]int{}
		for _, p := range paths {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			stage := workflow.QA
			if strings.Contains(string(text), `{"review"`) {
				stage = workflow.Review
			}
			set, _, _ := strings.Cut(filepath.Base(p), "-")
			a := score.Read(named(stage), string(text))
			read[set]++
			if goesThrough(a) == (kind == "good") {
				right[set]++
			} else if !knownMisses[kind+"/"+filepath.Base(p)] {
				t.Errorf("%s: verdict %q, objections %q, defect %q", p, a.Effective(), a.Objections, a.Defect)
			}
		}
		for set, n := range read {
			rate := 100 * float64(right[set]) / float64(n)
			t.Logf("%s reports, set %s: %d of %d right (%.1f %%)", kind, set, right[set], n, rate)
			if rate < 95 {
				t.Errorf("%s reports, set %s: %.1f %%", kind, set, rate)
			}
		}
	}
}

// knownMisses are reports that are read wrongly, each with the reason for leaving it so.
var knownMisses = map[string]bool{
	// What is wrong is told without a word of failure: "two requests can still book the same seat".
	"bad/4-prose-b.md": true,
	// A tally of single letters: "P=30, F=4, B=0".
	"bad/5-42.md": true,
	// A history of rounds that ends with a failure, in one sentence.
	"bad/6-31.md": true,
}

// TestHonestWork reads the reports of whole runs and of the audit's documents that pass.
func TestHonestWork(t *testing.T) {
	for _, p := range []string{
		"submissions/webhook-relay/10-review-second.md", "submissions/webhook-relay/11-qa.md", "submissions/zh-booking/05-review-first.md",
		"submissions/zh-booking/06-qa.json", "audit/qa/clinic-booking.md", "audit/qa/log-slicer-list.md", "audit/qa/zh-subscription-billing.md", "audit/review/zh-subscription-billing.md",
	} {
		text, err := os.ReadFile(filepath.Join("../../testdata", p))
		if err != nil {
			t.Fatal(err)
		}
		stage := workflow.QA
		if strings.Contains(p, "review") {
			stage = workflow.Review
		}
		a := score.Read(named(stage), string(text))
		if len(a.Objections) > 0 || a.Effective() == workflow.Fail {
			t.Errorf("%s: verdict %q, objections %q", p, a.Effective(), a.Objections)
		}
		if a.Verdict == "" { // states none; nothing in it may speak against one
			if a = score.Read(named(stage), "Status: pass\n\n"+string(text)); !goesThrough(a) {
				t.Errorf("%s: objections %q", p, a.Objections)
			}
		}
	}
}
