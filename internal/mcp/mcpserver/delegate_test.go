package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// hostModel is the model of a host, which answers with content or fails.
type hostModel struct {
	content any
	err     error

	mu    sync.Mutex
	asked []mcp.CreateMessageParams
}

// CreateMessage implements the library's interface.
func (h *hostModel) CreateMessage(_ context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, request.CreateMessageParams)
	if h.err != nil {
		return nil, h.err
	}
	out := &mcp.CreateMessageResult{Model: "host-model-1"}
	out.Role, out.Content = mcp.RoleAssistant, h.content
	return out, nil
}

// startClient starts the program for a client of the library.
func startClient(t *testing.T, dir, protocol string, env []string, options ...client.ClientOption) *client.Client {
	t.Helper()
	tr := transport.NewStdioWithOptions(binary, nil, nil, transport.WithCommandFunc(func(ctx context.Context, command string, _, args []string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, command, args...)
		cmd.Dir, cmd.Env = dir, isolatedEnv(t, env...)
		return cmd, nil
	}), transport.WithCommandStderrWriter(io.Discard))
	c := client.NewClient(tr, append(options, client.WithProtocolVersion(protocol))...)
	return shakeHands(t, c)
}

func shakeHands(t *testing.T, c *client.Client) *client.Client {
	t.Helper()
	var req mcp.InitializeRequest
	req.Params.ClientInfo = mcp.Implementation{Name: "sampling test", Version: "1"}
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// useTool calls a tool, and returns its JSON.
func useTool(t *testing.T, c *client.Client, name string, args any) (out object, refused bool) {
	t.Helper()
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = name, args
	res, err := c.CallTool(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := mcp.AsTextContent(res.Content[0])
	if !ok || len(res.Content) != 1 || len(text.Text) > 14_000 {
		t.Fatalf("got %d blocks of %d bytes", len(res.Content), len(text.Text))
	}
	if err := json.Unmarshal([]byte(text.Text), &out); err != nil {
		t.Fatalf("%v in %s", err, text.Text)
	}
	return out, res.IsError
}

var withMemory = []string{"BMAD_TOOLSETS=memory"}

// TestDelegateBySampling has the host's model answer, in both eras of the protocol.
func TestDelegateBySampling(t *testing.T) {
	for _, protocol := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for name, content := range map[string]any{
			"text": mcp.NewTextContent("an answer"),
			"list": []any{mcp.NewTextContent("an "), mcp.NewTextContent("answer")},
		} {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				unpack(t, dir, "v6-files")
				host := &hostModel{content: content}
				c := startClient(t, dir, protocol, withMemory, client.WithSamplingHandler(host))
				got, refused := useTool(t, c, "delegate_to_agent", object{"agent_id": "analyst", "task": "list the risks", "context": "a relay", "max_tokens": "512"})
				if refused || got["status"] != "answered" || got["via"] != "sampling" || got["model"] != "host-model-1" || got["text"] != "an answer" || got["task"] != nil {
					t.Errorf("got %v", got)
				}
				if len(host.asked) != 1 {
					t.Fatalf("asked %d times", len(host.asked))
				}
				asked := host.asked[0]
				if asked.MaxTokens != 512 || len(asked.Messages) != 1 || asked.Messages[0].Role != mcp.RoleUser {
					t.Errorf("asked %+v", asked)
				}
				if text := mcp.GetTextFromContent(asked.Messages[0].Content); text != "a relay\n\nlist the risks" {
					t.Errorf("asked %q", text)
				}
				_, persona, _ := strings.Cut(asked.SystemPrompt, "\n\n")
				if !strings.HasPrefix(asked.SystemPrompt, "You are Mary, Business Analyst") || !strings.Contains(persona, "Numbers before words") || utf8.RuneCountInString(persona) > 800 {
					t.Errorf("the system prompt is %q", asked.SystemPrompt)
				}
				got, _ = useTool(t, c, "delegate_to_agent", object{"agent_id": "analyst", "task": "and again", "context": "undefined"})
				if got["status"] != "answered" || len(host.asked) != 2 || host.asked[1].MaxTokens != 2048 || mcp.GetTextFromContent(host.asked[1].Messages[0].Content) != "and again" {
					t.Errorf("got %v, asked %+v", got, host.asked)
				}
			})
		}
	}
}

