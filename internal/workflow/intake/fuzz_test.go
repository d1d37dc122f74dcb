package intake_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

func FuzzRead(f *testing.F) {
	paths, _ := filepath.Glob("../../../testdata/submissions/*/*")
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil {
			f.Add(string(b))
		}
	}
	f.Add("```json\n{\"prd_draft\": \"a\nb\", \"quality_score\": \"95/100\",}\n```")
	f.Add("{\"a\":{\"prd_draft\":\"" + strings.Repeat("{", 50))
	f.Fuzz(func(t *testing.T, text string) {
		for _, st := range workflow.Default().Stages {
			a := intake.Read(st, text)
			check(t, text, a)
			check(t, text, intake.Merge(a, intake.Read(st, strings.ToUpper(text))))
		}
	})
}

func check(t *testing.T, text string, a intake.Assessment) {
	t.Helper()
	if a.Claimed != nil && (*a.Claimed < 0 || *a.Claimed > 100) {
		t.Errorf("claimed %v", *a.Claimed)
	}
	if a.Estimated < 60 || a.Estimated > intake.EstimateMax {
		t.Errorf("estimated %v", a.Estimated)
	}
	if utf8.ValidString(text) && !utf8.ValidString(a.Document) {
		t.Error("document is not UTF-8")
	}
	ids := map[string]bool{}
	for _, q := range a.Questions {
		if q.ID == "" || q.Question == "" || ids[q.ID] {
			t.Errorf("question %+v", q)
		}
		ids[q.ID] = true
	}
}
