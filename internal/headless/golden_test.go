package headless_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestContracts keeps the JSON of events, of results, of plans, and of the state, which other
// programs read.
func TestContracts(t *testing.T) {
	acts := wholeRun()
	acts["po"] = []act{{text: asking}, {err: &hostcli.Failure{Engine: "claude", Why: "API Error: overloaded"}}, {text: scoredDocument(95)}}
	acts["review"] = []act{{text: failed}}
	b := newBench(t, acts)
	b.options.Answers = map[string]string{"q1": "me", "q2": "a laptop", "q7": "?"}
	b.options.Flags.Budget, b.options.Flags.Model = cost(14), model
	b.options.Look = (&repository{[]*headless.Tree{{Head: "abc", Changed: []string{"?? notes.txt"}}}}).Look
	plan, err := headless.New(b.options).Plan(ctx, "Build a to-do list")
	if err != nil {
		t.Fatal(err)
	}
	out := b.start("Build a to-do list")
	b.at(out, headless.Person, "review/awaiting_approval")
	out.Session = nil // which has its own tests
	var events strings.Builder
	for _, e := range b.events {
		fmt.Fprintln(&events, asJSON(t, e, ""))
	}
	for name, text := range map[string]string{
		"events.jsonl": events.String(), "result.json": asJSON(t, out, "  "), "plan.json": asJSON(t, plan, "  "), "run.json": b.read("run.json"),
	} {
		golden.Check(t, filepath.Join("testdata", name), text)
	}
	if kept := b.read("events.jsonl"); kept != events.String() {
		t.Errorf("the file of events has\n%s\nwant\n%s", kept, events.String())
	}
}

func asJSON(t *testing.T, v any, indent string) string {
	t.Helper()
	data, err := workflow.Marshal(v)
	if indent != "" {
		var out bytes.Buffer
		err = errors.Join(err, json.Indent(&out, data, "", indent))
		data = out.Bytes()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
