package workflow_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestSchemaFitsTheReader checks that an editor that goes by the schema and the reader know the
// same keys and values.
func TestSchemaFitsTheReader(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var whole object
	if err := json.Unmarshal([]byte(workflow.Schema()), &whole); err != nil {
		t.Fatal(err)
	}
	var stages struct {
		Items object `json:"items"`
	}
	if err := json.Unmarshal(whole.Properties["stages"], &stages); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) []string {
		var out []string
		for i := range reflect.TypeOf(v).NumField() {
			key, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			if key != "" && key != "-" && key != "hash" {
				out = append(out, key)
			}
		}
		slices.Sort(out)
		return out
	}
	names := func(m map[string]json.RawMessage) []string {
		var out []string
		for name := range m {
			out = append(out, name)
		}
		slices.Sort(out)
		return out
	}
	if got, want := names(whole.Properties), keys(workflow.Definition{}); !slices.Equal(got, want) {
		t.Errorf("keys of a definition: got %v, want %v", got, want)
	}
	if got, want := names(stages.Items.Properties), keys(workflow.Stage{}); !slices.Equal(got, want) {
		t.Errorf("keys of a stage: got %v, want %v", got, want)
	}
	var kind struct {
		Enum []workflow.Kind `json:"enum"`
	}
	if err := json.Unmarshal(stages.Items.Properties["kind"], &kind); err != nil || !slices.Equal(kind.Enum, workflow.Kinds()) {
		t.Errorf("kinds: got %v, want %v (%v)", kind.Enum, workflow.Kinds(), err)
	}
}

func TestGraphs(t *testing.T) {
	d, problems := workflow.Read("own", []byte(strings.Replace(own, "role: Security Reviewer", `role: Security "and" <more>`, 1)))
	if problems != nil {
		t.Fatal(problems)
	}
	for _, want := range []string{
		"start([start]) --> s_po", "s_po -->|score 90, confirmed| s_dev", "s_dev --> s_security", "s_security -.->|fail| s_dev", "s_security -->|pass| done([done])",
		"Security #quot;and#quot; #lt;more#gt;",
	} {
		if !strings.Contains(d.Graph(), want) {
			t.Errorf("no %q in\n%s", want, d.Graph())
		}
	}
	s := sessionAt(d, "dev", workflow.Refining)
	s.Record("po").Status, s.Record("po").Iteration = workflow.Done, 2
	s.Record("security").Iteration, s.Record("security").Verdict = 1, workflow.PassWithRisk
	s.History = nil
	for _, e := range []struct {
		from, to string
		event    workflow.Event
	}{
		{"", "po/generating", workflow.EventStarted}, {"po/generating", "po/refining", workflow.EventScoredBelow}, {"po/awaiting_confirmation", "dev/generating", workflow.EventConfirmed},
		{"dev/generating", "security/generating", workflow.EventDelivered}, {"security/awaiting_approval", "dev/refining", workflow.EventSentBack},
		{"dev/refining", "security/generating", workflow.EventDelivered}, {"security/awaiting_approval", "dev/refining", workflow.EventSentBack},
	} {
		s.History = append(s.History, workflow.Transition{From: e.from, To: e.to, Event: e.event})
	}
	s.Workflow = d
	want := `flowchart LR
    s_po["Product Owner ✓<br/>2 rounds"]
    s_dev["Developer ●<br/>in progress"]
    s_security["Security #quot;and#quot; #lt;more#gt;<br/>1 round, pass with risk"]
    s_po -->|confirmed| s_dev
    s_dev -->|delivered 2×| s_security
    s_security -.->|sent back 2×| s_dev
    classDef current stroke-width:3px
    class s_dev current
`
	if got := s.Graph(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