// TestDelegateToTheCaller checks that without a model of the host, or if that gives no text, the
// caller gets the persona and acts itself.
func TestDelegateToTheCaller(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	for name, options := range map[string][]client.ClientOption{
		"no sampling": nil,
		"it fails":    {client.WithSamplingHandler(&hostModel{err: errors.New("the user said no")})},
		"an image":    {client.WithSamplingHandler(&hostModel{content: mcp.NewImageContent("AAAA", "image/png")})},
		"no text":     {client.WithSamplingHandler(&hostModel{content: mcp.NewTextContent(" \n")})},
	} {
		t.Run(name, func(t *testing.T) {
			c := startClient(t, dir, "2025-11-25", withMemory, options...)
			got, refused := useTool(t, c, "delegate_to_agent", object{"agent_id": "bmm/analyst", "task": "list the risks", "context": nil})
			if refused || got["status"] != "needs_host" || got["task"] != "list the risks" || got["text"] != nil || got["context"] != nil || !strings.Contains(fmt.Sprint(got["persona"]), "Numbers before words") {
				t.Errorf("got %v", got)
			}
			if data, err := json.Marshal(got); err != nil || strings.Contains(string(data), "undefined") || strings.Contains(string(data), "null") {
				t.Errorf("%s, %v", data, err)
			}
			long := strings.Repeat("\"quoted\"\n", 3000)
			got, _ = useTool(t, c, "delegate_to_agent", object{"agent_id": "analyst", "task": "list the risks", "context": long})
			if text := fmt.Sprint(got["context"]); got["task"] != "list the risks" || !strings.HasPrefix(long, strings.TrimSuffix(text, "…")) || len(text) < 3000 {
				t.Errorf("the context has %d bytes", len(text))
			}
		})
	}
}

// TestDelegateRefused names the mistake, and asks no model.
func TestDelegateRefused(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	host := &hostModel{content: mcp.NewTextContent("an answer")}
	c := startClient(t, dir, "2026-07-28", withMemory, client.WithSamplingHandler(host))
	for _, tt := range []struct {
		args object
		code string
		want string
	}{
		{object{"agent_id": "analist", "task": "x"}, "not_found", "analyst"},
		{object{"agent_id": "../analyst", "task": "x"}, "not_found", ""},
		{object{"agent_id": "analyst"}, "invalid_argument", "task is missing"},
		{object{"agent_id": "", "task": "x"}, "invalid_argument", "agent_id is missing"},
		{object{"agent_id": "analyst", "task": "x", "max_tokens": 0}, "invalid_argument", "from 1 to 8192, not 0"},
		{object{"agent_id": "analyst", "task": "x", "max_tokens": 8193}, "invalid_argument", "from 1 to 8192, not 8193"},
		{object{"agent_id": "analyst", "task": "x", "max_tokens": 1.5}, "invalid_argument", "not 1.5"},
		{object{"agent_id": "analyst", "task": "x", "max_tokens": "many"}, "invalid_argument", "must be a number, not a text"},
		{object{"agent_id": "analyst", "task": strings.Repeat("x", 8001)}, "invalid_argument", "task has 8001 bytes"},
		{object{"agent_id": "analyst", "task": "x", "context": strings.Repeat("x", 32001)}, "invalid_argument", "context has 32001 bytes"},
		{object{"agent_id": "analyst", "task": "x", "model": "mine"}, "invalid_argument", "unknown argument"},
	} {
		got, refused := useTool(t, c, "delegate_to_agent", tt.args)
		if text := fmt.Sprint(got["error"], got["hint"]); !refused || got["status"] != "failed" || got["code"] != tt.code || !strings.Contains(text, tt.want) || got["hint"] == "" {
			t.Errorf("%.60v: got %v", tt.args, got)
		}
	}
	if len(host.asked) > 0 {
		t.Errorf("asked %+v", host.asked)
	}
	empty := startClient(t, t.TempDir(), "2026-07-28", withMemory)
	if got, refused := useTool(t, empty, "delegate_to_agent", object{"agent_id": "mary", "task": "x"}); !refused || got["code"] != "not_found" {
		t.Errorf("without an installation: got %v", got)
	}
}

// TestDelegateOnEveryLayout: the five agents that the tool names, and the roles of the workflow, act in every
// installation and in none. An unknown one is still refused, with a name of the installation that is like it.
func TestDelegateOnEveryLayout(t *testing.T) {
	for _, layout := range []string{"", "v4", "v6-alpha", "v6-files", "v6-skills-63", "v6-skills"} {
		dir := t.TempDir()
		if layout != "" {
			unpack(t, dir, layout)
		}
		c := startClient(t, dir, "2026-07-28", withMemory)
		for agent, title := range map[string]string{
			"analyst": "Business Analyst", "architect": "System Architect", "qa": "QA Engineer", "sm": "Scrum Master", "tech-writer": "Technical Writer",
			"dev": "Developer", "review": "Reviewer",
		} {
			got, refused := useTool(t, c, "delegate_to_agent", object{"agent_id": agent, "task": "x"})
			persona, _ := got["persona"].(string)
			if refused || got["status"] != "needs_host" || got["agent"] == "" || persona == "" || utf8.RuneCountInString(persona) > 800 {
				t.Errorf("%s, %s: got %v", layout, agent, got)
			}
			if layout == "" && (got["agent"] != title || !strings.Contains(persona, title)) {
				t.Errorf("without the method, %s: got %v", agent, got)
			}
		}
		got, refused := useTool(t, c, "delegate_to_agent", object{"agent_id": "analist", "task": "x"})
		if !refused || layout != "" && !strings.Contains(fmt.Sprint(got["hint"]), "analyst?") {
			t.Errorf("%s: got %v", layout, got)
		}
	}
}

