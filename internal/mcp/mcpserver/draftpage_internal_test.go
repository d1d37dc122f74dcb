package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// TestPageOfADraft is named if a dashboard runs: in the reply, in what the person reads, and in
// the form, in the place of a path that hosts cut.
func TestPageOfADraft(t *testing.T) {
	const link = "http://localhost:7777/d/4K2M"
	local, remote := httpguard.Visitor{Address: "127.0.0.1"}, httpguard.Visitor{Address: "192.0.2.1"}
	web := httpguard.Visitor{Address: "::1", Page: true, Origin: "http://localhost:3000"}
	for name, tt := range map[string]struct {
		objective, policy, link string
		visitor                 *httpguard.Visitor
		forms                   bool
		message, form           string // the link in each; "" for none
	}{
		"the person's word":       {"Build a clock", "auto", link, nil, false, "- or decide on its page: " + link, ""},
		"only their own act":      {"Build a clock", "strict", link, nil, false, "open " + link + ", or type `bmad-mcp decide ", ""},
		"only their own act, zh":  {"构建一个时钟服务给团队", "strict", link, nil, false, "打开 " + link + "，或在终端输入 `bmad-mcp decide ", ""},
		"a form":                  {"Build a clock", "auto", link, nil, true, "", "\nRead it: " + link + "\n"},
		"a form, zh":              {"构建一个时钟服务给团队", "auto", link, nil, true, "", "\n查看文档：" + link + "\n"},
		"a link that a host cuts": {"Build a clock", "auto", link + strings.Repeat("x", 60), nil, true, "", "\nDraft: .bmad-task/work/"},
		"no dashboard":            {"Build a clock", "strict", "", nil, false, "", ""},
		"no dashboard, a form":    {"Build a clock", "auto", "", nil, true, "", "\nDraft: .bmad-task/work/"},
		"over HTTP":               {"Build a clock", "auto", link, &local, false, "- or decide on its page: " + link, ""},
		"from another machine":    {"Build a clock", "auto", link, &remote, false, "", ""},
		"from a web page":         {"Build a clock", "auto", link, &web, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var asked []string
			e := engine.New(engine.Options{Now: time.Now, Names: engine.Names{Confirm: ConfirmTool, Program: "bmad-mcp"}, Projects: project.New(project.Options{
				OpenDir: durable.OpenDir, Backend: storetest.At, Settings: config.Source{Environ: []string{"BMAD_GATE=" + tt.policy}},
			})})
			s := New(e, Options{Version: "test", Page: func(cwd, task, stage string) string {
				asked = append(asked, strings.Join([]string{cwd, task, stage}, " "))
				return tt.link
			}})
			defer s.endWaiting()
			ctx := t.Context()
			if tt.visitor != nil {
				ctx = httpguard.WithVisitor(ctx, *tt.visitor)
			}
			call := func(args map[string]any) (reply map[string]any, form string) {
				return callAs(ctx, t, s, tt.forms, dir, args)
			}
			call(map[string]any{"action": "start", "objective": tt.objective, "task_name": "clock"})
			if len(asked) > 0 {
				t.Errorf("a page is looked for where nothing waits: %q", asked)
			}
			submitted, _ := call(map[string]any{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"})
			linked := strings.Contains(fmt.Sprint(submitted["user_message"]), tt.link) && tt.link != ""
			if message := fmt.Sprint(submitted["user_message"]); linked != (tt.message != "") || !strings.Contains(message, tt.message) {
				t.Errorf("the person reads: %s", message)
			}
			status, _ := call(map[string]any{"action": "status"})
			page, has := status["gate"].(map[string]any)["page"]
			if named := tt.visitor == nil || *tt.visitor == local; has != (named && tt.link != "") || has && page != tt.link {
				t.Errorf("gate.page is %v, %v", page, has)
			}
			if tt.forms {
				if _, form := call(map[string]any{"action": "confirm"}); !strings.Contains(form, tt.form) {
					t.Errorf("the form: %s", form)
				}
			}
			if i := slices.IndexFunc(asked, func(what string) bool { return what != dir+" clock po" }); i >= 0 {
				t.Errorf("the page of %q", asked[i])
			}
		})
	}
}

// TestDocumentIsPrintedWithoutForms: who may have nothing but the chat to read in gets the whole document there before
// they decide. A host with forms has ways of its own to show it.
func TestDocumentIsPrintedWithoutForms(t *testing.T) {
	for _, c := range []struct {
		forms           bool
		objective, text string
	}{
		{false, "Build a clock", "print all of `.bmad-task/work/clock/%s.md` in the chat"},
		{false, "构建一个时钟服务给团队", "把 `.bmad-task/work/clock/%s.md` 的全文写在对话里"},
		{true, "Build a clock", ""},
	} {
		for _, replies := range []string{"full", "lean"} {
			for _, policy := range []string{"auto", "strict"} {
				dir := t.TempDir()
				e := engine.New(engine.Options{Now: time.Now, Names: engine.Names{Confirm: ConfirmTool, Program: "bmad-mcp"}, Projects: project.New(project.Options{
					OpenDir: durable.OpenDir, Backend: storetest.At,
					Settings: config.Source{Environ: []string{"BMAD_REPLIES=" + replies, "BMAD_GATE=" + policy}},
				})})
				s := New(e, Options{Version: "test"})
				defer s.endWaiting()
				check := func(reply map[string]any, stage string) {
					t.Helper()
					want := ""
					if stage != "" && c.text != "" {
						want = fmt.Sprintf(c.text, stage)
					}
					if got, says := reply["show_first"].(string); says != (want != "") || !strings.Contains(got, want) {
						t.Errorf("forms %v, %s, %s, at %v: %q, want %q", c.forms, replies, policy, reply["state"], got, want)
					}
				}
				call := func(args map[string]any) map[string]any {
					reply, _ := callAs(t.Context(), t, s, c.forms, dir, args)
					return reply
				}
				check(call(map[string]any{"action": "start", "objective": c.objective, "task_name": "clock"}), "")
				check(call(map[string]any{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"}), "po")
				check(call(map[string]any{"action": "resume"}), "po")
				if policy == "auto" && !c.forms {
					check(call(map[string]any{"action": "confirm"}), "")
				}
			}
		}
	}
}

// callAs calls bmad-task as a modern client, and returns the reply, or the text of the form.
func callAs(ctx context.Context, t *testing.T, s *Server, forms bool, dir string, args map[string]any) (reply map[string]any, form string) {
	t.Helper()
	can := map[string]any{}
	if forms {
		can["elicitation"] = map[string]any{}
	}
	args["cwd"] = dir
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": TaskTool, "arguments": args, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": can,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := json.Marshal(s.wire.MCP.HandleMessage(ctx, message))
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Result struct {
			IsError       bool
			Content       []struct{ Text string }
			InputRequests map[string]struct{ Params struct{ Message string } }
		}
	}
	if err := json.Unmarshal(answer, &out); err != nil || out.Result.IsError {
		t.Fatalf("%v: %v: %s", args, err, answer)
	}
	if asked, ok := out.Result.InputRequests[formKey]; ok {
		return nil, asked.Params.Message
	}
	if err := json.Unmarshal([]byte(out.Result.Content[0].Text), &reply); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return reply, ""
}
