package audit

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestKept reads a document once that is asked for again and again, unless it is large.
func TestKept(t *testing.T) {
	first := readEarlier("# 0\n")
	for n := range 20 {
		readEarlier(fmt.Sprintf("# %d\n", n+1))
		if readEarlier("# 0\n") != first {
			t.Fatalf("a document that is asked for again and again is read again after %d others", n)
		}
	}
	if _, ok := kept.Get("# 1\n"); ok {
		t.Error("the oldest is kept")
	}
	large := strings.Repeat("x", maxKept+1)
	readEarlier(large)
	if _, ok := kept.Get(large); ok {
		t.Error("a large document is kept")
	}
}

// TestAuditsAtOnce audits with the same earlier documents in several goroutines: each gets the result that one
// alone gets.
func TestAuditsAtOnce(t *testing.T) {
	st := workflow.Default().Stages[3]
	r, err := loadBuiltin(st)
	if err != nil {
		t.Fatal(err)
	}
	known := Background{Plan: workflow.SM, Objective: "a relay for webhooks", Earlier: map[workflow.StageID]string{
		workflow.PO: "# PRD\n\n## User Stories\n\n### US-1\n\nAs a user, I want a relay, so that nothing is lost.\n\n- AC-1.1: it stores webhooks\n",
		workflow.SM: "# Plan\n\n## Sprint 1: relay\n\n- S1-1 Store webhooks (AC-1.1)\n\n## Sprint 2: rest\n\n- S2-1 Deliver\n",
	}}
	document := "# QA\n\nSprint 1 was tested.\n\n| Id | Result |\n|---|---|\n| AC-1.1 | pass |\n"
	var all sync.WaitGroup
	found := make([]workflow.Audit, 8)
	for i := range found {
		all.Go(func() { found[i] = r.Audit(document, known) })
	}
	all.Wait()
	for _, a := range found {
		if want := r.Audit(document, known); len(want.Findings) == 0 || !reflect.DeepEqual(a, want) {
			t.Errorf("got %+v, want %+v", a, want)
		}
	}
}

// TestBeginningIsEnough: a long document is of the subject if the beginning alone is.
func TestBeginningIsEnough(t *testing.T) {
	known := Background{Objective: "Build a self-hosted webhook relay that stores payments durably and delivers them with retries"}
	enough := 0
	eachDocument(t, func(text string) {
		s := &document{text: readText(text, nil), wanted: known}
		if s.saysAtOnce() {
			enough++
			if of := s.compareObjective(byWords, 0); !of.isComparable() || !of.speaks {
				t.Errorf("%.60q: the beginning is of the subject, the whole is not: %+v", text, of)
			}
		}
	})
	if enough < 5 {
		t.Errorf("the beginning was enough for %d documents", enough)
	}
}