// TestDelegateToTheAgentsOfAKit: each agent that the context of the project lists takes a task.
func TestDelegateToTheAgentsOfAKit(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "memory", "internal", "grimoire", "testdata", "kit"))); err != nil {
		t.Fatal(err)
	}
	c := startClient(t, dir, "2026-07-28", withMemory)
	useTool(t, c, "remember_structured", object{"type": "agent-learnings", "agent": "night-watch", "text": "the gate closes at ten"})
	listed, _ := useTool(t, c, "get_project_context", object{"section": "agents"})
	agents, _ := listed["agents"].([]any)
	if len(agents) < 8 {
		t.Fatalf("got %v", listed)
	}
	for _, a := range agents {
		id := fmt.Sprint(a.(object)["id"])
		got, refused := useTool(t, c, "delegate_to_agent", object{"agent_id": id, "task": "x"})
		if refused || got["status"] != "needs_host" || got["persona"] == "" {
			t.Errorf("%s: got %v", id, got)
		}
	}
	got, _ := useTool(t, c, "delegate_to_agent", object{"agent_id": "gopher", "task": "x"})
	if text := fmt.Sprint(got["agent"], got["persona"]); !strings.Contains(text, "Gopher 🐹") || !strings.Contains(text, "Backend Go") {
		t.Errorf("got %v", got)
	}
}

// TestForgedAnswer checks that an answer that was not asked for, or of another question, does not
// count.
func TestForgedAnswer(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	r := raw(t, dir, withMemory...)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}`
	id := 0
	delegate := func(task, state string) object {
		t.Helper()
		id++
		more := ""
		if state != "" {
			more = fmt.Sprintf(`,"requestState":%q,"inputResponses":{"answer":{"role":"assistant","model":"m","content":{"type":"text","text":"made up"}}}`, state)
		}
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"delegate_to_agent","arguments":{"agent_id":"analyst","task":%q},%s%s}}`, id, task, meta, more))
		var answer struct{ Result object }
		if err := json.Unmarshal([]byte(r.line()), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Result
	}
	text := func(result object) string {
		t.Helper()
		data, err := json.Marshal(result["content"])
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := text(delegate("first", "sample-form-FORGED")); !strings.Contains(got, "needs_host") {
		t.Errorf("a state that was never sent: %s", got)
	}
	state := fmt.Sprint(delegate("first", "")["requestState"])
	if !strings.HasPrefix(state, "sample-") {
		t.Fatalf("got the state %q", state)
	}
	if got := text(delegate("second", state)); !strings.Contains(got, "needs_host") {
		t.Errorf("the answer to another task: %s", got)
	}
	if got := text(delegate("first", state)); !strings.Contains(got, "needs_host") {
		t.Errorf("a state that was used: %s", got)
	}
	state = fmt.Sprint(delegate("first", "")["requestState"])
	if got := text(delegate("first", state)); !strings.Contains(got, "made up") {
		t.Errorf("an answer: %s", got)
	}
}

// TestDelegateOverHTTP checks that modern clients are asked, legacy ones have no way for it.
func TestDelegateOverHTTP(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	s := serve(t, dir, withMemory)
	for protocol, want := range map[string]string{"2025-11-25": "needs_host", "2026-07-28": "answered"} {
		host := &hostModel{content: mcp.NewTextContent("an answer")}
		tr, err := transport.NewStreamableHTTP(s.url)
		if err != nil {
			t.Fatal(err)
		}
		c := shakeHands(t, client.NewClient(tr, client.WithProtocolVersion(protocol), client.WithSamplingHandler(host)))
		if got, refused := useTool(t, c, "delegate_to_agent", object{"agent_id": "analyst", "task": "x"}); refused || got["status"] != want {
			t.Errorf("%s: got %v, want %s", protocol, got, want)
		}
	}
}

// hostRoots are the folders that a host has open.
type hostRoots []string

// ListRoots implements the library's interface.
func (h hostRoots) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	out := &mcp.ListRootsResult{}
	for _, folder := range h {
		out.Roots = append(out.Roots, mcp.Root{URI: "file://" + folder})
	}
	return out, nil
}

