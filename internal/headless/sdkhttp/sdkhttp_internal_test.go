package sdkhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

type fakeRequest = provider.Request

// TestConversation: from the first message to the end, as a web application has it.
func TestConversation(t *testing.T) {
	d := serve(t, Options{}, write("/docs/prd.md", "# PRD\n"), ask("Who uses it?"), fake.Text("For shoppers then."), fake.Text("Added."))
	path := d.begin("create-prd")
	s := d.stream(path + "/events")
	q := s.until("question")
	id := text(q[len(q)-1].data["question"].(map[string]any)["id"])
	d.until(path, "waiting")
	if status, reply := d.call("POST", path+"/messages", `{"message":"hurry"}`); status != http.StatusConflict || failureIn(reply)["code"] != "waiting" {
		t.Errorf("a message while the agent waits: %d %v", status, reply)
	}
	if status, reply := d.call("POST", path+"/answers", `{"questionId":"other","answer":"x"}`); status != http.StatusConflict || failureIn(reply)["code"] != "no_question" {
		t.Errorf("an unknown question: %d %v", status, reply)
	}
	view := d.ok("GET", path, "")
	if open := view["questions"].([]any); len(open) != 1 || view["isIdle"] != false {
		t.Errorf("with a question open: %v", view)
	}
	d.ok("POST", path+"/answers", `{"questionId":"`+id+`","answer":"shoppers"}`)
	s.until("idle")
	d.ok("POST", path+"/messages", `{"message":"Add a goal"}`)
	s.until("idle")
	view = d.until(path, "idle")
	turns := view["turns"].([]any)
	if len(turns) != 2 || view["isIdle"] != true || view["agentId"] != "pm" {
		t.Errorf("after two turns: %v", view)
	}
	if turn := turns[0].(map[string]any); turn["userMessage"] != "create-prd" || turn["agentResponse"] != "For shoppers then." || turn["cost"].(float64) <= 0 {
		t.Errorf("the first turn: %v", turn)
	}
	if document := view["documents"].([]any)[0].(map[string]any); document["path"] != "/docs/prd.md" || document["content"] != "# PRD\n" {
		t.Errorf("the document is %v", document)
	}
	out := d.ok("POST", path+"/end", "")
	if out["totalCost"].(float64) <= 0 || len(out["turns"].([]any)) != 2 || len(out["documents"].([]any)) != 1 {
		t.Errorf("the outcome is %v", out)
	}
	if rest := s.until("completed"); rest[len(rest)-1].id == "" {
		t.Error("the last event has no number")
	}
	if e, more := s.next(); more {
		t.Errorf("after the end: %v", e)
	}
	if got := d.request("GET", path+"/events", "", "Last-Event-ID", "1000"); got.StatusCode != http.StatusNoContent {
		t.Errorf("the events of an ended conversation: %d", got.StatusCode)
	}
	if status, reply := d.call("POST", path+"/messages", `{"message":"more"}`); status != http.StatusConflict || failureIn(reply)["code"] != "ended" {
		t.Errorf("a message after the end: %d %v", status, reply)
	}
}

// until waits for a status.
func (d *desk) until(path, status string) map[string]any {
	d.t.Helper()
	for range 4000 {
		view := d.ok("GET", path, "")
		if view["status"] == status {
			return view
		}
		time.Sleep(5 * time.Millisecond)
	}
	d.t.Fatalf("%s never is %s", path, status)
	return nil
}

