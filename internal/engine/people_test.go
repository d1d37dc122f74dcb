package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The people of these tests.
var (
	ann = workflow.Person{Subject: "ann", Name: "Ann Author <ann@example.org>"}
	bob = workflow.Person{Subject: "bob", Name: "Bob <bob@example.org>"}
	cat = workflow.Person{Subject: "cat"}
)

// TestPeopleAreRecorded checks that every entry and every decision says on whose behalf it was made, by keys that an
// older program keeps.
func TestPeopleAreRecorded(t *testing.T) {
	b := newBench(t)
	b.acting = ann
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	b.acting = bob
	b.settings("pause: stages\n") // whose note of the history is somebody's, too
	b.at("architect/generating", confirm(true))
	b.at("po/refining", request.Request{Action: workflow.ActionReopen, Stage: "po"})
	b.acting = workflow.Person{} // an older program
	b.at("po/cancelled", request.Request{Action: workflow.ActionCancel})

	s := b.stored()
	var got []string
	for _, e := range s.History {
		line := string(e.Event) + " " + e.Subject
		if e.Grant != nil {
			line += " " + e.Grant.Subject + " " + e.Grant.Name
		}
		got = append(got, line)
	}
	want := "started ann\nscored_ready ann\npolicy_changed bob\nconfirmed bob bob Bob <bob@example.org>\nreopened bob bob Bob <bob@example.org>\ncancelled   "
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if who, actor := s.History[3].Who(), s.History[3].Actor(); who != "Bob (bob)" || actor != "Bob (bob), test" || s.Last().Actor() != "test" {
		t.Errorf("%q, %q, %q", who, actor, s.Last().Actor())
	}
	data, err := store.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	var plain struct{ History []map[string]any }
	if err := json.Unmarshal(data, &plain); err != nil {
		t.Fatal(err)
	}
	grant, _ := plain.History[3]["grant"].(map[string]any)
	if plain.History[0]["subject"] != "ann" || plain.History[0]["name"] != ann.Name || grant["subject"] != "bob" || grant["name"] != bob.Name {
		t.Errorf("the keys are not flat: %v", plain.History)
	}
	if _, has := plain.History[5]["subject"]; has {
		t.Error("nobody has a subject")
	}
	if v := s.Verify(nil, nil); v.Status == workflow.ChainChanged {
		t.Errorf("%+v", v)
	}
}
