package mcpserver

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// TestReviewApp checks that clients that show apps are given the page and its document, and others
// see none of it.
func TestReviewApp(t *testing.T) {
	dir := t.TempDir()
	s := New(engine.New(engine.Options{Projects: project.New(project.Options{
		OpenDir: durable.OpenDir, Backend: storetest.At,
	})}), Options{Version: "1"})
	defer s.endWaiting()
	ask := func(apps bool, method string, params map[string]any) (result map[string]any, failure string) {
		t.Helper()
		can := map[string]any{}
		if apps {
			can["extensions"] = map[string]any{appsExtension: map[string]any{"mimeTypes": []string{reviewAppMIME}}}
		}
		params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": can}
		message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := json.Marshal(s.wire.MCP.HandleMessage(context.Background(), message))
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Result map[string]any
			Error  struct{ Message string }
		}
		if err := json.Unmarshal(answer, &out); err != nil {
			t.Fatal(err)
		}
		return out.Result, out.Error.Message
	}
	text := func(result map[string]any) (text, mime string) {
		t.Helper()
		content := result["contents"].([]any)[0].(map[string]any)
		return content["text"].(string), content["mimeType"].(string)
	}
	for _, apps := range []bool{true, false} {
		tools, _ := ask(apps, "tools/list", map[string]any{})
		list, _ := ask(apps, "resources/list", map[string]any{})
		said, _ := json.Marshal([]any{tools, list})
		if n := strings.Count(string(said), reviewAppURI); apps && n != 2 || !apps && n != 0 {
			t.Errorf("with apps %v the lists name the app %d times", apps, n)
		}
	}
	result, failure := ask(true, "resources/read", map[string]any{"uri": reviewAppURI})
	if failure != "" {
		t.Fatal(failure)
	}
	page, mime := text(result)
	if mime != reviewAppMIME || len(page) > 25_000 || strings.Contains(page, "{{") || !strings.Contains(page, "评论已在对话中。") {
		t.Errorf("the page is %s of %d bytes", mime, len(page))
	}
	for _, foreign := range []string{"src=", "href=", "http:", "https:", "fetch(", "tools/call"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page has %q", foreign)
		}
	}

	callAs(t.Context(), t, s, false, dir, map[string]any{"action": "start", "objective": "Build a clock", "task_name": "clock"})
	at := "bmad-task://tasks/clock/artifacts/po.review.json?cwd=" + url.PathEscape(dir)
	if _, failure := ask(true, "resources/read", map[string]any{"uri": at}); !strings.Contains(failure, "has no document yet") {
		t.Errorf("without a document: %q", failure)
	}
	callAs(t.Context(), t, s, false, dir, map[string]any{"action": "submit", "stage": "po", "claude_result": "# Clock\n\nIt <b onclick=x>ticks</b>.\n\nQuality Score: 95/100"})
	result, failure = ask(true, "resources/read", map[string]any{"uri": at})
	if failure != "" {
		t.Fatal(failure)
	}
	document, _ := text(result)
	var got reviewed
	if err := json.Unmarshal([]byte(document), &got); err != nil || got.Round != 1 || got.Task != "clock" || !strings.Contains(got.HTML, "&lt;b onclick=x&gt;") || !strings.Contains(got.HTML, `data-l="1-1"`) || len(got.Hidden) == 0 {
		t.Errorf("the document is %s (%v)", document, err)
	}
	if _, failure := ask(true, "resources/read", map[string]any{"uri": "bmad-task://tasks/clock/artifacts/qa.review.json?cwd=" + url.PathEscape(dir)}); !strings.Contains(failure, "has no document yet") {
		t.Errorf("of a stage to come: %q", failure)
	}
}
