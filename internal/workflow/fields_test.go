package workflow_test

import (
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

// TestEveryFieldCounts changes each text and number that a session can have, one after the other, as three attackers can:
// without a key; with the key of a member, who signs the newest entry again; and with a key of yesterday, which nobody
// has said whose it is. What no signature covers is listed, so that a new field without one fails.
func TestEveryFieldCounts(t *testing.T) {
	free := []string{"cwd", "version"} // the folder can be moved, and the format is raised by whoever writes it
	s, fields := workflowtest.Full("11111111-2222-4333-8444-555555555555")
	s.CurrentState, s.Seals = workflow.Generating, nil
	e := &s.History[0]
	e.Event, e.From, e.To, e.Subject, e.Grant.Person, e.Adoption, e.Found, e.Keys = workflow.EventStarted, "", s.Place(), "ana", workflow.Person{Subject: "ana"}, nil, "", nil
	e.Name, e.Account, e.Key, e.Judged = "", "", "", ""
	if err := s.SignNew(ana, here); err != nil {
		t.Fatal(err)
	}
	known := workflow.Known{Project: here, Members: []workflow.Member{ana.member("ana"), ben.member("ben")}}
	alone := workflow.Known{Project: here}
	if v := s.Verify(ana, &alone); !v.Sound() {
		t.Fatalf("as it was signed: %+v", v)
	}
	check := func(path string) {
		t.Helper()
		if v := s.Verify(ana, &alone); v.Sound() != slices.Contains(free, path) {
			t.Errorf("%s, without a key: %+v", path, v)
		}
		for name, by := range map[string]machine{"a member": ben, "yesterday's key": eve} {
			entry, grant := e.Signature, e.Grant.Signature
			workflow.SignEntry(t, s, by, 0)
			if v := s.Verify(ana, &known); v.Sound() {
				t.Errorf("%s, with the key of %s: %+v", path, name, v)
			}
			e.Signature, e.Grant.Signature = entry, grant
		}
	}
	seen := 0
	for _, f := range fields {
		switch {
		case f.Text != nil && f.Value != "":
			f.Text(f.Value + "x")
			check(f.Path)
			f.Text(f.Value)
			seen++
		case f.Number != nil:
			f.Number(2)
			check(f.Path)
			f.Number(1)
			seen++
		}
	}
	if seen < 100 {
		t.Errorf("only %d fields were looked at", seen)
	}
}
