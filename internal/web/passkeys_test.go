package web_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey/passkeytest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// signing is a dashboard with a door, at which passkeys are used, and a browser that was paired.
type signing struct {
	*world
	state, origin, key string
	keys               *passkey.Keys
	d                  *dashboard.Dashboard
	client             *http.Client
}

func newSigning(t *testing.T) *signing {
	t.Helper()
	w := newWorld(t)
	w.relay()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &signing{world: w, state: filepath.Join(w.root, "state"), origin: "http://localhost:" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	if s.keys, err = passkey.New(passkey.Options{Folder: s.state, Origins: []string{s.origin}, Now: w.now}); err != nil {
		t.Fatal(err)
	}
	if s.d, err = dashboard.New(dashboard.Options{Version: "1.2.3", Engine: w.engine, Health: health, Origin: s.origin, Pairing: s.state, Passkeys: s.keys}); err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s.d.Guarded()}}
	server.Start()
	t.Cleanup(func() { s.d.Close(t.Context()); server.Close() })
	jar, _ := cookiejar.New(nil) // it has no errors
	s.client = &http.Client{Jar: jar}
	u, _ := url.Parse(s.d.Launch("/"))
	given, _ := url.ParseQuery(u.Fragment)
	s.post("/enter", map[string]string{"secret": given.Get("k")}, nil)
	var paired struct{ Key string }
	s.post("/pair/launch", map[string]string{"launch": given.Get("p")}, &paired)
	if s.key = paired.Key; s.key == "" {
		t.Fatal("the browser was not paired")
	}
	return s
}

// post sends a request as a page does, and returns its status.
func (s *signing) post(path string, body, into any) int {
	s.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.origin+path, bytes.NewReader(data))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", s.origin)
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && into != nil && res.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		s.t.Fatalf("%s: %v: %s", path, err, text)
	}
	return res.StatusCode
}

// begun is the answer to a page that adds a passkey.
type begun struct {
	Ticket         string
	Create, Assert json.RawMessage
}

// approve is the person's word at a terminal.
func (s *signing) approve(code string) {
	s.t.Helper()
	if _, err := pairing.Approve(s.state, code, s.engine.Clock()); err != nil {
		s.t.Fatal(err)
	}
}

// lastDecision returns the last decision of the run that waited at the architect's gate, and the result of
// checking its signature.
func (s *signing) lastDecision() (workflow.Grant, []passkey.Checked) {
	s.t.Helper()
	for _, folder := range s.engine.Projects().List() {
		board, err := s.engine.Board(s.t.Context(), project.Address{Cwd: folder}, 10, "")
		if err != nil {
			s.t.Fatal(err)
		}
		for _, row := range board.Rows {
			run, _, err := s.engine.Session(s.t.Context(), project.Address{Cwd: folder, Session: row.SessionID})
			if err != nil {
				s.t.Fatal(err)
			}
			if g := run.Last().Grant; g != nil && g.Stage == workflow.Architect {
				checked, err := s.keys.Verify(run)
				if err != nil {
					s.t.Fatal(err)
				}
				return *g, checked
			}
		}
	}
	s.t.Fatal("nothing was decided at the architect's gate")
	return workflow.Grant{}, nil
}

// read fetches a page.
func (s *signing) read(path string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.origin+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	return string(text)
}

var reviewData = regexp.MustCompile(`data-(revision|sha256|nonce)="([^"]*)"`)

// shownPage returns the facts that the page of the waiting document shows, for a decision on it.
func (s *signing) shownPage() (path string, decision map[string]any) {
	s.t.Helper()
	path = s.waiting()
	decision = map[string]any{"decision": "approve", "feedback": " fine \n", "comments": []map[string]any{{"from": 1, "kind": "change", "text": "a title "}}}
	for _, m := range reviewData.FindAllStringSubmatch(s.read(path), -1) {
		decision[m[1]] = m[2]
	}
	if decision["nonce"] == nil {
		s.t.Fatalf("%s shows nothing to decide", path)
	}
	decision["revision"], _ = strconv.Atoi(decision["revision"].(string))
	return path, decision
}

