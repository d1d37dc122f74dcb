package toolserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/toolserver"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// TestMain lets the test binary be a server on its standard streams.
func TestMain(m *testing.M) {
	switch manner := os.Getenv("TOOL_SERVER"); manner {
	case "":
		os.Exit(m.Run())
	case "no key":
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 10_000)+"\nTRACKER_TOKEN is not set")
		os.Exit(1)
	case "good":
		_ = server.ServeStdio(goodServer())
	default:
		badServer(manner)
	}
}

// goodServer has tools that answer in different ways, one of them named like a tool of the SDK.
func goodServer() *server.MCPServer {
	s := server.NewMCPServer("tracker", "1")
	text := func(name string, run func(r mcp.CallToolRequest) (*mcp.CallToolResult, error), options ...mcp.ToolOption) {
		s.AddTool(mcp.NewTool(name, append(options, mcp.WithDescription("The tool "+name+"."))...),
			func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) { return run(r) })
	}
	text("read_file", func(r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("read by the server: " + r.GetString("id", "")), nil
	}, mcp.WithString("id", mcp.Required()), mcp.WithReadOnlyHintAnnotation(true))
	text("find/all issues", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) { return mcp.NewToolResultText("found"), nil })
	text("find_all_issues", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) { return mcp.NewToolResultText("other"), nil })
	text("fail", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("the issue does not exist"), nil
	})
	text("picture", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultImage("here", "AAAA", "image/png"), nil
	})
	text("structure", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]any{"open": 3}}, nil
	})
	text("long", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("é", 1<<20)), nil
	})
	text("huge", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", 20<<20)), nil
	})
	text("die", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) { os.Exit(3); return nil, nil })
	text("lie", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.TextContent{Type: "film"}}}, nil
	})
	text("hang", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) { select {} })
	text("env", func(mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Join(os.Environ(), "\n")), nil
	})
	return s
}

// badServer breaks the protocol at its beginning.
func badServer(manner string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		switch {
		case manner == "silent", manner == "silent later" && m.Method == "tools/call":
			time.Sleep(time.Hour)
		case manner == "chatter":
			fmt.Println("hello, I am not JSON")
			fmt.Println(strings.Repeat("x", 10<<20))
			select {}
		case m.Method == "tools/list" && manner == "endless":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t%s","inputSchema":{"type":"object"}}],"nextCursor":%[1]q}}`+"\n", m.ID, m.ID)
		case m.Method == "tools/list":
			tool := `{"name":"t%d","inputSchema":{"type":"object","properties":{"a":{"description":"` + strings.Repeat("long", 5_000) + `"}}}}`
			tools := make([]string, 30)
			for n := range tools {
				tools[n] = fmt.Sprintf(tool, n)
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`+"\n", m.ID, strings.Join(tools, ","))
		case m.Method != "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", m.ID)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`+"\n", m.ID)
			if manner == "dies" {
				return
			}
		}
	}
}