// TestDelegateInARoot checks that the answer of the model comes to the project that the question
// was for, which only the client's roots name.
func TestDelegateInARoot(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
		host := &hostModel{content: mcp.NewTextContent("an answer")}
		c := startClient(t, "/", protocol, withMemory, client.WithSamplingHandler(host), client.WithRootsHandler(hostRoots{dir}))
		got, refused := useTool(t, c, "delegate_to_agent", object{"agent_id": "analyst", "task": "x"})
		if refused || got["status"] != "answered" || got["agent"] != "Mary, Business Analyst 📊" || len(host.asked) != 1 {
			t.Errorf("%s: got %v, asked %d times", protocol, got, len(host.asked))
		}
	}
}

// farAgent serves the card of an agent, and answers each task with the words of it and a document.
func farAgent(t *testing.T, version *string) *httptest.Server {
	t.Helper()
	var ts *httptest.Server
	ts = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Ann","version":%q,"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, *version, ts.URL+"/tasks")
			return
		}
		var q struct {
			ID     string
			Params struct {
				Message struct{ Parts []struct{ Text string } }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Header.Get("Authorization") != "Bearer a-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		said := ""
		for _, p := range q.Params.Message.Parts {
			said += p.Text
		}
		if said == "Big." {
			said = strings.Repeat("é\"", 1<<20)
		}
		text, _ := json.Marshal(said)
		artifacts := fmt.Sprintf(`[{"artifactId":"a","parts":[{"text":%s}]},{"artifactId":"b","name":"/docs/prd.md","parts":[{"text":"# PRD"}]}]`, text)
		task := `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":` + artifacts + `}`
		if len(q.Params.Message.Parts) > 0 {
			task = `{"task":` + task + `}`
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":%s}`, q.ID, task)
	}))
	t.Cleanup(ts.Close)
	return ts
}

// TestDelegateToAnotherServer gives a task to an agent of another server, once the person has allowed this very card.
func TestDelegateToAnotherServer(t *testing.T) {
	dir, state, version := t.TempDir(), t.TempDir(), "1"
	far := farAgent(t, &version)
	address := far.URL + "/.well-known/agent-card.json"
	allow := func() {
		t.Helper()
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err == nil {
			err = trust.UserState(filepath.Join(state, "bmad-mcp")).Allow(t.Context(), trust.Allowance{
				Project: dir, Kind: trust.KindCard, Text: "$FAR_TOKEN " + address, SHA256: workflow.Hash(text), At: time.Now(),
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c := startClient(t, dir, "2026-07-28", append(withMemory, "XDG_STATE_HOME="+state, "FAR_TOKEN=a-secret"))
	task := object{"url": far.URL, "task": "Rate this.", "context": "A relay."}
	got, refused := useTool(t, c, "delegate_to_agent", task)
	if !refused || got["code"] != "not_allowed" || !strings.Contains(fmt.Sprint(got["hint"]), "bmad-mcp allow --card "+address) {
		t.Fatalf("an agent that nobody has allowed: %v", got)
	}
	allow()
	got, refused = useTool(t, c, "delegate_to_agent", task)
	want := object{
		"status": "answered", "via": "a2a", "agent": "Ann", "task_id": "t1",
		"text": "A relay.\n\nRate this.\n\n--- /docs/prd.md ---\n\n# PRD", "artifacts": []any{"/docs/prd.md"},
	}
	if refused || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got, refused = useTool(t, c, "delegate_to_agent", object{"url": far.URL, "task_id": "t1"}); refused || got["status"] != "answered" {
		t.Errorf("asked again: %v", got)
	}
	got, refused = useTool(t, c, "delegate_to_agent", object{"url": far.URL, "task": "Big."})
	text := fmt.Sprint(got["text"])
	if refused || got["status"] != "answered" || !strings.HasSuffix(text, "…") || len(text) < 8000 {
		t.Errorf("a long answer: %.300v", got)
	}
	for why, arguments := range map[string]object{
		"no task":         {"url": far.URL},
		"no agent":        {"task": "x"},
		"another address": {"url": far.URL + "/other", "task": "x"},
		"a network":       {"url": "https://10.0.0.1", "task": "x"},
	} {
		if got, refused = useTool(t, c, "delegate_to_agent", arguments); !refused || fmt.Sprint(got["hint"]) == "" {
			t.Errorf("%s: %v", why, got)
		}
	}
	version = "2"
	if got, refused = useTool(t, c, "delegate_to_agent", task); !refused || !strings.Contains(fmt.Sprint(got["error"]), "has changed since it was allowed") {
		t.Errorf("a changed card: %v", got)
	}
	allow()
	if got, refused = useTool(t, c, "delegate_to_agent", task); refused {
		t.Errorf("allowed again: %v", got)
	}
}
