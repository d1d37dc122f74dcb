package audit

import (
	linked "container/list"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestShelf keeps texts within its bounds, the ones that were asked for last.
func TestShelf(t *testing.T) {
	s := shelf{places: map[string]*linked.Element{}, order: linked.New()}
	document := func(n int) string { return fmt.Sprintf("# %d\n", n) + strings.Repeat("x", maxKept/8) }
	first := s.read(document(0))
	for n := 1; n < 20; n++ {
		s.read(document(n))
		if s.read(document(0)) != first {
			t.Fatalf("a document that is asked for again and again is read again after %d others", n)
		}
		if s.size > maxKept || len(s.places) != s.order.Len() {
			t.Fatalf("%d bytes are kept in %d texts, %d in order", s.size, len(s.places), s.order.Len())
		}
	}
	if s.find(document(1)) != nil || s.find(document(19)) == nil {
		t.Error("the oldest is kept, or the newest is not")
	}
	large := strings.Repeat("x", maxKeptOne+1)
	if s.read(large); s.find(large) != nil {
		t.Error("one large document takes the place of many")
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