// TestRefusals: each refusal has its status, code and words, and names the key to change.
func TestRefusals(t *testing.T) {
	dir := folder(t)
	d := serveIn(t, dir, Options{CostLimit: 2 * price.Dollar}, fake.Text("Hello."))
	path := d.begin("hello")
	d.until(path, "idle")
	start := "/api/conversations"
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		code, field        string
	}{
		{"POST", start, `{"agentId":"pm"}`, nil, 400, "invalid_argument", "message"},
		{"POST", start, `{"message":"x"}`, nil, 400, "invalid_argument", "agentId"},
		{"POST", start, `{"agentId":"pm","message":"  "}`, nil, 400, "invalid_argument", "message"},
		{"POST", start, `{"agentId":7,"message":"x"}`, nil, 400, "invalid_argument", "agentId"},
		{"POST", start, `{"agentId":"pm","message":"x","costLimit":"2"}`, nil, 400, "invalid_argument", "costLimit"},
		{"POST", start, `{"agentId":"pm","message":"x","costLimit":-1}`, nil, 400, "invalid_argument", "costLimit"},
		{"POST", start, `{"agentId":"pm","message":"x","costLimit":3}`, nil, 400, "invalid_argument", "costLimit"},
		{"POST", start, `{"agentId":"pm","message":"x","costLimit":1e-12}`, nil, 400, "invalid_argument", "costLimit"},
		{"POST", start, `{"agentId":"pm","message":"x","context":[1]}`, nil, 400, "invalid_argument", "context"},
		{"POST", start, `{"agentId":"pm","message":"x","modell":"x"}`, nil, 400, "invalid_argument", "modell"},
		{"POST", start, `{"agentId":"pm","Message":"x"}`, nil, 400, "invalid_argument", "Message"},
		{"POST", start, `["pm"]`, nil, 400, "invalid_argument", ""},
		{"POST", start, `null`, nil, 400, "invalid_argument", ""},
		{"POST", start, `{"agentId":"pm"} {}`, nil, 400, "invalid_argument", ""},
		{"POST", start, `{"agentId":"pn","message":"x"}`, nil, 404, "agent_not_found", "agentId"},
		{"POST", start, `{"agentId":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "too_large", ""},
		{"POST", start, `agentId=pm`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "not_json", ""},
		{"POST", start, `{"agentId":"pm","message":"x"}`, []string{"Content-Type", "text/plain"}, 415, "not_json", ""},
		{"POST", path + "/messages", `{}`, nil, 400, "invalid_argument", "message"},
		{"POST", path + "/answers", `{"answer":""}`, nil, 400, "invalid_argument", "answer"},
		{"POST", path + "/answers", `{"answer":"x"}`, nil, 409, "no_question", ""},
		{"POST", path + "/end", `{"why":"x"}`, nil, 400, "invalid_argument", "why"},
		{"POST", path + "/end", `[]`, nil, 400, "invalid_argument", ""},
		{"GET", path + "/events?after=x", ``, nil, 400, "invalid_argument", "after"},
		{"GET", path + "/events", ``, []string{"Last-Event-ID", "-1"}, 400, "invalid_argument", "Last-Event-ID"},
		{"GET", start + "/nobody", ``, nil, 404, "not_found", ""},
		{"GET", start + "/nobody/events", ``, nil, 404, "not_found", ""},
		{"GET", start + "/..%2f..%2fetc", ``, nil, 404, "not_found", ""},
		{"POST", start + "/nobody/messages", `{"message":"x"}`, nil, 404, "not_found", ""},
		{"POST", "/api/agents/nobody/help", ``, nil, 404, "agent_not_found", "agentId"},
		{"POST", "/api/agents/pm/create-prd", `{"message":7}`, nil, 400, "invalid_argument", "message"},
		{"GET", "/nothing", ``, nil, 404, "not_found", ""},
		{"PUT", start, `{}`, nil, 405, "method_not_allowed", ""},
		{"DELETE", path, ``, nil, 405, "method_not_allowed", ""},
	} {
		status, reply := d.call(c.method, c.path, c.body, c.headers...)
		f := failureIn(reply)
		if c.body == `{"message":7}` && f["message"] != `"message" has to be a string` {
			t.Errorf("a number for a text: %v", f)
		}
		if status != c.status || f["code"] != c.code || text(f["field"]) != c.field || text(f["message"]) == "" {
			t.Errorf("%s %s %.80s: %d %v; want %d %s %q", c.method, c.path, c.body, status, f, c.status, c.code, c.field)
		}
	}
	if allow := d.request("PUT", start, "").Header.Get("Allow"); allow != "POST" {
		t.Errorf("Allow: %q", allow)
	}
	if ids := saved(t, dir); len(ids) != 1 {
		t.Errorf("after the refusals there are the conversations %q", ids)
	}
}

// saved returns the ids of the saved conversations.
func saved(t *testing.T, dir string) (ids []string) {
	t.Helper()
	states, err := filepath.Glob(filepath.Join(dir, ".bmad-task", "conversations", "*", "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range states {
		ids = append(ids, filepath.Base(filepath.Dir(name)))
	}
	return ids
}

// TestFailedCommands: failures of the model's server arrive with its words, and without keys.
func TestFailedCommands(t *testing.T) {
	secret := "sk-ant-api03-AAAAAAAAAAAA"
	for _, c := range []struct {
		step   fake.Step
		body   string
		status int
		code   string
	}{
		{fake.Fail(&provider.Error{Status: 401, Type: "authentication_error", Message: "invalid key " + secret}), `{}`, 502, "provider"},
		{fake.Fail(&provider.Error{Status: 529, Type: "overloaded_error", Message: "overloaded", After: 7 * time.Second}), `{}`, 502, "provider"},
		{fake.Fail(errors.New("a bug with " + secret)), `{}`, 500, "internal"},
		{fake.Text("x"), `{"costLimit":0.000001}`, 402, "cost_limit"},
		{fake.Stop(provider.Refusal, "I will not."), `{}`, 422, "refused"},
	} {
		d := serve(t, Options{}, c.step)
		response := d.request("POST", "/api/agents/pm/create-prd", c.body)
		status, reply := response.StatusCode, map[string]any{}
		if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
			t.Fatal(err)
		}
		f := failureIn(reply)
		if status != c.status || f["code"] != c.code || text(f["conversationId"]) == "" {
			t.Errorf("%+v: %d %v", c.step, status, f)
		}
		if c.code == "provider" && !strings.Contains(text(f["message"]), "the model's server answered") {
			t.Errorf("the server's words are missing: %v", f)
		}
		if c.code == "cost_limit" && (f["limit"] != 0.000001 || f["spent"] == nil) {
			t.Errorf("the amounts are missing: %v", f)
		}
		if strings.Contains(f["message"].(string), "529") && response.Header.Get("Retry-After") != "7" {
			t.Errorf("Retry-After %q", response.Header.Get("Retry-After"))
		}
		path := "/api/conversations/" + text(f["conversationId"])
		view, _ := json.Marshal(d.ok("GET", path, ""))
		stream := d.stream(path + "/events").until("failed")
		shown, _ := json.Marshal([]any{reply, stream[len(stream)-1].data})
		if strings.Contains(string(shown)+string(view), secret) {
			t.Errorf("a key is shown in %s %s", shown, view)
		}
	}
}

// TestCommand: a command returns its result, or the question at which its agent waits.
func TestCommand(t *testing.T) {
	d := serve(t, Options{}, write("/docs/prd.md", "# PRD\n"), fake.Text("Written."), ask("Which?"), fake.Text("That one."))
	got := d.ok("POST", "/api/agents/pm/create-prd", `{"message":"for a shop","context":{"users":3}}`)
	if got["status"] != "ended" || got["text"] != "Written." || len(got["documents"].([]any)) != 1 {
		t.Errorf("the result is %v", got)
	}
	if first := d.model.Requests()[0].Messages[0].Text(); !strings.Contains(first, "for a shop") || !strings.Contains(first, `"users": 3`) {
		t.Errorf("the first message is %q", first)
	}
	got = d.ok("POST", "/api/agents/pm/choose", "")
	if got["status"] != "waiting" || len(got["questions"].([]any)) != 1 {
		t.Errorf("a command that asks: %v", got)
	}
	path := "/api/conversations/" + text(got["conversationId"])
	d.ok("POST", path+"/answers", `{"answer":"the blue one"}`)
	view := d.until(path, "idle")
	if turns := view["turns"].([]any); turns[0].(map[string]any)["agentResponse"] != "That one." {
		t.Errorf("after the answer: %v", turns)
	}
}

// TestHelper: the end of an agent that helps is not the end of the command.
func TestHelper(t *testing.T) {
	d := serve(t, Options{}, fake.Call("invoke_agent", map[string]string{"agent_id": "pm", "command": "look"}), fake.Text("I have looked."), fake.Text("All done."))
	got := d.ok("POST", "/api/agents/pm/check", "{}")
	events := d.stream("/api/conversations/" + text(got["conversationId"]) + "/events").until("completed")
	helped := slices.ContainsFunc(events, func(e sent) bool { return e.name != "started" && e.data["agent"] == "pm" })
	if got["text"] != "All done." || !helped {
		t.Errorf("the helper was seen: %v; the result is %v", helped, got)
	}
}

// TestSpent: a conversation that has spent its limit takes no message.
func TestSpent(t *testing.T) {
	d := serve(t, Options{}, fake.Text("Never."))
	reply := d.ok("POST", "/api/conversations", `{"agentId":"pm","message":"x","costLimit":0.000001}`)
	path := "/api/conversations/" + text(reply["conversationId"])
	view := d.until(path, "idle")
	if f := failureIn(view); f["code"] != "cost_limit" {
		t.Errorf("the conversation shows %v", view)
	}
	status, reply := d.call("POST", path+"/messages", `{"message":"more"}`)
	if f := failureIn(reply); status != http.StatusPaymentRequired || f["limit"] != 0.000001 || f["spent"] != 0.0 {
		t.Errorf("a message: %d %v", status, f)
	}
}

// TestAccepted: a message that was accepted is on the disk before the model has answered.
func TestAccepted(t *testing.T) {
	dir := folder(t)
	one, begun, release := holdStep(fake.Text("One."))
	two, again, _ := holdStep(fake.Text("Two."))
	d := serveIn(t, dir, Options{}, one, two)
	path := d.begin("my first words")
	saved := func() string {
		data, err := os.ReadFile(filepath.Join(dir, ".bmad-task", "conversations", strings.TrimPrefix(path, "/api/conversations/"), "state.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if !strings.Contains(saved(), "my first words") {
		t.Error("the first message is not saved")
	}
	<-begun
	release()
	d.until(path, "idle")
	d.ok("POST", path+"/messages", `{"message":"my next words"}`)
	if !strings.Contains(saved(), "my next words") {
		t.Error("the next message is not saved")
	}
	<-again
}

// TestNothingWritten: a refused request leaves the saved conversation as it was.
func TestNothingWritten(t *testing.T) {
	dir := folder(t)
	d := serveIn(t, dir, Options{}, fake.Text("Hello."))
	path := d.begin("hello")
	d.until(path, "idle")
	name := filepath.Join(dir, ".bmad-task", "conversations", strings.TrimPrefix(path, "/api/conversations/"), "state.json")
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{path + "/answers", path + "/messages"} {
		if status, _ := d.call("POST", c, `{"answer":"x"}`); status < 400 {
			t.Errorf("%s: %d", c, status)
		}
	}
	after, err := os.ReadFile(name)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
}

// TestBusy: while an agent works, messages are refused, and the end of its turn frees it.
func TestBusy(t *testing.T) {
	step, begun, release := holdStep(fake.Text("Late."))
	d := serveTuned(t, folder(t), Options{}, func(h *Handler) { h.atWork = 1 }, step, fake.Text("Hello."))
	path := d.begin("think")
	<-begun
	for _, c := range []struct{ method, path, body, code string }{
		{"POST", path + "/messages", `{"message":"x"}`, "busy"},
		{"POST", path + "/end", ``, "busy"},
	} {
		if status, reply := d.call(c.method, c.path, c.body); status != http.StatusConflict || failureIn(reply)["code"] != c.code {
			t.Errorf("%s %s: %d %v", c.method, c.path, status, reply)
		}
	}
	full := d.request("POST", "/api/conversations", `{"agentId":"pm","message":"x"}`)
	if full.StatusCode != http.StatusServiceUnavailable || full.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", full.StatusCode, full.Header)
	}
	release()
	d.until(path, "idle")
	d.ok("POST", path+"/messages", `{"message":"hello"}`)
	d.until(path, "idle")
}

// TestRestart: a conversation at work when the server ends is paused, goes on by another process, and
// a reader of its events goes on from the last one.
func TestRestart(t *testing.T) {
	dir := folder(t)
	step, begun, _ := holdStep(fake.Text("Never sent."))
	d := serveIn(t, dir, Options{}, write("/a.md", "a"), step)
	path := d.begin("write")
	s := d.stream(path + "/events")
	seen := s.until("tool_finished")
	<-begun
	d.stop()

	d = serveIn(t, dir, Options{})
	if view := d.ok("GET", path, ""); view["status"] != "paused" {
		t.Errorf("after the restart: %v", view)
	}
	if status, reply := d.call("POST", path+"/messages", `{"message":"x"}`); status != http.StatusConflict || failureIn(reply)["code"] != "paused" {
		t.Errorf("a message to a paused conversation: %d %v", status, reply)
	}
	if got := len(d.model.Requests()); got != 0 {
		t.Errorf("%d calls of the model before anybody asked for one", got)
	}
	elsewhere(t, dir, path, (*sdk.Conversation).Resume, fake.Text("Done."))
	if view := d.ok("GET", path, ""); view["status"] != "idle" || len(view["documents"].([]any)) != 1 || len(view["turns"].([]any)) != 1 {
		t.Errorf("after the turn: %v", view)
	}
	rest := d.stream(path+"/events", "Last-Event-ID", seen[len(seen)-1].id).until("idle")
	var numbers []string
	for _, e := range append(slices.Clone(seen), rest...) {
		if e.id != "" {
			numbers = append(numbers, e.id)
		}
	}
	for n, id := range numbers {
		if want := json.Number(id); want.String() != intText(n+1) {
			t.Fatalf("event %d has the number %s", n+1, id)
		}
	}
}

// elsewhere has another process continue a conversation until it is idle.
func elsewhere(t *testing.T, dir, path string, do func(*sdk.Conversation, context.Context) error, step fake.Step) {
	t.Helper()
	other, err := sdk.New(sdk.Options{Provider: fake.New(step), Prices: fake.Prices(), Project: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c, err := other.Open(t.Context(), strings.TrimPrefix(path, "/api/conversations/"))
	if err == nil {
		err = do(c, t.Context())
	}
	if err == nil {
		_, err = c.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestartAtQuestion: an answer reaches the question that was open when the server ended.
func TestRestartAtQuestion(t *testing.T) {
	dir := folder(t)
	d := serveIn(t, dir, Options{}, ask("Who?"))
	path := d.begin("write")
	d.until(path, "waiting")
	d.stop()
	d = serveIn(t, dir, Options{}, fake.Text("For them."))
	if view := d.ok("GET", path, ""); view["status"] != "paused" || len(view["questions"].([]any)) != 1 {
		t.Errorf("after the restart: %v", view)
	}
	d.ok("POST", path+"/answers", `{"answer":"shoppers"}`)
	if turns := d.until(path, "idle")["turns"].([]any); turns[0].(map[string]any)["agentResponse"] != "For them." {
		t.Errorf("after the answer: %v", turns)
	}
}

// TestStuckReader: a client that does not read loses its stream, and the server's room for it is
// free again.
func TestStuckReader(t *testing.T) {
	d := serve(t, Options{}, fake.Text(strings.Repeat("x", 12<<20)))
	path := d.begin("write much")
	d.until(path, "idle")
	limits := limits
	limits.Write = 100 * time.Millisecond
	d.h.limiter = httpguard.NewLimiter(limits)
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s/events HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	streams := func() int {
		_, n := d.h.limiter.Held()
		return n
	}
	opened := false
	for range 4000 {
		n := streams()
		if opened = opened || n == 1; opened && n == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("it was opened: %v; %d streams are open", opened, streams())
}

func intText(n int) string {
	data, _ := json.Marshal(n)
	return string(data)
}

// TestElsewhere: a message to a conversation that another process has continued reaches the
// continued one.
func TestElsewhere(t *testing.T) {
	dir := folder(t)
	d := serveIn(t, dir, Options{}, fake.Text("One."), fake.Text("Three."))
	path := d.begin("one")
	d.until(path, "idle")
	s := d.stream(path + "/events")
	elsewhere(t, dir, path, func(c *sdk.Conversation, ctx context.Context) error { return c.Send(ctx, "two") }, fake.Text("Two."))
	s.until("idle")
	d.ok("POST", path+"/messages", `{"message":"three"}`)
	for { // the stream ends, so that its client connects again
		if _, more := s.next(); !more {
			break
		}
	}
	s = d.stream(path + "/events")
	for range 3 {
		s.until("idle")
	}
	view := d.until(path, "idle")
	if turns := view["turns"].([]any); len(turns) != 3 || turns[1].(map[string]any)["agentResponse"] != "Two." {
		t.Errorf("turns %v", turns)
	}
}

// TestIdle: a conversation that nobody uses leaves the memory, and comes back whole.
func TestIdle(t *testing.T) {
	step, begun, release := holdStep(fake.Text("Slow."))
	d := serve(t, Options{}, write("/a.md", "a"), fake.Text("One."), step)
	path := d.begin("one")
	d.until(path, "idle")
	busy := d.begin("two")
	<-begun
	d.h.mu.Lock()
	unused := slices.Collect(maps.Values(d.h.open))
	d.h.mu.Unlock()
	for _, e := range unused {
		e.idle.Stop()
		d.h.dropIdle(e)
	}
	d.h.mu.Lock()
	n := len(d.h.open)
	d.h.mu.Unlock()
	if n != 1 {
		t.Errorf("%d conversations are in memory, not the one at work alone", n)
	}
	release()
	d.until(busy, "idle")
	if view := d.ok("GET", path, ""); len(view["documents"].([]any)) != 1 || len(view["turns"].([]any)) != 1 {
		t.Errorf("opened again: %v", view)
	}
}

// TestSweep: the handler does so by itself.
func TestSweep(t *testing.T) {
	d := serveTuned(t, folder(t), Options{}, func(h *Handler) { h.idle = time.Millisecond }, fake.Text("One."))
	path := d.begin("one")
	n := 1
	for range 4000 {
		d.h.mu.Lock()
		n = len(d.h.open)
		d.h.mu.Unlock()
		if n == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if view := d.ok("GET", path, ""); n != 0 || len(view["turns"].([]any)) != 1 {
		t.Errorf("%d conversations stay in memory; opened again: %v", n, view)
	}
}

// TestGuards: a caller without the right to call gets nothing but the reason.
func TestGuards(t *testing.T) {
	token := "0123456789abcdef"
	d := serve(t, Options{Options: httpguard.Options{Token: token, Origins: []string{"https://app.example"}}})
	bearer := "Bearer " + token
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{nil, 401},
		{[]string{"Authorization", "Bearer 0123456789abcdeF"}, 401},
		{[]string{"Authorization", "Basic " + token}, 401},
		{[]string{"Authorization", bearer, "Host", "evil.example"}, 403},
		{[]string{"Authorization", bearer, "Origin", "https://evil.example"}, 403},
		{[]string{"Authorization", bearer, "Origin", "null"}, 403},
		{[]string{"Authorization", bearer, "Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Authorization", bearer, "Origin", "https://app.example"}, 404},
		{[]string{"Authorization", bearer}, 404},
	} {
		for _, path := range []string{"/api/conversations/nobody", "/nothing"} {
			status, reply := d.call("GET", path, "", c.headers...)
			if status != c.status || text(failureIn(reply)["message"]) == "" {
				t.Errorf("%s with %q: %d %v", path, c.headers, status, reply)
			}
		}
	}
	preflight := d.request("OPTIONS", "/api/conversations", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	if preflight.StatusCode != http.StatusNoContent || !strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "Last-Event-ID") {
		t.Errorf("a preflight: %d %s", preflight.StatusCode, preflight.Header)
	}
}

// TestSlowReader: a reader that lags behind gets every numbered event in the end, and hears that
// pieces of text are missing.
func TestSlowReader(t *testing.T) {
	long := strings.Repeat("word ", 400)
	var steps []fake.Step
	for range 40 {
		steps = append(steps, fake.Text(long))
	}
	d := serve(t, Options{}, steps...)
	path := d.begin("0")
	d.until(path, "idle")
	e, err := d.h.holdEntry(t.Context(), strings.TrimPrefix(path, "/api/conversations/"))
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	dropped := 0
	wait := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- d.h.followEvents(t.Context(), e, 0, nil, func(event sdk.Event) bool {
			if len(got) == 3 {
				<-wait
			}
			if event.Seq > 0 {
				got = append(got, event.Seq)
			}
			dropped += event.Dropped
			return event.Type == sdk.EventCompleted
		})
	}()
	for n := range 39 {
		d.ok("POST", path+"/messages", `{"message":"`+intText(n+1)+`"}`)
		d.until(path, "idle")
	}
	close(wait)
	d.ok("POST", path+"/end", "")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for n, seq := range got {
		if seq != int64(n+1) {
			t.Fatalf("event %d has the number %d", n+1, seq)
		}
	}
	saved, err := d.client.Transcript(t.Context(), e.ID())
	if err != nil || dropped == 0 || len(got) != len(saved) {
		t.Errorf("%d events of %d, %d dropped, %v", len(got), len(saved), dropped, err)
	}
}

// TestStreams: silence is broken by pings, and a peer has so many streams.
func TestStreams(t *testing.T) {
	limits := limits
	limits.SessionStreams = 1
	tune := func(h *Handler) { h.limiter, h.ping = httpguard.NewLimiter(limits), time.Millisecond }
	d := serveTuned(t, folder(t), Options{}, tune, fake.Text("One."))
	path := d.begin("one")
	s := d.stream(path + "/events")
	s.until("idle")
	full := d.request("GET", path+"/events", "")
	if full.StatusCode != http.StatusServiceUnavailable || full.Header.Get("Retry-After") == "" {
		t.Errorf("a second stream: %d", full.StatusCode)
	}
	for range 3 {
		if !s.lines.Scan() || s.lines.Text() != "" && s.lines.Text() != ": ping" {
			t.Fatalf("in the silence: %q", s.lines.Text())
		}
	}
	d.ok("POST", path+"/end", "")
	s.until("completed")
}

// TestGoneClient: a command whose client has gone is paused, and can go on.
func TestGoneClient(t *testing.T) {
	step, begun, release := holdStep(write("/a.md", "a"))
	dir := folder(t)
	d := serveIn(t, dir, Options{}, step)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", d.url+"/api/agents/pm/write", nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if response, err := http.DefaultTransport.RoundTrip(r); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-begun
	cancel()
	<-gone
	path := "/api/conversations/" + saved(t, dir)[0]
	for tries := 0; !isPausing(); tries++ {
		if tries == 4000 {
			t.Fatal("the handler has not noticed that its client has gone")
		}
		time.Sleep(time.Millisecond)
	}
	release()
	d.until(path, "paused")
	elsewhere(t, dir, path, (*sdk.Conversation).Resume, fake.Text("Done."))
	if view := d.until(path, "idle"); len(view["documents"].([]any)) != 1 {
		t.Errorf("after it went on: %v", view)
	}
}

// isPausing reports whether a goroutine waits for the end of a step.
func isPausing() bool {
	stacks := make([]byte, 1<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "sdk.dialog.Pause(")
}

// TestClose: nothing is left of a server with open streams and work.
func TestClose(t *testing.T) {
	step, begun, _ := holdStep(fake.Text("Never."))
	d := serve(t, Options{}, step)
	path := d.begin("think")
	s := d.stream(path + "/events")
	<-begun
	s.until("turn_started")
	d.stop()
	for {
		if _, more := s.next(); !more {
			break
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for n := 0; ; n++ {
		stacks := make([]byte, 1<<20)
		left := string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(left, "sdkhttp.(*Handler)") && !strings.Contains(left, "sdk.(*thread)") {
			break
		}
		if n == 2000 {
			t.Fatalf("left at work:\n%s", left)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"agentId":"pm","message":"x"}`, `{"costLimit":1e400}`, `{"context":{"a":[1,{"b":null}]}}`, `{"message":null}`, `{"a":`, `[]`, "\xff", `{"":0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := parseBody(data, "agentId message costLimit context")
		if err == nil {
			if len(data) > 0 && !json.Valid(data) {
				t.Errorf("%q was taken", data)
			}
			return
		}
		f := asFailure(err)
		if f.status != http.StatusBadRequest || f.Message == "" {
			t.Errorf("%q: %+v", data, f)
		}
		if _, err := json.Marshal(f); err != nil {
			t.Error(err)
		}
	})
}

// TestTools: the caller's tools are offered in every conversation, and after a restart too.
func TestTools(t *testing.T) {
	dir, used := folder(t), 0
	o := Options{Tools: []sdk.AnyTool{sdk.Tool[struct{}, string]{Name: "count", Run: func(context.Context, struct{}) (string, error) {
		used++
		return "counted", nil
	}}}}
	d := serveIn(t, dir, o, fake.Call("count", nil), fake.Text("Done."))
	path := d.begin("count them")
	d.until(path, "idle")
	d.stop()
	d = serveIn(t, dir, o, fake.Call("count", nil), fake.Text("Done again."))
	d.ok("POST", path+"/messages", `{"message":"once more"}`)
	d.until(path, "idle")
	d.stop()
	if used != 2 {
		t.Errorf("the tool was used %d times", used)
	}
}
