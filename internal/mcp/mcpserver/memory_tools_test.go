package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestInstructionsWithMemory checks that the instructions fit, and speak of the tools that are
// offered.
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
		if n := len([]rune(text)); n > textLimit {
			t.Errorf("%s: %d characters; hosts keep %d", toolsets, n, textLimit)
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
	reads := map[string]bool{
		"get_project_context": true, "get_agent_memory": true, "get_workflow_status": true, "list_sessions": true,
		"get_failure_museum": true, "recall_structured": true, "search_codebase": true,
		"run_completion_contract": false, "spawn_subagent_task": false, "remember_structured": false, "delegate_to_agent": false,
		"create_delivery_contract": false,
	}
	tools := listedTools(t, startGreeted(t, t.TempDir(), withMemory...))
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
	if t.Logf("%d bytes", size); size >= 4800 {
		t.Errorf("the definitions have %d bytes", size)
	}
	for _, toolsets := range []string{"auto", "task", "method,agents,method-classic"} {
		for _, definition := range listedTools(t, startGreeted(t, t.TempDir(), "BMAD_TOOLSETS="+toolsets)) {
			for name := range reads {
				if strings.Contains(string(definition), `"name":"`+name+`"`) {
					t.Errorf("%s: lists %s", toolsets, name)
				}
			}
		}
	}
}

// kitScript is the place of a kit's script.
const kitScript = "_bmad/_config/custom/cc-verify.sh"

// withScript gives a project the script of a kit.
func withScript(t *testing.T, dir, text string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts of the kits are for bash")
	}
	path := filepath.Join(dir, kitScript)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// allowScript allows a script as the person does.
