package request

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestParse(t *testing.T) {
	q, err := Parse([]byte(`{"action":"submit","stage":"dev","session_id":null,"claude_result":"a","codex_result_path":"b","sprints":[2,1],"cwd":"/p"}`))
	if err != nil || q.Stage != "dev" || q.Cwd != "/p" || !slices.Equal(q.Sprints, []int{2, 1}) || len(q.Results) != 2 ||
		q.Results[0].Text != "a" || q.Results[1].Path != "b" || q.Results[1].Engine != workflow.Codex {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = Parse([]byte(`{"action":"confirm_save","confirmed":false,"feedback":"f"}`)); err != nil || q.Action != workflow.ActionConfirm || *q.Yes {
		t.Errorf("%+v, %v", q, err)
	}
}

// TestResultAsJSON: a report that came as JSON, not as a text, is its JSON. A path is a text.
func TestResultAsJSON(t *testing.T) {
	for raw, want := range map[string]string{
		`{"score": 95, "rows": ["a"]}`: `{"score": 95, "rows": ["a"]}`,
		` [1, "<b>"] `:                 `[1, "<b>"]`,
		`"{\"score\": 95}"`:            `{"score": 95}`,
	} {
		for _, name := range []string{"claude_result", "codex_result"} {
			q, err := Parse([]byte(`{"action": "submit", "` + name + `": ` + raw + `}`))
			if err != nil || len(q.Results) != 1 || q.Results[0].Text != want {
				t.Errorf("%s %s: %+v, %v", name, raw, q.Results, err)
			}
		}
		if _, err := Parse([]byte(`{"action": "submit", "claude_result_path": ` + raw + `}`)); raw[0] != '"' && !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("the path %s: %v", raw, err)
		}
	}
	for _, raw := range []string{"4", "true"} {
		if _, err := Parse([]byte(`{"action": "submit", "claude_result": ` + raw + `}`)); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestNullIsNoDecision(t *testing.T) {
	for _, raw := range []string{`{"action":"confirm","confirmed":null}`, `{"action":"approve","approved":null}`} {
		if _, err := Parse([]byte(raw)); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestTextsOfADecision reads decisions as models write them. An unclear one is refused, so that the person is asked again.
func TestTextsOfADecision(t *testing.T) {
	decided := func(raw string) (yes []bool) {
		for action, argument := range map[string]string{"confirm": "confirmed", "approve": "approved"} {
			q, err := Parse([]byte(`{"action":"` + action + `","` + argument + `":` + raw + `}`))
			switch {
			case err == nil && q.Yes != nil && q.Via == "":
				yes = append(yes, *q.Yes)
			case !fault.Is(err, fault.InvalidArgument) || !strings.Contains(fault.From(err).Hint, "ask them"):
				t.Errorf("%s %s: %+v, %v", action, raw, q, err)
			}
		}
		return yes
	}
	for _, raw := range []string{"true", "1", `"true"`, `"TRUE"`, `"True"`, `"yes"`, `"Y"`, `"on"`, `"1"`, `" true\n"`, `"是"`, `"同意"`, `[true]`, `"\"true\""`} {
		if !slices.Equal(decided(raw), []bool{true, true}) {
			t.Errorf("%s is no yes", raw)
		}
	}
	for _, raw := range []string{"false", "0", `"false"`, `"False"`, `"no"`, `"N"`, `"off"`, `"0"`, `"否"`, `"不同意"`, `[false]`} {
		if !slices.Equal(decided(raw), []bool{false, false}) {
			t.Errorf("%s is no no", raw)
		}
	}
	for _, raw := range []string{
		`""`, `" "`, "null", `"null"`, `"ok"`, `"true!"`, `"true false"`, `"true or false"`, `"not true"`, `"yes, but"`, `"t"`, `"2"`, "2", "-1", "1.5", `"ask your human, then pass true or false"`,
		`"…"`, `"不知道"`, `{}`, `[]`, `[true,false]`, `{"value":true}`,
	} {
		if got := decided(raw); got != nil {
			t.Errorf("%s decides: %v", raw, got)
		}
	}
}

// TestTextsOfValues reads the calls of hosts that send each value as text: one that can mean one thing only is taken,
// and every other is refused with a hint.
func TestTextsOfValues(t *testing.T) {
	q, err := Parse([]byte(`"{\"action\": \"answer\", \"answers\": \"{\\\"q1\\\": \\\"us\\\"}\", \"revision\": \"2\"}"`))
	if err != nil || q.Action != workflow.ActionAnswer || q.Answers["q1"] != "us" || q.Revision == nil || *q.Revision != 2 {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = Parse([]byte(`{"action": "submit", "sprints": "[\"1\", 2]"}`)); err != nil || !slices.Equal(q.Sprints, []int{1, 2}) {
		t.Errorf("%+v, %v", q, err)
	}
	for raw, want := range map[string]string{
		`{"action": "answer", "answers": "q1: us"}`:   "answers must be an object",
		`{"action": "answer", "answers": {"q1": {}}}`: "answers must be an object",
		`{"action": "confirm", "confirmed": "aye"}`:   "confirmed must be true or false, not a text",
		`{"action": "submit", "sprints": "Sprint 1"}`: "sprints must be a list of whole numbers",
		`{"action": "submit", "sprints": ["1.5"]}`:    "sprints must be a list of whole numbers",
		`{"action": "status", "revision": "two"}`:     "revision must be a whole number",
	} {
		if q, err := Parse([]byte(raw)); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) || fault.From(err).Hint == "" {
			t.Errorf("%s: %+v, %v", raw, q, err)
		}
	}
}

// TestNamesOfArguments reads names in other forms, and arguments that are empty because they are left out.
func TestNamesOfArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`{"Action": "Status", "sessionId": "x"}`:                                "status x",
		`{"ACTION": "status", "Session-ID": "x"}`:                               "status x",
		`[{"action": "status", "session_id": ["x"]}]`:                           "status x",
		`["{\"action\": \"status\", \"session_id\": \"x\"}"]`:                   "status x",
		`"\"{\\\"action\\\": \\\"status\\\", \\\"session_id\\\": \\\"x\\\"}\""`: "status x",
		`{"action": "status", "session_id": "x", "wait": "", "revision": ""}`:   "status x",
		`{"action": "status", "session_id": "x", "wait": "", "view": null}`:     "status x",
		`{"action": "status", "session_id": "x", "sessionId": "y"}`:             "unknown",
		`{"action": "status", "sessionIds": "y"}`:                               "unknown",
		`{"action": "confirm", "confirmed": true, "Confirmed": false}`:          "unknown",
	} {
		q, err := Parse([]byte(raw))
		got := string(q.Action) + " " + q.Session
		if err != nil {
			got = "unknown"
		}
		if got != want {
			t.Errorf("%s: %s, %v; want %s", raw, got, err, want)
		}
	}
}

func FuzzTask(f *testing.F) {
	f.Add([]byte(`{"action":"submit","stage":"po","claude_result":"x","sprints":[1]}`))
	f.Add([]byte(`{"action":"answer","answers":{"q1":"a"}}`))
	f.Add([]byte(`"{\"action\":\"answer\",\"answers\":\"{}\",\"revision\":\"4\"}"`))
	f.Add([]byte("{\"action\":\"start\",\"objective\":\"\xff\\ud83d\"}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		q, err := Parse(raw)
		if err != nil && (!fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "") {
			t.Errorf("%q: %v", raw, err)
		}
		if err == nil && q.Action == "" {
			t.Errorf("%q is taken without an action", raw)
		}
	})
}

// TestTaskSchema checks that clients are told of the arguments that are read, and of no others.
func TestTaskSchema(t *testing.T) {
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(TaskSchema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, a := range taskArguments {
		if _, told := schema.Properties[a.Name]; !told {
			t.Errorf("%s is read, and not in the schema", a.Name)
		}
		delete(schema.Properties, a.Name)
	}
	for name := range schema.Properties {
		t.Errorf("%s is in the schema, and not read", name)
	}
}
