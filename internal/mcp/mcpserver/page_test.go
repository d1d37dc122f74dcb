package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// speaker calls a server by hand, over either era, with headers of its choice.
type speaker struct {
	s       *served
	modern  bool
	session string
	// header is sent with each request: names and values by turns.
	header []string
	// capabilities are the client's; nil are those of one with forms.
	capabilities object
	ids          int
}

// can returns the stated capabilities of the client.
func (p *speaker) can() object {
	if p.capabilities != nil {
		return p.capabilities
	}
	return object{"elicitation": object{}}
}

const inspectorOrigin = "http://localhost:6274"

// claudeCode is a client that a server on stdio would list bmad-confirm for.
var claudeCode = object{"name": "claude-code", "version": "2.1.329"}

// post sends one message and returns the response, whose body the caller closes.
func (p *speaker) post(message object) *http.Response {
	p.s.t.Helper()
	if params, ok := message["params"].(object); ok && p.modern {
		params["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         claudeCode,
			"io.modelcontextprotocol/clientCapabilities": p.can(),
		}
	}
	message["jsonrpc"] = "2.0"
	data, err := json.Marshal(message)
	if err != nil {
		p.s.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, p.s.url, strings.NewReader(string(data)))
	if err != nil {
		p.s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if p.modern {
		method, _ := message["method"].(string)
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", method)
		params, _ := message["params"].(object)
		for _, key := range []string{"name", "uri"} {
			if params[key] != nil {
				req.Header.Set("Mcp-Name", fmt.Sprint(params[key]))
			}
		}
	} else if p.session != "" {
		req.Header.Set("Mcp-Session-Id", p.session)
	}
	for i := 0; i < len(p.header); i += 2 {
		req.Header.Add(p.header[i], p.header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return res
}

// greet opens a session, if the era has them.
func (p *speaker) greet() *speaker {
	p.s.t.Helper()
	if p.modern {
		return p
	}
	res := p.post(object{"id": 0, "method": "initialize", "params": object{
		"protocolVersion": "2025-06-18", "clientInfo": claudeCode, "capabilities": p.can(),
	}})
	defer func() { _ = res.Body.Close() }()
	if p.session = res.Header.Get("Mcp-Session-Id"); p.session == "" {
		body, _ := io.ReadAll(res.Body)
		p.s.t.Fatalf("no session: %d %s", res.StatusCode, body)
	}
	return p
}

// messages reads the messages of a response, one after the other.
func messages(res *http.Response) func() (object, error) {
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	stream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	return func() (object, error) {
		for lines.Scan() {
			text, event := strings.CutPrefix(lines.Text(), "data: ")
			if stream && !event {
				continue
			}
			var m object
			return m, json.Unmarshal([]byte(text), &m)
		}
		return nil, io.EOF
	}
}

// call calls a tool and returns the first message that is not a notification, and the rest
// of the response. more goes into the parameters.
func (p *speaker) call(tool string, args, more object) (object, func() (object, error)) {
	p.s.t.Helper()
	p.ids++
	params := object{"name": tool, "arguments": args}
	for k, v := range more {
		params[k] = v
	}
	res := p.post(object{"id": p.ids, "method": "tools/call", "params": params})
	p.s.t.Cleanup(func() { _ = res.Body.Close() })
	next := messages(res)
	for {
		m, err := next()
		if err != nil {
			p.s.t.Fatalf("%s %v: status %d, %v", tool, args, res.StatusCode, err)
		}
		if m["id"] != nil || m["error"] != nil {
			return m, next
		}
	}
}

// ask sends a request and returns its answer, as it came.
func (p *speaker) ask(method string, params object) string {
	p.s.t.Helper()
	p.ids++
	res := p.post(object{"id": p.ids, "method": method, "params": params})
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return string(answer)
}

// task calls bmad-task, and returns its reply; nil if it is a question for the person.
func (p *speaker) task(args object) object {
	p.s.t.Helper()
	m, _ := p.call("bmad-task", args, nil)
	return replyIn(m)
}

// replyIn returns the reply of a tool in a message; nil if there is none.
func replyIn(m object) (reply object) {
	result, _ := m["result"].(object)
	content, _ := result["content"].([]any)
	if len(content) == 1 {
		text, _ := content[0].(object)["text"].(string)
		_ = json.Unmarshal([]byte(text), &reply)
	}
	return reply
}

// asksPerson reports whether a message puts a form to a person.
func asksPerson(m object) bool {
	result, _ := m["result"].(object)
	return m["method"] == "elicitation/create" || result["resultType"] == "input_required"
}

// waiting takes a run to its first gate, as a program.
func (p *speaker) waiting() {
	p.s.t.Helper()
	p.task(object{"action": "start", "objective": "Build a clock"})
	if reply := p.task(object{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"}); reply["state"] != "awaiting_confirmation" {
		p.s.t.Fatal(reply)
	}
}

// sessionFile returns the only session file of a project.
func sessionFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, ".bmad-task", "session-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// pages returns the headers of requests that come from web pages, of those that may call.
func pages(s *served) map[string][]string {
	own := strings.TrimSuffix(s.url, "/mcp")
	return map[string][]string{
		"allowed":             {"Origin", inspectorOrigin},
		"allowed, all marks":  {"Origin", inspectorOrigin, "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"},
		"allowed, cross-site": {"Origin", inspectorOrigin, "Sec-Fetch-Site", "cross-site"},
		"own":                 {"Origin", own},
		"own, all marks":      {"Origin", own, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"},
		"own, no origin":      {"Sec-Fetch-Site", "same-origin"},
		"address line":        {"Sec-Fetch-Site", "none"},
	}
}

var approval = object{"action": "accept", "content": object{"decision": "approve"}}

// TestPagesDecideNothing has web pages that may call try to open a strict gate: with forms
// that they ask for and answer, with the answer to a form of somebody else, by the tool that
// hosts ask about, and by their word.
func TestPagesDecideNothing(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		for _, always := range []bool{false, true} {
			t.Run(fmt.Sprintf("modern=%v,always=%v", modern, always), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				env := []string{"BMAD_GATE=strict"}
				if always {
					env = append(env, alwaysAsks)
				}
				s := serveInside(t, dir, env)
				program := (&speaker{s: s, modern: modern}).greet()
				program.waiting()
				before := sessionFile(t, dir)
				for name, header := range pages(s) {
					page := (&speaker{s: s, modern: modern, header: header}).greet()
					status := page.task(object{"action": "status"})
					if gate, _ := status["gate"].(object); gate["ask_by_form"] != nil || gate["ask_by_host"] != nil {
						t.Errorf("%s: it is told to ask the person itself: %v", name, gate)
					}
					for _, args := range []object{
						{"action": "confirm"},
						{"action": "confirm", "confirmed": true},
						{"action": "confirm", "confirmed": true, "revision": 2},
						{"action": "approve", "approved": true, "revision": 2},
						{"action": "cancel", "revision": 2},
					} {
						m, _ := page.call("bmad-task", args, nil)
						if asksPerson(m) {
							t.Errorf("%s, %v: it is shown a form", name, args)
						}
						if reply := replyIn(m); reply["status"] != "failed" {
							t.Errorf("%s, %v: %v", name, args, m)
						}
					}
					m, _ := page.call("bmad-confirm", object{"session_id": "build-a-clock", "stage": "po", "decision": "approve", "sha256": draftHash(t, dir)}, nil)
					if reply := replyIn(m); reply != nil && reply["status"] != "failed" {
						t.Errorf("%s: it confirmed for the host: %v", name, reply)
					}
					if after := sessionFile(t, dir); after != before {
						t.Fatalf("%s: the run was changed: %s", name, after)
					}
				}
			})
		}
	}
}

// draftHash returns the hash of the draft that waits.
func draftHash(t *testing.T, dir string) string {
	t.Helper()
	stages, _ := readStored(t, dir)["stages"].(object)
	po, _ := stages["po"].(object)
	ref, _ := po["final_result_ref"].(object)
	hash, _ := ref["sha256"].(string)
	if hash == "" {
		t.Fatalf("no hash in %v", po)
	}
	return hash
}

// TestPagesAnswerForNobody has a page answer the form that a program was shown, over the
// same session: the form stays open, and the person's answer counts.
func TestPagesAnswerForNobody(t *testing.T) {
	t.Parallel()
	for name := range pages(&served{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := serveInside(t, dir, []string{"BMAD_GATE=strict"})
			program := (&speaker{s: s}).greet()
			program.waiting()
			before := sessionFile(t, dir)
			form, rest := program.call("bmad-task", object{"action": "confirm"}, nil)
			if !asksPerson(form) {
				t.Fatalf("a program with forms is shown none: %v", form)
			}
			time.Sleep(person)
			page := &speaker{s: s, session: program.session, header: pages(s)[name]}
			for _, answer := range []object{
				{"id": form["id"], "result": approval},
				{"id": form["id"], "result": object{"action": "decline"}},
				{"id": form["id"], "error": object{"code": -1, "message": "x"}},
			} {
				res := page.post(answer)
				_ = res.Body.Close()
				if res.StatusCode < 400 {
					t.Errorf("the page's answer %v was taken: %d", answer, res.StatusCode)
				}
			}
			res := page.post(object{"method": "notifications/cancelled", "params": object{"requestId": program.ids}})
			_ = res.Body.Close()
			if got := sessionFile(t, dir); got != before {
				t.Fatalf("the run was changed: %s", got)
			}
			answer := program.post(object{"id": form["id"], "result": approval})
			_ = answer.Body.Close()
			last, err := rest()
			if reply := replyIn(last); err != nil || reply["current_stage"] != "architect" {
				t.Errorf("the person's own answer: %v, %v", last, err)
			}
		})
	}
}

// TestProgramsDoNotLendPagesTheirForms checks that a session that a page has opened is no host's,
// even if a request over it carries no mark of a page.
func TestProgramsDoNotLendPagesTheirForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveInside(t, dir, []string{"BMAD_GATE=strict"})
	(&speaker{s: s}).greet().waiting()
	before := sessionFile(t, dir)
	page := (&speaker{s: s, header: []string{"Origin", inspectorOrigin}}).greet()
	program := &speaker{s: s, session: page.session}
	m, _ := program.call("bmad-task", object{"action": "confirm"}, nil)
	if asksPerson(m) {
		t.Fatalf("a page's session is shown a form: %v", m)
	}
	if after := sessionFile(t, dir); after != before {
		t.Errorf("the run was changed: %s", after)
	}
}

// TestPagesAnswerNoStatelessForm has a page bring the answer to a form that a program on the
// same machine, of the same name, was shown, and the other way round.
func TestPagesAnswerNoStatelessForm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveInside(t, dir, []string{"BMAD_GATE=strict"})
	program := &speaker{s: s, modern: true}
	program.waiting()
	before := sessionFile(t, dir)
	form, _ := program.call("bmad-task", object{"action": "confirm"}, nil)
	state := fmt.Sprint(form["result"].(object)["requestState"])
	if !asksPerson(form) || len(state) < 20 {
		t.Fatalf("a program with forms is shown none: %v", form)
	}
	time.Sleep(person)
	answered := object{"inputResponses": object{"form": approval}, "requestState": state}
	for name, header := range pages(s) {
		page := &speaker{s: s, modern: true, header: header}
		for _, args := range []object{{"action": "confirm"}, {"action": "confirm", "confirmed": true, "revision": 2}, {"action": "status"}} {
			m, _ := page.call("bmad-task", args, answered)
			if asksPerson(m) || replyIn(m)["current_stage"] == "architect" {
				t.Errorf("%s, %v: %v", name, args, m)
			}
		}
		if after := sessionFile(t, dir); after != before {
			t.Fatalf("%s: the run was changed: %s", name, after)
		}
	}
	m, _ := program.call("bmad-task", object{"action": "confirm"}, answered)
	if reply := replyIn(m); reply["current_stage"] != "architect" {
		t.Errorf("the person's own answer: %v", m)
	}
}