func allowScript(t *testing.T, dir, state, text string) {
	t.Helper()
	a := trust.Allowance{Project: dir, Kind: trust.KindContract, Text: kitScript, SHA256: workflow.Hash([]byte(text)), At: time.Now()}
	if err := trust.UserState(filepath.Join(state, "bmad-mcp")).Allow(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// TestContractTool runs the script of a kit by the tool, once the person has allowed it.
func TestContractTool(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	const text = "echo checking; printf '\\033[32m✅ CC PASS\\033[0m — [go] — today\\n'\n"
	withScript(t, dir, text)
	c := startClient(t, dir, "2026-07-28", append(withMemory, "XDG_STATE_HOME="+state))
	got, refused := useTool(t, c, "run_completion_contract", object{})
	if !refused || got["code"] != "not_allowed" || !strings.Contains(fmt.Sprint(got["hint"]), "bmad-mcp allow") {
		t.Fatalf("got %v", got)
	}
	allowScript(t, dir, state, text)
	got, refused = useTool(t, c, "run_completion_contract", object{"stack": "go", "working_dir": "."})
	if took, says := got["duration_ms"].(float64); !says || took < 0 {
		t.Errorf("it took %v", got["duration_ms"])
	}
	delete(got, "duration_ms")
	if want := (object{"status": "PASS", "command": "bash " + kitScript, "stack": "go", "output": "checking\n✅ CC PASS — [go] — today", "exit_code": 0.0}); refused || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	withScript(t, dir, text+"echo more\n")
	if got, refused := useTool(t, c, "run_completion_contract", object{}); !refused || !strings.Contains(fmt.Sprint(got["error"]), "has changed since you allowed it") {
		t.Errorf("got %v", got)
	}
}

// TestContractIsCancelled checks that a call that its client gives up ends the script with its
// children.
func TestContractIsCancelled(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	const text = "sleep 600 & echo $! > new; mv new child; wait"
	withScript(t, dir, text)
	allowScript(t, dir, state, text)
	r := startGreeted(t, dir, append(withMemory, "XDG_STATE_HOME="+state)...)
	r.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_completion_contract","arguments":{}}}`)
	var child []byte
	for len(child) == 0 && t.Context().Err() == nil {
		child, _ = os.ReadFile(filepath.Join(dir, "child"))
		time.Sleep(5 * time.Millisecond)
	}
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	for exec.Command("kill", "-0", strings.TrimSpace(string(child))).Run() == nil && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestMemoryOverHTTP checks that a server of several projects lists cwd, and puts no notes into a
// folder of several projects.
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
	if err != nil || len(list.Tools) != 12 {
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
	for _, cwd := range []string{"", root} {
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

// TestMemoryOfPages checks that a web page gets no question to a host's model.
func TestMemoryOfPages(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	s := serve(t, dir, withMemory, "--allow-origin", inspectorOrigin)
	for _, modern := range []bool{true, false} {
		for name, header := range pages(s) {
			page := (&speaker{s: s, modern: modern, header: header, capabilities: object{"sampling": object{}}}).greet()
			m, _ := page.call("delegate_to_agent", object{"agent_id": "analyst", "task": "x"}, nil)
			if got := replyIn(m); got["status"] != "needs_host" {
				t.Errorf("%s, modern %v: got %v", name, modern, m)
			}
		}
	}
}

// personModel is a model that the person has set up.
type personModel struct{ err error }

// Complete implements mcpserver.Model.
func (m personModel) Complete(_ context.Context, system, message string, tokens int) (text, model string, err error) {
	return fmt.Sprintf("%d tokens for %.13q: %s", tokens, system, message), "own-model", m.err
}

// TestDelegateToOwnModel checks that if the host's model is not to be had, the person's answers.
func TestDelegateToOwnModel(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	for name, tt := range map[string]struct {
		model mcpserver.Model
		want  string
	}{
		"it answers": {personModel{}, `{"status":"answered","via":"model","model":"own-model","text":"64 tokens for \"You are Mary,\": x","agent":"Mary, Business Analyst 📊"}`},
		"it fails":   {personModel{err: errors.New("no credit")}, `{"status":"needs_host",`},
		"none":       {nil, `{"status":"needs_host",`},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine.New(engine.Options{Projects: project.New(project.Options{Backend: storetest.At})})
			s := mcpserver.New(e, mcpserver.Options{
				Places: mcpserver.Places{Project: dir}, Toolsets: []config.Toolset{config.ToolsetMemory}, Model: tt.model,
				Method: method.New(method.Options{Now: time.Now}), Memory: memory.New(memory.Options{Now: time.Now}),
			})
			var out strings.Builder
			const delegate = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delegate_to_agent","arguments":{"agent_id":"analyst","task":"x","max_tokens":64}}}`
			if err := s.ServeStdio(t.Context(), strings.NewReader(hello+"\n"+delegate+"\n"), &out); err != nil {
				t.Fatal(err)
			}
			var text string
			for line := range strings.Lines(out.String()) {
				var answer struct {
					ID     int
					Result mcp.CallToolResult
				}
				if json.Unmarshal([]byte(line), &answer) == nil && answer.ID == 2 && len(answer.Result.Content) == 1 {
					block, _ := mcp.AsTextContent(answer.Result.Content[0])
					text = block.Text
				}
			}
			if !strings.HasPrefix(text, tt.want) {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

// TestNotesAreWatched checks that a subscriber of the notes hears of a new one.
func TestNotesAreWatched(t *testing.T) {
	const uri = "bmad://memory/notes/decisions"
	r := startGreeted(t, t.TempDir(), withMemory...)
	r.request(2, "resources/subscribe", object{"uri": uri})
	for i, text := range []string{"sessions live in files", "notes live in files too"} {
		args := object{"type": "decisions", "agent": "dev", "text": text}
		if got := replyOf(t, r.request(10+i, "tools/call", object{"name": "remember_structured", "arguments": args})); got["status"] != "created" {
			t.Fatalf("got %v", got)
		}
		r.until(resourceUpdated, uri)
	}
	contents := r.request(20, "resources/read", object{"uri": uri}).Result["contents"].([]any)
	if text := fmt.Sprint(contents[0].(object)["text"]); !strings.Contains(text, `"total":2`) {
		t.Errorf("got %s", text)
	}
}
