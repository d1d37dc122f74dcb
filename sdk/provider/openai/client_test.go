package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/openai"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

var hello = provider.Request{MaxTokens: 10, Messages: []provider.Message{
	{Role: provider.User, Blocks: []provider.Block{provider.TextBlock("hello")}},
	{Role: provider.Assistant, Blocks: []provider.Block{{Type: provider.ToolUse, ID: "used", Name: "f", Input: "{}"}}},
	{Role: provider.User, Blocks: []provider.Block{provider.Result("used", "ok", false)}},
}}

// send sends a request to a server that answers with a text.
func send(t *testing.T, kind, text string) (*provider.Response, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}))
	defer server.Close()
	none := 0
	c, err := openai.New(openai.Options{Model: "m", BaseURL: server.URL, MaxRetries: &none})
	if err != nil {
		t.Fatal(err)
	}
	return c.Send(t.Context(), hello, nil)
}

// chunks writes the deltas of a stream, and its end.
func chunks(end string, deltas ...string) string {
	text := ""
	for _, d := range deltas {
		text += `data: {"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}],"usage":null}` + "\n\n"
	}
	return text + end
}

const (
	finish = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done   = "data: [DONE]\n\n"
)

// TestAnswersOfServers: forms that were seen, or that the API allows.
func TestAnswersOfServers(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  string // text, then each use as name(input)
		stop  provider.Stop
		usage provider.Usage
	}{
		"null content":           {text: chunks(finish+done, `{"role":"assistant","content":null}`, `{"content":"hi"}`), want: "hi", stop: provider.EndTurn},
		"comments":               {text: chunks(": keep-alive\n\n"+finish+": bye\n\n"+done, `{"content":"hi"}`), want: "hi", stop: provider.EndTurn},
		"only done":              {text: chunks(done, `{"content":"hi"}`), want: "hi", stop: provider.EndTurn},
		"neither, then an error": {text: chunks(finish+"data: {\"error\":\"late\"}\n\n", `{"content":"hi"}`), want: "hi", stop: provider.EndTurn},
		"usage beside choices":   {text: `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\n", want: "hi", stop: provider.EndTurn, usage: provider.Usage{Input: 5, CacheRead: 4, Output: 2}},
		"details are null":       {text: chunks(finish+`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":null}}`+"\n\n", `{"content":"hi"}`), want: "hi", stop: provider.EndTurn, usage: provider.Usage{Input: 9, Output: 2}},
		"refusal":                {text: chunks(finish+done, `{"refusal":"I can"}`, `{"refusal":"not"}`), want: "I cannot", stop: provider.Refusal},
		"only thoughts":          {text: chunks(finish+done, `{"reasoning_content":"Hm."}`, `{"reasoning":"Hm."}`), want: "", stop: provider.EndTurn},
		"index only":             {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`, `{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`), want: ` f({"x":1}) f({})`, stop: provider.UsesTools},
		"name and id repeated":   {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]}`), want: ` f({})`, stop: provider.UsesTools},
		"name repeated":          {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}}]}`), want: ` f({})`, stop: provider.UsesTools},
		"empty id in the middle": {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `{"tool_calls":[{"index":0,"id":"","function":{"arguments":"}"}}]}`), want: ` f({})`, stop: provider.UsesTools},
		"all in one":             {text: chunks(finish, `{"content":"ok","tool_calls":[{"function":{"name":"f","arguments":{"x":[1]}}},{"function":{"name":"f","arguments":{"x":[2]}}},{"function":{"name":"g","arguments":null}}]}`), want: `ok f({"x":[1]}) f({"x":[2]}) g()`, stop: provider.UsesTools},
		"pieces without either":  {text: chunks(finish, `{"tool_calls":[{"function":{"name":"f","arguments":"{\"x\""}}]}`, `{"tool_calls":[{"function":{"arguments":":1}"}}]}`, `{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`), want: ` f({"x":1}) f({})`, stop: provider.UsesTools},
		"id of the first":        {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `{"tool_calls":[{"index":1,"id":"","function":{"name":"g","arguments":"{}"}}]}`), want: ` f({}) g({})`, stop: provider.UsesTools},
		"another id":             {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}]}`), want: ` f({) f({})`, stop: provider.UsesTools},
		"the same id":            {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `{"tool_calls":[{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), want: ` f({) f({})`, stop: provider.UsesTools},
		"an id of before":        {text: chunks(finish, `{"tool_calls":[{"index":0,"id":"used","function":{"name":"f","arguments":"{}"}}]}`), want: ` f({})`, stop: provider.UsesTools},
		"cut off in a tool":      {text: chunks(`data: {"choices":[{"delta":{},"finish_reason":"length"}]}`+"\n\n", `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]}`), want: ` f({"x)`, stop: provider.MaxTokens},
		"filtered":               {text: chunks(`data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}`+"\n\n", `{"content":"I"}`), want: "I", stop: provider.Refusal},
	} {
		got, err := send(t, "text/event-stream", c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkAnswer(t, name, got, c.want, c.stop)
		if c.usage != (provider.Usage{}) && got.Usage != c.usage || c.usage == (provider.Usage{}) && !got.Usage.Estimated {
			t.Errorf("%s: usage %+v; want %+v", name, got.Usage, c.usage)
		}
	}
}

func checkAnswer(t *testing.T, name string, got *provider.Response, want string, stop provider.Stop) {
	t.Helper()
	said, ids := got.Message.Text(), map[string]bool{"used": true}
	for _, b := range got.Message.Uses() {
		said += " " + b.Name + "(" + b.Input + ")"
		if b.ID == "" || ids[b.ID] {
			t.Errorf("%s: the id %q is empty or not unique", name, b.ID)
		}
		ids[b.ID] = true
	}
	if said != want || got.Stop != stop {
		t.Errorf("%s: %q, %s; want %q, %s", name, said, got.Stop, want, stop)
	}
}

// TestAServerThatDoesNotStream: its answer is read as a whole.
func TestAServerThatDoesNotStream(t *testing.T) {
	got, err := send(t, "application/json", `{"model":"m1","choices":[{"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, "whole", got, "hi f({})", provider.UsesTools)
	if got.Model != "m1" || got.Usage != (provider.Usage{Input: 3, Output: 1}) {
		t.Errorf("answer %+v", got)
	}
}

func TestAnswersThatFail(t *testing.T) {
	for name, c := range map[string]struct{ kind, text, want string }{
		"a web page":      {"text/html", "<html>hello</html>", "(text/html) ended before"},
		"broken JSON":     {"text/event-stream", "data: {\n\n", "malformed"},
		"nothing":         {"text/event-stream", "", "ended before"},
		"text as content": {"text/event-stream", chunks(finish, `{"content":5}`), "malformed"},
		"an error":        {"text/event-stream", `data: {"error":"out of memory"}` + "\n\n", "out of memory"},
		"a whole error":   {"application/json", `{"error":{"message":"no such model"}}`, "no such model"},
	} {
		if got, err := send(t, c.kind, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestNew(t *testing.T) {
	for name, c := range map[string]struct {
		options    openai.Options
		key, base  string
		wantsError string
	}{
		"no model":       {options: openai.Options{APIKey: "k"}, wantsError: "Options.Model"},
		"neither":        {options: openai.Options{Model: "m"}, wantsError: "--base-url"},
		"only a key":     {options: openai.Options{Model: "m"}, key: "k"},
		"only a base":    {options: openai.Options{Model: "m"}, base: "http://127.0.0.1:11434/v1"},
		"key with blank": {options: openai.Options{Model: "m"}, key: "sk secret", wantsError: "variable OPENAI_API_KEY"},
		"no address":     {options: openai.Options{Model: "m", BaseURL: "localhost:11434"}, wantsError: "base URL"},
	} {
		t.Setenv("OPENAI_API_KEY", c.key)
		t.Setenv("OPENAI_BASE_URL", c.base)
		client, err := openai.New(c.options)
		if c.wantsError == "" && err != nil || c.wantsError != "" && (err == nil || !strings.Contains(err.Error(), c.wantsError) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v; want %q", name, err, c.wantsError)
		}
		if err == nil && client.Info() != (provider.Info{Provider: "openai", Model: "m"}) {
			t.Errorf("%s: %+v", name, client.Info())
		}
	}
}

// redirected sends every request to a server of the test.
type redirected struct{ url string }

func (r redirected) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.URL.String() != "https://api.openai.com/v1/chat/completions" {
		return nil, io.ErrUnexpectedEOF
	}
	to, err := http.NewRequestWithContext(q.Context(), q.Method, r.url+"/chat/completions", q.Body)
	if err != nil {
		return nil, err
	}
	to.Header = q.Header
	return http.DefaultTransport.RoundTrip(to)
}

// TestBoundOfAnAnswer: the server of OpenAI refuses the name that all others know.
func TestBoundOfAnAnswer(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	s := sdktest.New(t, sdktest.Text("a"), sdktest.Text("b"))
	own, err := openai.New(openai.Options{Model: "gpt-test", APIKey: "k", HTTPClient: &http.Client{Transport: redirected{s.ChatURL}}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := openai.New(openai.Options{Model: "gpt-test", APIKey: "k", BaseURL: s.ChatURL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"max_completion_tokens", "max_tokens"} {
		if _, err := []*openai.Client{own, other}[i].Send(t.Context(), hello, nil); err != nil {
			t.Fatal(err)
		}
		var form map[string]any
		if err := json.Unmarshal(s.Requests()[i].Body, &form); err != nil {
			t.Fatal(err)
		}
		if form[want] != float64(10) || len(form) != 5 {
			t.Errorf("request %v; want %s and nothing but what is needed", form, want)
		}
	}
}

// TestNoKeyIsSent to a server that wants none.
func TestNoKeyIsSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	c, err := openai.New(openai.Options{Model: "m", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), hello, nil); err == nil || !strings.Contains(err.Error(), "none is set") {
		t.Errorf("refused: %v", err)
	}
	if header.Get("Authorization") != "" {
		t.Error("a credential was sent")
	}
}

// FuzzCalls: the inputs of tools arrive whole, however a server cuts and numbers them.
func FuzzCalls(f *testing.F) {
	f.Add("path", "/a \"b\" {}", 3, 1, true)
	f.Add("x}", "世界\\", 1, 0, true)
	f.Add("", "{\"y\":1}", 2, 2, false)
	f.Fuzz(func(t *testing.T, key, value string, size, numbering int, object bool) {
		var want []string
		var deltas []string
		for i, input := range []map[string]string{{key: value}, {}, {value: key, "n": "1"}} {
			data, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(data))
			for n, rest := 0, []rune(string(data)); len(rest) > 0; n++ {
				part := rest[:min(len(rest), 1+(size&7))]
				rest = rest[len(part):]
				call := map[string]any{"function": map[string]any{"arguments": string(part)}}
				if object {
					call["function"], rest = map[string]any{"arguments": json.RawMessage(data)}, nil
				}
				if n == 0 {
					call["function"].(map[string]any)["name"] = "f"
				}
				switch numbering & 3 {
				case 0: // numbers only
					call["index"] = i
				case 1: // the same number, with ids
					call["index"] = 0
					if n == 0 {
						call["id"] = []string{"a", "b", "c"}[i]
					}
				case 2: // ids only
					if n == 0 {
						call["id"] = []string{"a", "b", "c"}[i]
					}
				}
				delta, err := json.Marshal(map[string]any{"tool_calls": []any{call}})
				if err != nil {
					t.Fatal(err)
				}
				deltas = append(deltas, string(delta))
			}
		}
		got, err := send(t, "text/event-stream", chunks(finish, deltas...))
		if err != nil {
			t.Fatal(err)
		}
		uses := got.Message.Uses()
		if len(uses) != len(want) {
			t.Fatalf("%d uses of %s; want %d", len(uses), deltas, len(want))
		}
		for i, b := range uses {
			if b.Input != want[i] || string(provider.InputObject(b.Input)) != want[i] {
				t.Errorf("input %q; want %q", b.Input, want[i])
			}
		}
	})
}
