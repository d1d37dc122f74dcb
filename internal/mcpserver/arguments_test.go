package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
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
	f.Add([]byte(`"{\"action\":\"answer\",\"answers\":\"{}\",\"revision\":\"4\"}"`))
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

// TestFit reads values that came as text. Those that could mean something else stay as they are.
func TestFit(t *testing.T) {
	of := shapeOf([]byte(`{"type": "object", "properties": {
		"text": {"type": "string"}, "either": {"type": ["string", "object"]}, "n": {"type": "integer"}, "f": {"type": "number"}, "b": {"type": "boolean"},
		"list": {"type": "array", "items": {"type": "integer"}}, "texts": {"type": "array", "items": {"type": "string"}},
		"words": {"type": "object", "additionalProperties": {"type": "string"}}, "scores": {"type": "object", "additionalProperties": {"type": "number"}},
		"open": {"type": "object", "additionalProperties": false}
	}}`))()
	for raw, want := range map[string]string{
		`{"n": "4"}`:                       `{"n":4}`,
		`{"n": "-4"}`:                      `{"n":-4}`,
		`{"n": "4.0"}`:                     `{"n": "4.0"}`,
		`{"n": "4e2"}`:                     `{"n": "4e2"}`,
		`{"n": "+4"}`:                      `{"n": "+4"}`,
		`{"n": "04"}`:                      `{"n": "04"}`,
		`{"n": " 4"}`:                      `{"n": " 4"}`,
		`{"n": ""}`:                        `{"n": ""}`,
		`{"n": "null"}`:                    `{"n": "null"}`,
		`{"n": "true"}`:                    `{"n": "true"}`,
		`{"n": "-"}`:                       `{"n": "-"}`,
		`{"f": "4.5"}`:                     `{"f":4.5}`,
		`{"f": "NaN"}`:                     `{"f": "NaN"}`,
		`{"b": "true"}`:                    `{"b":true}`,
		`{"b": "false"}`:                   `{"b":false}`,
		`{"b": "True"}`:                    `{"b": "True"}`,
		`{"b": "yes"}`:                     `{"b": "yes"}`,
		`{"b": "1"}`:                       `{"b": "1"}`,
		`{"b": 1}`:                         `{"b": 1}`,
		`{"b": "true "}`:                   `{"b": "true "}`,
		`{"list": "[1, 2]"}`:               `{"list":[1,2]}`,
		`{"list": "[\"1\"]"}`:              `{"list":[1]}`,
		`{"list": ["1", 2]}`:               `{"list":[1,2]}`,
		`{"list": "1"}`:                    `{"list": "1"}`,
		`{"list": "1, 2"}`:                 `{"list": "1, 2"}`,
		`{"list": "[1"}`:                   `{"list": "[1"}`,
		`{"texts": ["1", "true"]}`:         `{"texts": ["1", "true"]}`,
		`{"words": "{\"q1\": \"a\"}"}`:     `{"words":{"q1":"a"}}`,
		`{"words": "{\"q1\": \"4\"}"}`:     `{"words":{"q1":"4"}}`,
		`{"words": {"q1": "{\"a\": 1}"}}`:  `{"words": {"q1": "{\"a\": 1}"}}`,
		`{"words": "{\"q1\": 4}"}`:         `{"words":{"q1":4}}`,
		`{"words": "q1"}`:                  `{"words": "q1"}`,
		`{"words": "[]"}`:                  `{"words": "[]"}`,
		`{"words": "{} {}"}`:               `{"words": "{} {}"}`,
		`{"words": "\"{}\""}`:              `{"words": "\"{}\""}`,
		`{"scores": "{\"claude\":\"9\"}"}`: `{"scores":{"claude":9}}`,
		`{"open": "{\"a\": \"1\"}"}`:       `{"open":{"a":"1"}}`,
		`{"text": "{}"}`:                   `{"text": "{}"}`,
		`{"text": 4}`:                      `{"text": 4}`,
		`{"either": "{}"}`:                 `{"either": "{}"}`,
		`{"unknown": "4"}`:                 `{"unknown": "4"}`,
		`"{\"n\": \"4\"}"`:                 `{"n":4}`,
		`"status"`:                         `"status"`,
		`[1]`:                              `[1]`,
		``:                                 ``,
	} {
		if got := string(of.fit([]byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// TestTextsOfADecision: only the words true and false decide, and through no other channel.
func TestTextsOfADecision(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "false": false} {
		for action, argument := range map[string]string{"confirm": "confirmed", "approve": "approved"} {
			q, err := decodeTask([]byte(`{"action":"` + action + `","` + argument + `":"` + text + `"}`))
			given := q.Confirmed
			if action == "approve" {
				given = q.Approved
			}
			if err != nil || given == nil || *given != want || q.Via != "" {
				t.Errorf("%s %s: %+v, %v", action, text, q, err)
			}
		}
	}
	for _, text := range []string{"", "yes", "TRUE", "1", "null", "ok", "true!", "true\n", "是"} {
		if q, err := decodeTask([]byte(`{"action":"approve","approved":` + strconv.Quote(text) + `}`)); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%q decides: %+v", text, q)
		}
	}
}
