package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

type order struct {
	Item  string   `json:"item" jsonschema:"what is ordered"`
	Count int      `json:"count"`
	Tags  []string `json:"tags,omitempty"`
}

type receipt struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

var buy = sdk.Tool[order, receipt]{
	Name: "buy", Description: "Buy something.",
	Run: func(_ context.Context, o order) (receipt, error) {
		if o.Count > 100 {
			return receipt{}, errors.New("the shop has only 100")
		}
		return receipt{o.Count, "<" + o.Item + ">"}, nil
	},
}

var helper = &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "helper", Name: "Ada"}}

// plainClient returns a client for a script, without a project.
func plainClient(t testing.TB, steps ...fake.Step) (*sdk.Client, *fake.Provider) {
	t.Helper()
	p := fake.New(steps...)
	c, err := sdk.New(sdk.Options{Provider: p, Prices: fake.Prices()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, p
}

// useOwn has a model use a tool once, and returns the result that it read.
func useOwn(t *testing.T, tool sdk.AnyTool, name, input string) provider.Block {
	t.Helper()
	c, p := plainClient(t, fake.Step{Blocks: []provider.Block{{Type: provider.ToolUse, Name: name, Input: input}}, Stop: provider.UsesTools}, fake.Text("Done."))
	s, err := c.StartAgent(t.Context(), "", "go", sdk.SessionOptions{Agent: helper, Tools: []sdk.AnyTool{tool}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(newContext(t)); err != nil {
		t.Fatal(err)
	}
	last := p.Requests()[1].Messages
	return last[len(last)-1].Blocks[0]
}

// TestOwnTool: what the model sends is checked before the function is called, and the model reads the
// result, or the error.
func TestOwnTool(t *testing.T) {
	for _, c := range []struct {
		input, want string
		fails       bool
	}{
		{`{"item":"box","count":3}`, `{"number":3,"text":"<box>"}`, false},
		{`{"item":"box","count":3,"tags":["a"]}`, `{"number":3,"text":"<box>"}`, false},
		{`{"item":"box","count":101}`, "the shop has only 100", true},
		{`{"item":"box"}`, "count", true},
		{`{"item":"box","count":"3"}`, "integer", true},
		{`{"item":"box","count":3.5}`, "integer", true},
		{`{"item":"box","count":3,"colour":"red"}`, "colour", true},
		{`{"item":"box","count":3,"tags":[1]}`, "string", true},
		{`{"Item":"box","count":3}`, "Item", true},
		{`{"item":null,"count":3}`, "string", true},
		{`{"item":"b\u0000ox","count":1e400}`, "1e400", true},
		{`{"item":"box","cou`, "not a JSON object", true},
		{`["box",3]`, "not a JSON object", true},
		{`null`, "item", true},
		{`"{}"`, "not a JSON object", true},
		{"{\"item\":\"\xff\",\"count\":1}", "not a JSON object", true},
		{``, "item", true},
	} {
		if got := useOwn(t, buy, "buy", c.input); got.IsError != c.fails || !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: %t %q, want %t and %q", c.input, got.IsError, got.Text, c.fails, c.want)
		}
	}
}

// TestOwnToolMisbehaves: whatever a function does, the model reads a bounded result in valid UTF-8, and
// the session goes on.
func TestOwnToolMisbehaves(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	tool := func(run func(ctx context.Context) (string, error)) sdk.AnyTool {
		return sdk.Tool[struct{}, string]{Name: "odd", Timeout: 20 * time.Millisecond,
			Run: func(ctx context.Context, _ struct{}) (string, error) { return run(ctx) }}
	}
	patient := sdk.Tool[struct{}, string]{Name: "odd", Run: func(context.Context, struct{}) (string, error) { return strings.Repeat("é", 50<<20), nil }}
	for name, c := range map[string]struct {
		tool  sdk.AnyTool
		want  string
		fails bool
	}{
		"panics":          {tool(func(context.Context) (string, error) { panic("boom") }), "boom", true},
		"ends itself":     {tool(func(context.Context) (string, error) { runtime.Goexit(); return "", nil }), "without a result", true},
		"hangs":           {tool(func(context.Context) (string, error) { <-hang; return "", nil }), "took longer than 20ms", true},
		"hears its end":   {tool(func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }), "took longer than 20ms", true},
		"returns 100 MB":  {patient, "the rest is left out", false},
		"returns no text": {tool(func(context.Context) (string, error) { return "a\xffb", nil }), "a\uFFFDb", false},
		"fails at length": {tool(func(context.Context) (string, error) { return "", errors.New(strings.Repeat("x", 1<<20)) }), "xxx", true},
		"has no JSON": {sdk.Tool[struct{}, func()]{Name: "odd", Run: func(context.Context, struct{}) (func(), error) { return func() {}, nil }},
			"has done its work", true},
	} {
		got := useOwn(t, c.tool, "odd", `{}`)
		if got.IsError != c.fails || !strings.Contains(got.Text, c.want) || len(got.Text) > vfs.MaxResult+600 || !utf8.ValidString(got.Text) {
			t.Errorf("%s: %t, %d bytes, %.200q", name, got.IsError, len(got.Text), got.Text)
		}
	}
}

// TestOwnToolWithoutInput: the schema of a tool without input names its properties, or OpenAI's server
// refuses every request of the session.
func TestOwnToolWithoutInput(t *testing.T) {
	run := func(context.Context, json.RawMessage) (string, error) { return "", nil }
	c, p := plainClient(t, fake.Text("Done."))
	s := startHelper(t, c, sdk.SessionOptions{Tools: []sdk.AnyTool{
		sdk.Tool[struct{}, string]{Name: "a", Run: func(context.Context, struct{}) (string, error) { return "", nil }},
		sdk.RawTool{Name: "b", Run: run}, sdk.RawTool{Name: "c", Run: run, Schema: json.RawMessage(`{"type":"object"}`)}}})
	if _, err := s.Run(newContext(t)); err != nil {
		t.Fatal(err)
	}
	for _, tool := range p.Requests()[0].Tools {
		var form struct{ Properties map[string]any }
		if err := json.Unmarshal(tool.Schema, &form); err != nil || form.Properties == nil {
			t.Errorf("%s: %s", tool.Name, tool.Schema)
		}
	}
}

type chain struct {
	Next *chain `json:"next"`
}

// TestToolsThatAreRefused: a tool that no model could use is an error at the start, which leaves no
// session.
func TestToolsThatAreRefused(t *testing.T) {
	raw := func(name, schema string) sdk.AnyTool {
		return sdk.RawTool{Name: name, Schema: json.RawMessage(schema), Run: func(context.Context, json.RawMessage) (string, error) { return "", nil }}
	}
	run := func(context.Context, struct{}) (string, error) { return "", nil }
	for why, tools := range map[string][]sdk.AnyTool{
		"contains itself":     {sdk.Tool[chain, string]{Name: "a", Run: func(context.Context, chain) (string, error) { return "", nil }}},
		"no struct":           {sdk.Tool[string, string]{Name: "a", Run: func(context.Context, string) (string, error) { return "", nil }}},
		"no function":         {sdk.Tool[struct{}, string]{Name: "a"}},
		"channel":             {sdk.Tool[struct{ C chan int }, string]{Name: "a", Run: func(context.Context, struct{ C chan int }) (string, error) { return "", nil }}},
		"no name":             {sdk.Tool[struct{}, string]{Run: run}},
		"bad name":            {sdk.Tool[struct{}, string]{Name: "a b", Run: run}},
		"long name":           {sdk.Tool[struct{}, string]{Name: strings.Repeat("a", 65), Run: run}},
		"negative timeout":    {sdk.Tool[struct{}, string]{Name: "a", Run: run, Timeout: -1}},
		"twice":               {raw("a", ""), raw("a", "")},
		"like a tool of ours": {raw("read_file", "")},
		"like the question":   {raw("ask_user", "")},
		"like an agent":       {raw("invoke_agent", "")},
		"no JSON":             {raw("a", "{")},
		"no object":           {raw("a", `{"type":"array"}`)},
		"nil":                 {nil},
	} {
		c, _ := client(t, sdk.Options{}) // its agents can call each other
		_, err := c.StartAgent(t.Context(), "pm", "go", sdk.SessionOptions{Tools: tools, NoQuestions: why == "like the question"})
		var refused *sdk.ToolError
		if !errors.As(err, &refused) || refused.Why == "" {
			t.Errorf("%s: %v", why, err)
		}
		if list, err := c.Sessions(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%s: %d sessions, %v", why, len(list), err)
		}
	}
}