// connect connects to the test binary as a server.
func connect(t testing.TB, manner string, timeout time.Duration) (*toolserver.Server, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := toolserver.Connect(t.Context(), toolserver.Options{Name: "tracker", Command: []string{self},
		Env: append(toolserver.BasicEnv(), "TOOL_SERVER="+manner), Timeout: timeout})
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

// results has a model use tools of a server, one in each step, and returns the results that it reads.
func results(t testing.TB, s *toolserver.Server, uses ...fake.Step) []provider.Block {
	t.Helper()
	p := fake.New(append(uses, fake.Text("Done."))...)
	c, err := sdk.New(sdk.Options{Provider: p, Prices: fake.Prices()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	session, err := c.StartAgent(t.Context(), "", "go", sdk.SessionOptions{Agent: &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "helper"}}, Tools: s.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out []provider.Block
	for _, r := range p.Requests()[1:] {
		out = append(out, r.Messages[len(r.Messages)-1].Blocks[0])
	}
	return out
}

var calls = []struct {
	tool, input, want string
	fails             bool
}{
	{"tracker_read_file", `{"id":"7"}`, "read by the server: 7", false},
	{"tracker_find_all_issues", `{}`, "found", false},
	{"tracker_fail", `{}`, "the issue does not exist", true},
	{"tracker_picture", `{}`, "here\n[a picture, image/png, is left out]", false},
	{"tracker_structure", `{}`, `{"open":3}`, false},
	{"tracker_long", `{}`, "the rest is left out", false},
}

func check(t *testing.T, s *toolserver.Server) {
	t.Helper()
	var uses []fake.Step
	for _, c := range calls {
		uses = append(uses, fake.Call(c.tool, json.RawMessage(c.input)))
	}
	for n, got := range results(t, s, uses...) {
		if c := calls[n]; got.IsError != c.fails || !strings.Contains(got.Text, c.want) || len(got.Text) > vfs.MaxResult+600 {
			t.Errorf("%s: %t, %d bytes: %.200q", c.tool, got.IsError, len(got.Text), got.Text)
		}
	}
	if len(s.Skipped) != 1 || !strings.Contains(s.Skipped[0], "another has this name") {
		t.Errorf("skipped %q", s.Skipped)
	}
}

func TestProgram(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	s, err := connect(t, "good", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	check(t, s)
	if env := results(t, s, fake.Call("tracker_env", nil))[0].Text; !strings.Contains(env, "PATH=") || strings.Contains(env, "secret") {
		t.Errorf("its environment: %s", env)
	}
}

func TestAddress(t *testing.T) {
	var token string
	handler := server.NewStreamableHTTPServer(goodServer())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("Authorization")
		handler.ServeHTTP(w, r)
	}))
	defer web.Close()
	s, err := toolserver.Connect(t.Context(), toolserver.Options{Name: "tracker", URL: web.URL, Header: map[string]string{"Authorization": "Bearer key"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check(t, s)
	if token != "Bearer key" {
		t.Errorf("the header is %q", token)
	}
	if got := results(t, s, fake.Call("tracker_huge", nil))[0]; !got.IsError || !strings.Contains(got.Text, "too large") {
		t.Errorf("a long answer: %t %.200q", got.IsError, got.Text)
	}
}

// TestServerFailsUnderWay: a server that dies, hangs or sends too much costs its tools, not the session.
func TestServerFailsUnderWay(t *testing.T) {
	for tool, want := range map[string]string{"die": "its program has ended", "hang": "took longer than 200ms", "huge": "more than 8388608 bytes", "lie": "unknown content type"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			timeout := time.Minute
			if tool == "hang" {
				timeout = 200 * time.Millisecond
			}
			s, err := connect(t, "good", timeout)
			if err != nil {
				t.Fatal(err)
			}
			got := results(t, s, fake.Call("tracker_"+tool, nil), fake.Call("tracker_find_all_issues", nil))
			if !got[0].IsError || !strings.Contains(got[0].Text, want) || !strings.Contains(got[0].Text, "as done its work is not known") {
				t.Errorf("%t %.200q, want %q", got[0].IsError, got[0].Text, want)
			}
			if lives := tool == "hang" || tool == "lie"; got[1].IsError == lives {
				t.Errorf("the next call: %t %.200q", got[1].IsError, got[1].Text)
			}
		})
	}
}

// TestSilentServer checks that a server which begins well and then falls silent costs the time of one call.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	s, err := connect(t, "silent later", 4*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	given, giveUp := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, giveUp)
	if text, err := s.Tools()[0].(sdk.RawTool).Run(given, json.RawMessage(`{}`)); err == nil || s.Silent() {
		t.Errorf("a call that its caller gives up counts as silence: %q, %v", text, err)
	}
	got := results(t, s, fake.Call("tracker_t0", nil), fake.Call("tracker_t1", nil), fake.Call("tracker_t2", nil))
	for i, want := range []string{"took longer than 4s", "does not answer now", "does not answer now"} {
		if !got[i].IsError || !strings.Contains(got[i].Text, want) {
			t.Errorf("call %d: %t %.200q; want %q", i+1, got[i].IsError, got[i].Text, want)
		}
	}
	if !s.Silent() {
		t.Error("it is not known to be silent")
	}
}

// TestManyTools: however much a server has to say of its tools, what a model is told of them is bounded, and
// the rest is named.
func TestManyTools(t *testing.T) {
	for manner, want := range map[string]string{"endless": "pages", "wordy": "bytes in all"} {
		s, err := connect(t, manner, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, tool := range s.Tools() {
			size += len(tool.(sdk.RawTool).Schema) + len(tool.(sdk.RawTool).Description)
		}
		if len(s.Tools()) == 0 || size > 256<<10 || !strings.Contains(strings.Join(s.Skipped, "\n"), want) {
			t.Errorf("%s: %d tools of %d bytes; skipped %.300q", manner, len(s.Tools()), size, s.Skipped)
		}
	}
}

// TestServerFailsAtTheStart: the error names the server and what is wrong, in bounded time.
func TestServerFailsAtTheStart(t *testing.T) {
	for manner, want := range map[string]string{"dies": "does not", "chatter": "does not begin", "no key": "TRACKER_TOKEN is not set"} {
		if _, err := connect(t, manner, time.Minute); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"tracker"`) {
			t.Errorf("%s: %v", manner, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	self, _ := os.Executable()
	silent := toolserver.Options{Name: "tracker", Command: []string{self}, Env: append(toolserver.BasicEnv(), "TOOL_SERVER=silent")}
	if _, err := toolserver.Connect(ctx, silent); err == nil {
		t.Error("a silent server is one")
	}
	for why, o := range map[string]toolserver.Options{
		"no name":      {Command: []string{self}},
		"a bad name":   {Name: "a_b", Command: []string{self}},
		"neither":      {Name: "a"},
		"both":         {Name: "a", Command: []string{self}, URL: "http://localhost"},
		"no program":   {Name: "a", Command: []string{"/no/such/program"}},
		"no address":   {Name: "a", URL: "::"},
		"nobody":       {Name: "a", URL: "http://127.0.0.1:1"},
		"not a server": {Name: "a", Command: []string{"true"}},
	} {
		if s, err := toolserver.Connect(t.Context(), o); err == nil {
			s.Close()
			t.Errorf("%s: no error", why)
		}
	}
}

// TestNoProgramIsLeft: Close ends a program that ignores its closed input.
func TestNoProgramIsLeft(t *testing.T) {
	s, err := connect(t, "good", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0)
	for _, tool := range s.Tools() {
		names = append(names, tool.(sdk.RawTool).Name)
	}
	if !slices.Contains(names, "tracker_hang") {
		t.Fatalf("tools %q", names)
	}
	s.Close()
	if got := results(t, s, fake.Call("tracker_find_all_issues", nil))[0]; !got.IsError {
		t.Errorf("after Close: %q", got.Text)
	}
}

// TestCallsAnswerSoon: a call of a tool over the standard streams of a program takes at most 1 ms with the
// server's part: 10 calls take 10 units.
func TestCallsAnswerSoon(t *testing.T) {
	scratch.NeedsTime(t, "it compares durations")
	s, err := connect(t, "good", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	find := s.Tools()[1].(sdk.RawTool)
	scratch.Within(t, "10 calls of a tool of a server", 10, func() {
		for range 10 {
			if text, err := find.Run(t.Context(), json.RawMessage(`{}`)); err != nil {
				t.Fatal(text, err)
			}
		}
	})
}
