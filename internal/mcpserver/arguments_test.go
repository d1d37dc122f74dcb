package mcpserver

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestDecodeTask(t *testing.T) {
	q, err := decodeTask([]byte(`{"action":"submit","stage":"dev","session_id":null,"claude_result":"a","codex_result_path":"b","sprints":[2,1],"cwd":"/p"}`))
	if err != nil || q.Stage != "dev" || q.Cwd != "/p" || !slices.Equal(q.Sprints, []int{2, 1}) || len(q.Results) != 2 ||
		q.Results[0].Text != "a" || q.Results[1].Path != "b" || q.Results[1].Engine != workflow.Codex {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = decodeTask([]byte(`{"action":"confirm_save","confirmed":false,"feedback":"f"}`)); err != nil || q.Action != workflow.ActionConfirm || *q.Confirmed {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestNullIsNoDecision(t *testing.T) {
	for _, raw := range []string{`{"action":"confirm","confirmed":null}`, `{"action":"approve","approved":null}`} {
		if _, err := decodeTask([]byte(raw)); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestHalfSurrogate(t *testing.T) {
	for raw, want := range map[string]bool{
		`"plain"`:         false,
		`"\ud83d\ude80"`:  false,
		`"\\ud83d"`:       false,
		`"\n\t\"\\"`:      false,
		`"\u00e9"`:        false,
		`"\ud83d"`:        true,
		`"\ud83dx"`:       true,
		`"\ud83d\n"`:      true,
		`"\ude80"`:        true,
		`"\ud83d\ud83d"`:  true,
		`"\ud83d\\ude80"`: true,
		`\ud83d`:          true,
		`"\u`:             false,
	} {
		if got := halfSurrogate([]byte(raw)); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"action":"submit","stage":"po","claude_result":"x","sprints":[1]}`))
	f.Add([]byte(`{"action":"answer","answers":{"q1":"a"}}`))
	f.Add([]byte("{\"action\":\"start\",\"objective\":\"\xff\\ud83d\"}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		q, err := decodeTask(raw)
		if err != nil && (!fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "") {
			t.Errorf("%q: %v", raw, err)
		}
		if err == nil && q.Action == "" {
			t.Errorf("%q is taken without an action", raw)
		}
	})
}

// TestSchemaHasEveryArgument keeps what clients are told the same as what is read.
func TestSchemaHasEveryArgument(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(taskSchema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, a := range taskArguments {
		if schema.Properties[a.name] == nil {
			t.Errorf("the schema has no %q", a.name)
		}
		delete(schema.Properties, a.name)
	}
	if len(schema.Properties) > 0 {
		t.Errorf("the schema has %v, which is not read", schema.Properties)
	}
}
