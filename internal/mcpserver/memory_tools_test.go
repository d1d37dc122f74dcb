package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestInstructionsWithMemory: they fit, and speak of the tools that are offered.
func TestInstructionsWithMemory(t *testing.T) {
	for toolsets, want := range map[string]struct{ has, lacks string }{
		"task":               {"States: ", "recall_structured"},
		"auto,memory":        {"use bmad-agent and bmad-workflow", "States: "},
		"task,memory":        {"bmad-task leads you", "bmad-agent"},
		"task,method,memory": {"use bmad-agent and bmad-workflow", "States: "},
		"method,memory":      {"Serves the BMAD method", "bmad-task"},
		"memory":             {"recall_structured before decisions", "BMAD"},
	} {
		r := raw(t, t.TempDir(), "BMAD_TOOLSETS="+toolsets)
		r.send(hello)
		var answer struct{ Result struct{ Instructions string } }
		if err := json.Unmarshal([]byte(r.line()), &answer); err != nil {
			t.Fatal(err)
		}
		text := answer.Result.Instructions
		if n := len([]rune(text)); n > mcpserver.TextLimit {
			t.Errorf("%s: %d characters; hosts keep %d", toolsets, n, mcpserver.TextLimit)
		}
		if strings.Contains(toolsets, "memory") != strings.Contains(text, "remember_structured with what later runs need") || !strings.Contains(text, want.has) || strings.Contains(text, want.lacks) {
			t.Errorf("%s: %s", toolsets, text)
		}
	}
}

// listedTools returns the list of tools as the server sends it.
func listedTools(t *testing.T, r *rpc) (tools []json.RawMessage) {
	t.Helper()
	r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
	var answer struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(r.line()), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Result.Tools
}

// TestMemoryDefinitions: a model reads them with every conversation, so they are few bytes, and
// they say which tools only read.
func TestMemoryDefinitions(t *testing.T) {
	reads := map[string]bool{"get_project_context": true, "get_agent_memory": true, "get_workflow_status": true, "list_sessions": true, "get_failure_museum": true, "recall_structured": true,
		"run_completion_contract": false, "spawn_subagent_task": false, "remember_structured": false, "delegate_to_agent": false}
	tools := listedTools(t, greeted(t, t.TempDir(), withMemory...))
	if len(tools) != len(reads) {
		t.Errorf("got %d tools, want %d", len(tools), len(reads))
	}
	size := len("[]") + len(tools) - 1
	for _, definition := range tools {
		size += len(definition)
		var tool struct {
			Name, Description string
			Annotations       map[string]bool
			InputSchema       struct {
				Type       string
				Properties map[string]json.RawMessage
				Required   []string
			}
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(definition, &tool); err != nil || json.Unmarshal(definition, &keys) != nil {
			t.Fatal(err)
		}
		only, known := reads[tool.Name]
		if !known || len(keys) != 4 || tool.Description == "" || tool.InputSchema.Type != "object" || tool.InputSchema.Properties["cwd"] != nil {
			t.Errorf("got %s", definition)
		}
		if hint, given := tool.Annotations["readOnlyHint"]; hint != only || given != only || len(tool.Annotations) > 1 {
			t.Errorf("%s: got the annotations %v", tool.Name, tool.Annotations)
		}
		for _, name := range tool.InputSchema.Required {
			if tool.InputSchema.Properties[name] == nil {
				t.Errorf("%s requires %s, which it does not have", tool.Name, name)
			}
		}
	}
	if t.Logf("%d bytes", size); size >= 4000 {
		t.Errorf("the definitions have %d bytes", size)
	}
	for _, toolsets := range []string{"auto", "task", "method,agents,method-classic"} {
		for _, definition := range listedTools(t, greeted(t, t.TempDir(), "BMAD_TOOLSETS="+toolsets)) {
			for name := range reads {
				if strings.Contains(string(definition), `"name":"`+name+`"`) {
					t.Errorf("%s: lists %s", toolsets, name)
				}
			}
		}
	}
}

// TestContractTool runs the script of a kit by the tool, once the person has allowed it.
func TestContractTool(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	const script = "_bmad/_config/custom/cc-verify.sh"
	text := []byte("echo checking; printf '\\033[32m✅ CC PASS\\033[0m — [go] — today\\n'\n")
	path := filepath.Join(dir, script)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := startClient(t, dir, "2026-07-28", append(withMemory, "XDG_STATE_HOME="+state))
	got, refused := useTool(t, c, "run_completion_contract", object{})
	if !refused || got["code"] != "not_allowed" || !strings.Contains(fmt.Sprint(got["hint"]), "bmad-mcp allow") {
		t.Fatalf("got %v", got)
	}
	a := trust.Allowance{Project: dir, Kind: trust.KindContract, Text: script, SHA256: workflow.Hash(text), At: time.Now()}
	if err := trust.UserState(filepath.Join(state, "bmad-mcp")).Allow(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	got, refused = useTool(t, c, "run_completion_contract", object{"stack": "go", "working_dir": "."})
	delete(got, "duration_ms")
	if want := (object{"status": "PASS", "command": "bash " + script, "stack": "go", "output": "checking\n✅ CC PASS — [go] — today", "exit_code": 0.0}); refused || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestMemoryOverHTTP: a server of several projects lists cwd, takes it only in the folders that it
// serves, and puts no notes where several projects lie.
func TestMemoryOverHTTP(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"one/.git", "two/.git"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, root, withMemory, "--root", root)
	tr, err := transport.NewStreamableHTTP(s.url)
	if err != nil {
		t.Fatal(err)
	}
	c := shakeHands(t, client.NewClient(tr))
	list, err := c.ListTools(context.Background(), mcp.ListToolsRequest{})
	if err != nil || len(list.Tools) != 10 {
		t.Fatalf("got %d tools, %v", len(list.Tools), err)
	}
	for _, tool := range list.Tools {
		if !strings.Contains(fmt.Sprint(tool.InputSchema.Properties["cwd"]), root) {
			t.Errorf("%s: cwd is %v", tool.Name, tool.InputSchema.Properties["cwd"])
		}
	}
	note := func(cwd string) object {
		args := object{"type": "decisions", "agent": "dev", "text": "sessions live in one file each"}
		if cwd != "" {
			args["cwd"] = cwd
		}
		return args
	}
	for _, cwd := range []string{"", root, t.TempDir(), filepath.Join(root, "..")} {
		if got, refused := useTool(t, c, "remember_structured", note(cwd)); !refused || got["code"] != "invalid_argument" && got["code"] != "not_allowed" {
			t.Errorf("%q: got %v", cwd, got)
		}
	}
	if got, refused := useTool(t, c, "remember_structured", note(filepath.Join(root, "one"))); refused || got["status"] != "created" {
		t.Errorf("got %v", got)
	}
	for name, want := range map[string]float64{"one": 1, "two": 0} {
		got, refused := useTool(t, c, "recall_structured", object{"query": "where do sessions live?", "cwd": filepath.Join(root, name)})
		if refused || got["searched"] != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
