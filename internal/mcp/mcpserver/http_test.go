package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// served is a server on HTTP, as a child process.
type served struct {
	t   testing.TB
	url string // of the endpoint
	cmd *exec.Cmd
	// state is the person's folder.
	state string
	ended chan error
}

var addressLine = regexp.MustCompile(`running on (http://\S+/mcp),`)

// serve starts a server on HTTP in a folder.
func serve(t testing.TB, dir string, env []string, args ...string) *served {
	t.Helper()
	s := &served{t: t, state: t.TempDir(), ended: make(chan error, 1)}
	s.cmd = exec.Command(binary, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	s.cmd.Dir = dir
	s.cmd.Env, _ = ownFile(t, append(isolatedEnv(t, "XDG_STATE_HOME="+s.state), env...))
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	var all strings.Builder
	for s.url == "" && lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if m := addressLine.FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
		}
	}
	if s.url == "" {
		t.Fatalf("it does not serve: %s", all.String())
	}
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stderr)
		s.ended <- s.cmd.Wait()
		close(gone)
	}()
	t.Cleanup(func() {
		leave(s.cmd.Process, nil)
		<-gone
	})
	return s
}

// connect returns a client that speaks a protocol; "" is the newest.
func (s *served) connect(protocol string, form client.ElicitationHandler, options ...transport.StreamableHTTPCOption) *client.Client {
	s.t.Helper()
	tr, err := transport.NewStreamableHTTP(s.url, options...)
	if err != nil {
		s.t.Fatal(err)
	}
	more := []client.ClientOption{client.WithProtocolVersion(protocol)}
	if form != nil {
		more = append(more, client.WithElicitationHandler(form))
	}
	c := client.NewClient(tr, more...)
	if err := c.Start(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	var req mcp.InitializeRequest
	req.Params.ClientInfo = mcp.Implementation{Name: "http test", Version: "1"}
	if _, err := c.Initialize(context.Background(), req); err != nil {
		s.t.Fatal(err)
	}
	if protocol != "" && c.ProtocolVersion() != protocol {
		s.t.Fatalf("it speaks %s, want %s", c.ProtocolVersion(), protocol)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// act calls bmad-task.
func act(c *client.Client, args object) (reply object, refused bool, err error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = "bmad-task", args
	res, err := c.CallTool(context.Background(), req)
	if err != nil {
		return nil, false, err
	}
	text, _ := mcp.AsTextContent(res.Content[0])
	return reply, res.IsError, json.Unmarshal([]byte(text.Text), &reply)
}

// send sends a request by hand and returns status and body.
func (s *served) send(method, url, body string, header ...string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(out)
}

const listTools = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`

// TestHTTPKeepsOut lets nobody in who may not call. httpguard.TestWhoMayCall has all kinds of pages.
func TestHTTPKeepsOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("correct-horse-battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := serve(t, dir, nil, "--max-body-bytes", "2000", "--allow-origin", "https://inspector.example", "--metrics")
	closed := serve(t, dir, nil, "--token-file", token, "--metrics")
	roomy := serve(t, dir, nil)
	base := func(s *served) string { return strings.TrimSuffix(s.url, "/mcp") }
	const bearer, right = "Authorization", "Bearer correct-horse-battery"
	for _, c := range []struct {
		name, method, url, body string
		header                  []string
		status                  int
		words                   string
	}{
		{"as clients begin", "POST", open.url, hello, nil, 200, `"protocolVersion"`},
		{"another host's name", "POST", open.url, hello, []string{"Host", "evil.example"}, 403, "is not this machine"},
		{"localhost", "POST", open.url, hello, []string{"Host", "LOCALHOST:1"}, 200, ""},
		{"a page", "POST", open.url, hello, []string{"Origin", "https://evil.example"}, 403, "may not call this server"},
		{"a page of this machine", "POST", open.url, hello, []string{"Origin", "http://localhost:6274"}, 403, "--allow-origin http://localhost:6274"},
		{"a page that may", "POST", open.url, hello, []string{"Origin", "https://inspector.example"}, 200, ""},
		{"too much", "POST", open.url, strings.Repeat(" ", 3000) + hello, nil, 413, "more than 2000 bytes"},
		{"not JSON", "POST", open.url, "{", nil, 404, "begin with initialize"},
		{"a long name", "POST", open.url, strings.Replace(hello, `"raw"`, `"`+strings.Repeat("x", 1900)+`"`, 1), nil, 413, ""},
		{"a page asks before it calls", "OPTIONS", open.url, "", []string{"Origin", "https://inspector.example", "Access-Control-Request-Method", "POST"}, 204, ""},
		{"another page asks", "OPTIONS", open.url, "", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, 403, ""},
		{"a page asks a server with a token", "OPTIONS", closed.url, "", []string{"Origin", "http://localhost:6274", "Access-Control-Request-Method", "POST"}, 403, ""},
		{"another type", "POST", open.url, hello, []string{"Content-Type", "text/plain"}, 400, ""},
		{"an unknown session", "POST", open.url, listTools, []string{"Mcp-Session-Id", "mcp-session-0"}, 404, ""},
		{"no session", "POST", open.url, listTools, nil, 404, ""},
		{"a stream of an unknown session", "GET", open.url, "", []string{"Mcp-Session-Id", "0"}, 404, "begin with initialize"},
		{"the end of an unknown session", "DELETE", open.url, "", []string{"Mcp-Session-Id", "0"}, 404, ""},
		{"elsewhere", "GET", base(open) + "/", "", nil, 404, "MCP is at /mcp"},
		{"alive", "GET", base(open) + "/healthz", "", nil, 200, "ok"},
		{"ready", "GET", base(open) + "/readyz", "", nil, 200, "ready"},
		{"figures", "GET", base(open) + "/metrics", "", nil, 200, ""},
		{"figures for a page", "GET", base(open) + "/metrics", "", []string{"Origin", "https://evil.example"}, 403, ""},

		{"a message that is kept", "POST", roomy.url, strings.Replace(hello, `"raw"`, `"`+strings.Repeat("x", 70<<10)+`"`, 1), nil, 413, "of this kind"},
		{"no token", "POST", closed.url, hello, nil, 401, "the token is missing or wrong"},
		{"wrong token", "POST", closed.url, hello, []string{bearer, right + "x"}, 401, ""},
		{"right token", "POST", closed.url, hello, []string{bearer, right}, 200, ""},
		{"right token, a page", "POST", closed.url, hello, []string{bearer, right, "Origin", "https://evil.example"}, 403, ""},
		{"figures without token", "GET", base(closed) + "/metrics", "", nil, 401, ""},
		{"figures with token", "GET", base(closed) + "/metrics", "", []string{bearer, right}, 200, ""},
		{"alive without token", "GET", base(closed) + "/healthz", "", nil, 200, "ok"},
		{"stream without token", "GET", closed.url, "", nil, 401, ""},
	} {
		s := open
		if status, body := s.send(c.method, c.url, c.body, c.header...); status != c.status || !strings.Contains(body, c.words) {
			t.Errorf("%s: %d, want %d, %q: %.300s", c.name, status, c.status, c.words, body)
		}
	}
}

// TestHTTPStaysInItsRoots names folders that are not served to each door, in both eras, and one that is.
func TestHTTPStaysInItsRoots(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "Private", "src/Other", "src/relay")
	s := serve(t, a.at("src"), allDoors, "--root", a.project, "--root", a.at("src/Other"))
	for modern, within := range map[bool]string{false: a.project, true: a.at("src/Other")} {
		p := (&speaker{s: s, modern: modern}).greet()
		if reply := p.task(object{"action": "start", "objective": "x"}); !strings.Contains(fmt.Sprint(reply["error"]), "not clear which project") {
			t.Errorf("with two roots and no cwd: %v", reply)
		}
		for n, cwd := range []string{a.at("Private"), a.at("src"), a.project + "/..", a.project + "/up", "/"} {
			a.refusesAt(p.ask, someDoors(n), cwd)
		}
		a.leads(p.ask, within)
	}
}

// TestHTTPRunInEveryProtocol takes a run as far as the sprint plan in each revision that
// has this transport.
func TestHTTPRunInEveryProtocol(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := serveInside(t, t.TempDir(), nil)
			c := s.connect(protocol, nil)
			for _, step := range []struct {
				args  object
				place string
			}{
				{object{"action": "start", "objective": "登录服务"}, "po/generating"},
				{object{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"}, "po/awaiting_confirmation"},
				{object{"action": "confirm", "confirmed": true, "revision": 2}, "architect/generating"},
				{object{"action": "submit", "stage": "architect", "codex_result": "# A\nQuality Score: 91/100"}, "architect/awaiting_confirmation"},
				{object{"action": "confirm", "confirmed": true, "revision": 4}, "sm/generating"},
			} {
				reply, refused, err := act(c, step.args)
				if got := fmt.Sprint(reply["stage"], "/", reply["state"]); err != nil || refused || got != step.place {
					t.Fatalf("%v: %v, refused %v, at %s, want %s: %v", step.args["action"], err, refused, got, step.place, reply)
				}
			}
			var get mcp.GetPromptRequest
			get.Params.Name = "bmad-stage-sm"
			if res, err := c.GetPrompt(context.Background(), get); err != nil || !strings.Contains(fmt.Sprint(res.Messages), "deng-lu-fu-wu") {
				t.Errorf("prompt: %v", err)
			}
			if list, err := c.ListResources(context.Background(), mcp.ListResourcesRequest{}); err != nil || len(list.Resources) != 5 {
				t.Errorf("resources: %+v, %v", list, err)
			}
		})
	}
}

// TestThreeClientsOneProject lets two HTTP clients, of both eras, and one on stdio work on
// one project and one session: whoever comes second is told so, and all see the same.
func TestThreeClientsOneProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil)
	old, modern := s.connect("2025-06-18", nil), s.connect("", nil)
	stdio := connect(t, dir, "2025-11-25")

	reply, refused, err := act(old, object{"action": "start", "objective": "Build a clock"})
	if err != nil || refused {
		t.Fatal(reply, err)
	}
	id := reply["session_id"]
	// Each submits the same stage at once: one is taken, and the others are told of it.
	var mu sync.Mutex
	var wg sync.WaitGroup
	won, lost := 0, 0
	note := func(reply object, refused bool, err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil && !refused:
			won++
		case err == nil && reply["code"] == "conflict" && reply["current_state"] == "awaiting_confirmation":
			lost++
		default:
			t.Errorf("%v, %v", reply, err)
		}
	}
	draft := object{"action": "submit", "stage": "po", "session_id": id, "revision": 1, "claude_result": "# P\nQuality Score: 95/100"}
	for _, c := range []*client.Client{old, modern} {
		wg.Go(func() { note(act(c, draft)) })
	}
	wg.Go(func() {
		reply, refused := call(t, stdio, draft)
		note(reply, refused, nil)
	})
	wg.Wait()
	if won != 1 || lost != 2 {
		t.Errorf("%d taken, %d told of the other", won, lost)
	}
	if reply, refused := call(t, stdio, object{"action": "confirm", "confirmed": true, "revision": 2}); refused {
		t.Fatal(reply)
	}
	if reply, refused, err := act(modern, object{"action": "confirm", "confirmed": true, "revision": 2}); err != nil || !refused || reply["code"] != "conflict" {
		t.Errorf("a second decision: %v, %v", reply, err)
	}
	for _, c := range []*client.Client{old, modern} {
		reply, _, err := act(c, object{"action": "status"})
		if err != nil || reply["session_id"] != id || reply["current_stage"] != "architect" || reply["revision"] != 3.0 {
			t.Errorf("%v, %v", reply, err)
		}
	}
}

// slowForm answers a form as a person would.
type slowForm struct{ asked chan string }

func (f slowForm) Elicit(_ context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	f.asked <- req.Params.Message
	time.Sleep(1200 * time.Millisecond)
	out := &mcp.ElicitationResult{}
	out.Action, out.Content = mcp.ElicitationResponseActionAccept, map[string]any{"decision": "approve"}
	return out, nil
}

// TestHTTPForms asks the person by a form, in both eras.
func TestHTTPForms(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := serveInside(t, t.TempDir(), nil)
			form := slowForm{make(chan string, 3)}
			c := s.connect(protocol, form)
			if reply, refused, err := act(c, object{"action": "start", "objective": "Build a clock"}); err != nil || refused {
				t.Fatal(reply, err)
			}
			reply, _, err := act(c, object{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"})
			gate, _ := reply["gate"].(object)
			if err != nil || gate["ask_by_form"] != true {
				t.Fatal(reply, err)
			}
			reply, refused, err := act(c, reply["next_call"].(object))
			if err != nil || refused || reply["current_stage"] != "architect" || len(form.asked) != 1 {
				t.Errorf("%v, %v, asked %d", reply, err, len(form.asked))
			}
			reply, _, err = act(c, object{"action": "status"})
			if text := fmt.Sprint(reply["stages"]); err != nil || !strings.Contains(text, "elicited") {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}

// TestHTTPNotifications loses no notice of a call, and tells of what others do.
func TestHTTPNotifications(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			const command = "echo all good"
			s := serve(t, dir, []string{"BMAD_VERIFY=" + command})
			if err := trust.UserState(filepath.Join(s.state, "bmad-mcp")).Allow(context.Background(), trust.Allowance{Project: dir, Kind: trust.KindVerify, Text: command}); err != nil {
				t.Fatal(err)
			}
			var options []transport.StreamableHTTPCOption
			if protocol != "2026-07-28" {
				options = append(options, transport.WithContinuousListening()) //nolint:staticcheck // as older clients do
			}
			c := s.connect(protocol, nil, options...)
			told := make(chan mcp.JSONRPCNotification, 100)
			c.OnNotification(func(n mcp.JSONRPCNotification) { told <- n })
			const uri = "bmad-task://sessions"
			if protocol == "2026-07-28" {
				go func() {
					_ = c.Listen(context.Background(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}}) // until the client closes
				}()
			} else {
				var req mcp.SubscribeRequest
				req.Params.URI = uri
				if err := c.Subscribe(context.Background(), req); err != nil { //nolint:staticcheck // as older clients do
					t.Fatal(err)
				}
			}
			until := func(method string) mcp.JSONRPCNotification {
				t.Helper()
				for {
					select {
					case n := <-told:
						if n.Method == method {
							return n
						}
					case <-time.After(20 * time.Second):
						t.Fatalf("%s was not told", method)
					}
				}
			}
			if protocol == "2026-07-28" {
				until("notifications/subscriptions/acknowledged")
			}
			terminal(t, dir, "task", "start", "Build a clock")
			if n := until(resourceUpdated); n.Params.AdditionalFields["uri"] != uri {
				t.Errorf("%+v", n)
			}
			for n, args := range toDev() {
				if args["action"] != "submit" {
					args["revision"] = n + 1
				}
				if reply, refused, err := act(c, args); err != nil || refused {
					t.Fatal(reply, err)
				}
			}
			var req mcp.CallToolRequest
			req.Params.Name, req.Params.Arguments = "bmad-task", object{"action": "submit", "stage": "dev", "claude_result": "# D"}
			req.Params.Meta = &mcp.Meta{ProgressToken: "t1"}
			if _, err := c.CallTool(context.Background(), req); err != nil {
				t.Fatal(err)
			}
			if n := until("notifications/progress"); n.Params.AdditionalFields["progressToken"] != "t1" {
				t.Errorf("%+v", n)
			}
		})
	}
}

// TestHTTPShutdown ends a server while a call runs, a stream is open and a form waits: the
// call is answered, and nothing holds the end up.
func TestHTTPShutdown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const command = "echo begun >> begun; sleep 2; echo all good"
	s := serve(t, dir, []string{"BMAD_VERIFY=" + command})
	if err := trust.UserState(filepath.Join(s.state, "bmad-mcp")).Allow(context.Background(), trust.Allowance{Project: dir, Kind: trust.KindVerify, Text: command}); err != nil {
		t.Fatal(err)
	}
	c := s.connect("2025-06-18", nil, transport.WithContinuousListening()) //nolint:staticcheck // as older clients do
	waiting := slowForm{make(chan string)}                                 // nobody takes the question, so it is never answered
	asked := s.connect("2025-06-18", waiting)
	steps := append([]object{{"action": "start", "objective": "Build a clock"}}, toDev()...)
	steps = append(steps,
		object{"action": "start", "objective": "Build another"},
		object{"action": "submit", "stage": "po", "session_id": "build-another", "claude_result": "# P\nQuality Score: 95/100"},
	)
	for _, args := range steps {
		if reply, refused, err := act(c, args); err != nil || refused {
			t.Fatal(reply, err)
		}
	}
	held := make(chan error, 1)
	go func() {
		reply, refused, err := act(asked, object{"action": "confirm", "confirmed": true, "session_id": "build-another"})
		if err == nil && (!refused || reply["code"] != "conflict") {
			err = fmt.Errorf("the form that nobody answered decided: %v", reply)
		}
		held <- err
	}()
	answered := make(chan error, 1)
	go func() {
		reply, refused, err := act(c, object{"action": "submit", "stage": "dev", "session_id": "build-a-clock", "claude_result": "# D"})
		if err == nil && (refused || reply["current_stage"] != "review") {
			err = fmt.Errorf("%v", reply)
		}
		answered <- err
	}()
	for { // until the command runs
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	<-waiting.asked // and the form is open
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Skip(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("what was accepted is not answered: %v", err)
	}
	if err := <-held; err != nil {
		t.Errorf("the call whose form nobody answers: %v", err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it does not end")
	}
}

// TestOneClientsYesIsNotForAnothersDraft has two clients of one server decide on what the
// other has made of it since.
func TestOneClientsYesIsNotForAnothersDraft(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := serveInside(t, t.TempDir(), nil)
			a, b := s.connect(protocol, nil), s.connect(protocol, nil)
			for _, step := range []struct {
				c    *client.Client
				args object
			}{
				{a, object{"action": "start", "objective": "Build a clock"}},
				{a, object{"action": "submit", "stage": "po", "claude_result": "# One\nQuality Score: 95/100"}},
				{b, object{"action": "confirm", "confirmed": false, "feedback": "another", "revision": 2}},
				{b, object{"action": "submit", "stage": "po", "claude_result": "# Two\nQuality Score: 95/100"}},
			} {
				if reply, refused, err := act(step.c, step.args); err != nil || refused {
					t.Fatal(reply, err)
				}
			}
			if reply, refused, err := act(a, object{"action": "confirm", "confirmed": true}); err != nil || !refused {
				t.Errorf("a yes to one draft was taken for another: %v, %v", reply, err)
			}
			if reply, refused, err := act(b, object{"action": "confirm", "confirmed": true, "revision": 4}); err != nil || refused {
				t.Errorf("%v, %v", reply, err)
			}
		})
	}
}

// TestHTTPIdleSessionsEnd has a client begin anew after a pause.
func TestHTTPIdleSessionsEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil, "--idle-timeout", "1s")
	res, err := http.Post(s.url, "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	id := res.Header.Get("Mcp-Session-Id")
	if status, body := s.send("POST", s.url, listTools, "Mcp-Session-Id", id); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		time.Sleep(2500 * time.Millisecond) // longer than the run may be idle: asking is a use of it
		if status, _ := s.send("POST", s.url, listTools, "Mcp-Session-Id", id); status == 404 {
			return
		}
	}
	t.Error("the run does not end")
}

// TestMetrics checks the counts of actions by their outcome.
func TestMetrics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil, "--metrics")
	c := s.connect("", nil)
	for _, args := range []object{
		{"action": "start", "objective": "Build a clock"},
		{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"},
		{"action": "approve", "approved": true, "revision": 2},
		{"action": "no such thing"},
	} {
		if _, _, err := act(c, args); err != nil {
			t.Fatal(err)
		}
	}
	_, body := s.send("GET", strings.TrimSuffix(s.url, "/mcp")+"/metrics", "")
	for _, line := range []string{
		`bmad_actions_total{action="start",outcome="done"} 1`,
		`bmad_actions_total{action="submit",outcome="done"} 1`,
		`bmad_actions_total{action="approve",outcome="gate_pending"} 1`,
		`bmad_actions_total{action="unknown",outcome="invalid_argument"} 1`,
		`bmad_action_seconds_count{action="submit"} 1`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if bytes.Contains([]byte(body), []byte("no such thing")) {
		t.Error("a caller's word made a series")
	}
}
