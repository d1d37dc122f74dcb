package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
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

// TestSchemasHaveEveryArgument keeps what clients are told the same as what is read, for every
// tool.
func TestSchemasHaveEveryArgument(t *testing.T) {
	for _, c := range []struct {
		tool   string
		schema []byte
		names  []string
	}{
		{TaskTool, taskSchema, namesOf(taskArguments)},
		{ConfirmTool, confirmSchema, namesOf(confirmArguments.table)},
		{ResourcesTool, resourcesSchema, namesOf(resourcesArguments.table)},
		{WorkflowTool, workflowSchema, namesOf(workflowArguments.table)},
		{AgentTool, agentSchema, namesOf(agentArguments.table)},
	} {
		var schema struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(c.schema, &schema); err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(maps.Keys(schema.Properties))
		slices.Sort(c.names)
		if !slices.Equal(c.names, want) {
			t.Errorf("%s reads %q, and its schema has %q", c.tool, c.names, want)
		}
	}
}

func namesOf[T any](table []argument[T]) []string {
	var out []string
	for _, a := range table {
		out = append(out, a.name)
	}
	return out
}

// TestSameMistakeSameWords calls each kind of tool with the same mistakes.
func TestSameMistakeSameWords(t *testing.T) {
	decoders := map[string]func([]byte) error{
		"task":     func(raw []byte) error { _, err := decodeTask(raw); return err },
		"decision": func(raw []byte) error { _, err := decodeConfirm(raw); return err },
		"item": func(raw []byte) error {
			_, err := workflowArguments.decode(raw)
			return err
		},
	}
	for tool, decode := range decoders {
		for raw, want := range map[string]string{
			`[1]`:                 "the arguments are a list, not an object",
			`{"bogus": 1}`:        `unknown argument "bogus"`,
			`{"cwd": 7}`:          "cwd must be a text, not a number",
			`{"cwd": {"a": 1}}`:   "cwd must be a text, not an object with other values",
			"{\"cwd\": \"\xff\"}": "the arguments are not valid UTF-8",
			``:                    " is missing",
			`null`:                " is missing",
			`{"cwd": null}`:       " is missing",
		} {
			err := decode([]byte(raw))
			if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) || fault.From(err).Hint == "" {
				t.Errorf("%s of %s: %v, want %q with a hint", tool, raw, err, want)
			}
		}
	}
}