// TestPasskeyOverHTTP: the first passkey needs a word at a terminal, a later one a passkey; a
// decision that is signed is recorded with its signature, and one whose words were changed is not.
func TestPasskeyOverHTTP(t *testing.T) {
	s := newSigning(t)
	path, decision := s.shownPage()
	if status := s.post(path+"/sign", decision, nil); status != http.StatusNotFound {
		t.Errorf("signed without a passkey: %d", status)
	}
	key := s.key
	s.key = "guessed"
	if begin, finish := s.post("/passkeys/begin", map[string]any{}, nil), s.post("/passkeys/finish", map[string]any{}, nil); begin != http.StatusUnauthorized || finish != http.StatusUnauthorized {
		t.Errorf("a browser that is not paired: %d, %d", begin, finish)
	}
	s.key = key
	code := regexp.MustCompile(`data-code="([^"]+)"`).FindStringSubmatch(s.read("/settings"))
	if code == nil {
		t.Fatal("the settings show no code for the first passkey")
	}
	first := map[string]any{"code": code[1]}
	for name, body := range map[string]map[string]any{"without a code": {}, "before it was typed": first} {
		if status := s.post("/passkeys/begin", body, nil); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := s.post("/passkeys/begin", map[string]any{"code": "AAAA-AAAA"}, nil); status != http.StatusNotFound {
		t.Errorf("a code of nobody: %d", status)
	}
	s.approve(code[1])
	var b begun
	if s.post("/passkeys/begin", first, &b) != http.StatusOK || b.Create == nil || b.Assert != nil {
		t.Fatalf("after it was typed: %+v", b)
	}
	laptop := passkeytest.New(s.origin)
	enrolment := map[string]any{"ticket": b.Ticket, "name": "laptop", "response": json.RawMessage(laptop.Create(b.Create)), "assertion": nil}
	var added struct{ ID, Name string }
	if status := s.post("/passkeys/finish", enrolment, &added); status != http.StatusOK || added.Name != "laptop" {
		t.Fatalf("finished: %d, %+v", status, added)
	}
	if status := s.post("/passkeys/finish", enrolment, nil); status != http.StatusConflict {
		t.Errorf("finished twice: %d", status)
	}
	if b = (begun{}); s.post("/passkeys/begin", first, &b) != http.StatusOK || b.Assert == nil {
		t.Fatalf("the second: %+v", b)
	}
	enrolment = map[string]any{"ticket": b.Ticket, "name": "phone", "response": json.RawMessage(passkeytest.New(s.origin).Create(b.Create))}
	if status := s.post("/passkeys/finish", enrolment, nil); status == http.StatusOK {
		t.Error("a second passkey was added by a paired browser alone")
	}

	if text := s.read(path); !strings.Contains(text, "The passkey “laptop” was added in the last day") || !strings.Contains(text, "bmad-mcp dashboard passkeys remove "+added.ID) {
		t.Errorf("the document does not name the new passkey: %s", text)
	}
	var options json.RawMessage
	if status := s.post(path+"/sign", decision, &options); status != http.StatusOK {
		t.Fatalf("options: %d", status)
	}
	decision["passkey"], decision["feedback"] = json.RawMessage(laptop.Get(options)), "other words"
	if status := s.post(path+"/decide", decision, nil); status != http.StatusConflict {
		t.Errorf("with other words: %d", status)
	}
	delete(decision, "passkey")
	decision["feedback"] = "fine"
	s.post(path+"/sign", decision, &options)
	decision["passkey"] = json.RawMessage(laptop.Get(options))
	if status := s.post(path+"/decide", decision, nil); status != http.StatusOK {
		t.Fatalf("decided: %d", status)
	}
	g, checked := s.lastDecision()
	if g.Channel != workflow.ChannelPasskey || g.Assurance != workflow.AssuranceHigh || g.Feedback != "fine" || len(g.Comments) != 1 ||
		len(checked) != 1 || checked[0].Status != passkey.Holds || checked[0].Passkey != "laptop" {
		t.Errorf("recorded %+v, checked %+v", g, checked)
	}
}