// TestPagesRelayAtMost checks that if the policy takes an assistant's word, a page's is no more,
// and the history says that it was one.
func TestPagesRelayAtMost(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		dir := t.TempDir()
		s := serveInside(t, dir, []string{alwaysAsks, "BMAD_GATE=relay"})
		page := (&speaker{s: s, modern: modern, header: []string{"Origin", inspectorOrigin}}).greet()
		page.waiting()
		if reply := page.task(object{"action": "confirm", "confirmed": true, "revision": 2}); reply["current_stage"] != "architect" {
			t.Fatalf("modern %v: %v", modern, reply)
		}
		history := readStored(t, dir)["history"].([]any)
		grant, _ := history[len(history)-1].(object)["grant"].(object)
		if grant["channel"] != "relayed" || grant["assurance"] != "low" || !strings.Contains(fmt.Sprint(grant["client"]), "page of "+inspectorOrigin) {
			t.Errorf("modern %v: %v", modern, grant)
		}
	}
}

// TestProgramsWithForms checks that the headers of programs do not make them pages.
func TestProgramsWithForms(t *testing.T) {
	t.Parallel()
	s := serveInside(t, t.TempDir(), []string{"BMAD_GATE=strict"})
	for name, header := range map[string][]string{
		"nothing":    nil,
		"node fetch": {"Sec-Fetch-Mode", "cors", "User-Agent", "node", "Accept-Language", "*"},
		"a referrer": {"Referer", "http://localhost:3000/"},
	} {
		for _, modern := range []bool{false, true} {
			p := (&speaker{s: s, modern: modern, header: header}).greet()
			p.task(object{"action": "start", "objective": "Build a clock", "session_id": ""})
			reply := p.task(object{"action": "start", "objective": name + fmt.Sprint(modern)})
			id := reply["session_id"]
			p.task(object{"action": "submit", "stage": "po", "session_id": id, "claude_result": "# P\nQuality Score: 95/100"})
			if m, _ := p.call("bmad-task", object{"action": "confirm", "session_id": id}, nil); !asksPerson(m) {
				t.Errorf("%s, modern %v: no form: %v", name, modern, m)
			}
		}
	}
}
