package fake_test

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

func TestCheck(t *testing.T) {
	user := func(b ...provider.Block) provider.Message { return provider.Message{Role: provider.User, Blocks: b} }
	model := func(b ...provider.Block) provider.Message {
		return provider.Message{Role: provider.Assistant, Blocks: b}
	}
	text := provider.TextBlock("x")
	use := func(id string) provider.Block {
		return provider.Block{Type: provider.ToolUse, ID: id, Name: "n", Input: "{}"}
	}
	result := func(id string) provider.Block { return provider.Result(id, "", false) }
	for name, c := range map[string]struct {
		m    []provider.Message
		want string // "": no error
	}{
		"text":               {m: []provider.Message{user(text), model(text), user(text)}},
		"parallel":           {m: []provider.Message{user(text), model(text, use("a"), use("b")), user(result("b"), result("a"), text)}},
		"opaque":             {m: []provider.Message{user(text), model(provider.Block{Type: provider.Opaque, Raw: []byte(`{}`)}), user(text)}},
		"none":               {want: "first message"},
		"assistant first":    {m: []provider.Message{model(text), user(text)}, want: "first message"},
		"paused":             {m: []provider.Message{user(text), model(text)}},
		"open use":           {m: []provider.Message{user(text), model(use("a"))}, want: "the last message"},
		"twice the user":     {m: []provider.Message{user(text), user(text)}, want: "alternate"},
		"no content":         {m: []provider.Message{user()}, want: "empty"},
		"blank text":         {m: []provider.Message{user(provider.TextBlock(" \n"))}, want: "must not be empty"},
		"result as text":     {m: []provider.Message{user(text), model(use("a")), user(text)}, want: "without `tool_result` blocks: a"},
		"one of two results": {m: []provider.Message{user(text), model(use("a"), use("b")), user(result("a"))}, want: "without `tool_result` blocks: b"},
		"two results":        {m: []provider.Message{user(text), model(use("a")), user(result("a"), result("a"))}, want: "has a result"},
		"unknown result":     {m: []provider.Message{user(result("z"))}, want: `"z"`},
		"late result":        {m: []provider.Message{user(text), model(use("a")), user(result("a")), model(text), user(result("a"))}, want: `"a"`},
		"text first":         {m: []provider.Message{user(text), model(use("a")), user(text, result("a"))}, want: "before any text"},
		"same id":            {m: []provider.Message{user(text), model(use("a")), user(result("a")), model(use("a")), user(result("a"))}, want: "not unique"},
		"no id":              {m: []provider.Message{user(text), model(use("")), user(result(""))}, want: "not unique"},
		"user's use":         {m: []provider.Message{user(use("a"))}, want: "only the assistant"},
		"assistant's result": {m: []provider.Message{user(text), model(result("a")), user(text)}, want: "only the user"},
	} {
		err := fake.Check(c.m)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}
