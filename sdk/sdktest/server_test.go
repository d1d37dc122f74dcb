package sdktest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

func post(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("X-Api-Key", "k")
	for i := 0; i+1 < len(header) && header[i] != ""; i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

const (
	begin = `{"model":"claude-sonnet-5-5","max_tokens":10,"messages":[{"role":"user","content":"hello"}`
	use   = `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"b","name":"n","input":{}}]}`
	marks = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
)

func TestMessagesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		body, header, value string
		status              int
		want                string
	}{
		"good":                {body: begin + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b","content":[` + marks + `]}]}]}`, status: 200, want: `"stop_reason":"end_turn"`},
		"no key":              {body: begin + `]}`, header: "X-Api-Key", status: 401, want: "authentication_error"},
		"another key":         {body: begin + `]}`, header: "X-Api-Key", value: "z", status: 401, want: "authentication_error"},
		"no version":          {body: begin + `]}`, header: "Anthropic-Version", status: 400, want: "anthropic-version"},
		"not JSON":            {body: `{`, status: 400, want: "invalid_request_error"},
		"no max_tokens":       {body: strings.Replace(begin, `"max_tokens":10,`, "", 1) + `]}`, status: 400, want: "max_tokens"},
		"unknown model":       {body: strings.Replace(begin, "sonnet-5-5", "sonnet-4-20250514", 1) + `]}`, status: 404, want: "not_found_error"},
		"result as text":      {body: begin + use + `,{"role":"user","content":"result: x"}]}`, status: 400, want: "`tool_result`"},
		"one result of two":   {body: begin + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, status: 400, want: "blocks: b"},
		"input as text":       {body: begin + strings.Replace(use, `{}`, `"{}"`, 1) + `]}`, status: 400, want: "dictionary"},
		"system first":        {body: strings.Replace(begin, `"user"`, `"system"`, 1) + `]}`, status: 400, want: "unexpected role"},
		"system later":        {body: begin + `,{"role":"system","content":"x"}]}`, status: 200, want: "end_turn"},
		"five cache points":   {body: begin + `],"system":[` + marks + `,` + marks + `],"tools":[{"name":"n","input_schema":{"type":"object"},"cache_control":{}}],"cache_control":{},"messages":[{"role":"user","content":[` + marks + `]}]}`, status: 400, want: "Found 5"},
		"tool without schema": {body: begin + `],"tools":[{"name":"n","input_schema":{}}]}`, status: 400, want: "input_schema"},
		"name of a tool":      {body: begin + `],"tools":[{"name":"a b","input_schema":{"type":"object"}}]}`, status: 400, want: "tools.0"},
		"blank text":          {body: begin + `,{"role":"assistant","content":"ok"},{"role":"user","content":""}]}`, status: 400, want: "must not be empty"},
	} {
		s := sdktest.New(t, sdktest.Text("hello"))
		s.Key = "k"
		status, text := post(t, s.URL+"/v1/messages", c.body, c.header, c.value)
		if status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s; want %d and %q", name, status, text, c.status, c.want)
		}
		if left, refused := s.Left(), s.Requests()[0].Refused; (left == 0) != (c.status == 200) || (refused == "") != (c.status == 200) {
			t.Errorf("%s: %d steps left, refused for %q", name, left, refused)
		}
	}
}

func TestChatIsChecked(t *testing.T) {
	const calls = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]}`
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"good":             {body: begin + `,` + calls + `,{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"go on"}]}`, status: 200, want: `"finish_reason":"stop"`},
		"no result":        {body: begin + `,` + calls + `,{"role":"user","content":"x"}]}`, status: 400, want: "blocks: a"},
		"broken arguments": {body: begin + `,` + strings.Replace(calls, `"{}"`, `"{"`, 1) + `]}`, status: 400, want: "not a JSON object"},
		"no max_tokens":    {body: strings.Replace(begin, `"max_tokens":10,`, "", 1) + `]}`, status: 400, want: "max_tokens"},
	} {
		s := sdktest.New(t, sdktest.Text("hello"))
		if status, text := post(t, s.ChatURL+"/chat/completions", c.body, "X-Api-Key", ""); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s; want %d and %q", name, status, text, c.status, c.want)
		}
	}
}

// TestOtherRequests: the other requests of real programs.
func TestOtherRequests(t *testing.T) {
	s := sdktest.New(t, sdktest.Call("n", map[string]int{"x": 1}))
	s.Side = func(r sdktest.Request) *sdktest.Step {
		if len(r.Tools) > 0 {
			return nil
		}
		side := sdktest.Text("a title")
		return &side
	}
	if status, text := post(t, s.URL+"/v1/messages/count_tokens", begin+`]}`); status != 200 || !strings.Contains(text, "input_tokens") {
		t.Errorf("count_tokens: %d %s", status, text)
	}
	if status, _ := post(t, s.URL+"/v1/complete", `{}`); status != 404 {
		t.Errorf("unknown path: %d", status)
	}
	for _, path := range []string{"/", "/v1/models"} {
		answer, err := http.Get(s.URL + path)
		if err != nil || answer.StatusCode != 200 {
			t.Errorf("%s: %v, %v", path, answer, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
	}
	if _, text := post(t, s.URL+"/v1/messages", begin+`]}`); !strings.Contains(text, "a title") || s.Left() != 1 {
		t.Errorf("a request beside the script: %s, %d steps left", text, s.Left())
	}
	_, text := post(t, s.URL+"/v1/messages", begin+`],"tools":[{"name":"n","input_schema":{"type":"object"}}]}`)
	var answer struct {
		Content []struct{ Input struct{ X int } }
		Usage   struct {
			Input int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Content) != 1 || answer.Content[0].Input.X != 1 || answer.Usage.Input != 100 {
		t.Errorf("whole answer: %s, %v", text, err)
	}
	if status, text := post(t, s.URL+"/v1/messages", begin+`],"tools":[{"name":"n","input_schema":{"type":"object"}}]}`); status != 400 || !strings.Contains(text, "at its end") {
		t.Errorf("after the last step: %d %s", status, text)
	}
	if got := s.Requests()[0]; got.Header.Get("X-Api-Key") != "" || got.Messages[0].Role != provider.User {
		t.Errorf("recorded: %+v; want no credential", got)
	}
}
