package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
)

// TestSchemasHaveEveryArgument keeps what clients are told the same as what is read, for the tools
// that are described here.
func TestSchemasHaveEveryArgument(t *testing.T) {
	type described struct {
		tool   string
		schema []byte
		names  []string
	}
	all := []described{{ConfirmTool, confirmSchema, namesOf(confirmArguments.Table)}}
	for _, d := range append(methodDefinitions(), definitionsIn("classic_tools.json")...) {
		all = append(all, described{d.Name, d.Schema, namesOf(d.methodArguments().Table)})
	}
	for _, c := range all {
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

func namesOf[T any](table []request.Argument[T]) []string {
	var out []string
	for _, a := range table {
		out = append(out, a.Name)
	}
	return out
}

// TestSameMistakeSameWords calls each kind of tool with the same mistakes.
func TestSameMistakeSameWords(t *testing.T) {
	decoders := map[string]func([]byte) error{
		"task":     func(raw []byte) error { _, err := request.Parse(raw); return err },
		"decision": func(raw []byte) error { _, err := decodeConfirm(raw); return err },
		"item": func(raw []byte) error {
			_, err := methodDefinitions()[1].methodArguments().Decode(raw)
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
