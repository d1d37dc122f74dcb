package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// house is a dashboard with a door, and a run that waits at its first gate.
type house struct {
	*world
	d                        *dashboard.Dashboard
	origin, address, host    string
	cookie, key              string
	folder, session, project string
	page                     map[string]any
}

func newHouse(t *testing.T, readOnly bool) *house {
	t.Helper()
	h := &house{world: newWorld(t)}
	h.folder = h.world.project("clock")
	h.session = h.play(h.folder, "webhook-relay", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json").SessionID
	h.put(filepath.Join(h.folder, config.ProjectFile), "gate: strict\n")
	server := httptest.NewUnstartedServer(nil)
	h.address = "http://" + server.Listener.Addr().String()
	h.origin = strings.Replace(h.address, "127.0.0.1", "localhost", 1)
	h.host = strings.TrimPrefix(h.origin, "http://")
	state := filepath.Join(h.root, "state")
	var err error
	h.d, err = dashboard.New(dashboard.Options{
		Version: "1", Engine: h.engine, Memory: h.memory, Health: health, Origin: h.origin, Pairing: state, State: filepath.Join(state, "dashboard"), ReadOnly: readOnly,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = h.d.Guarded()
	server.Start()
	t.Cleanup(func() { h.d.Close(t.Context()); server.Close() })
	return h
}

// sending is a request; headers with the value "-" are left out.
type sending struct {
	method, path, body string
	header             map[string]string
}

// send sends a request of a page that may read and decide, with the given changes.
func (h *house) send(s sending) (status int, body string, header http.Header) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), s.method, h.address+s.path, strings.NewReader(s.body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Host = h.host
	all := map[string]string{"Cookie": h.cookie, "Authorization": "Bearer " + h.key, "Content-Type": "application/json", "Origin": h.origin, "Sec-Fetch-Site": "same-origin"}
	maps.Copy(all, s.header)
	for name, value := range all {
		switch {
		case name == "Host":
			r.Host = value
		case value != "-":
			r.Header.Set(name, value)
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if answer.Header.Get("Access-Control-Allow-Origin") != "" {
		h.t.Errorf("%s %s lets other origins read", s.method, s.path)
	}
	return answer.StatusCode, string(data), answer.Header
}

// enter gets the cookie by the secret of the printed address.
func (h *house) enter() {
	h.t.Helper()
	_, secret, _ := strings.Cut(h.d.Address("/"), "#k=")
	status, body, header := h.send(sending{method: "POST", path: "/enter", body: fmt.Sprintf(`{"secret":%q}`, secret)})
	if status != http.StatusNoContent {
		h.t.Fatalf("%d %s", status, body)
	}
	set := header.Get("Set-Cookie")
	if !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") {
		h.t.Errorf("the cookie is %s", set)
	}
	h.cookie, _, _ = strings.Cut(set, ";")
}

// pair gets the key by a code that a person approves.
func (h *house) pair() {
	h.t.Helper()
	_, text, _ := h.send(sending{method: "GET", path: "/pair"})
	code := regexp.MustCompile(`data-code="([^"]*)"`).FindStringSubmatch(text)[1]
	claim := sending{method: "POST", path: "/pair/claim", body: fmt.Sprintf(`{"code":%q}`, code)}
	if status, body, _ := h.send(claim); status != http.StatusOK || strings.TrimSpace(body) != "{}" {
		h.t.Fatalf("before anybody has approved it: %d %s", status, body)
	}
	if _, err := pairing.Approve(filepath.Join(h.root, "state"), code, h.now()); err != nil {
		h.t.Fatal(err)
	}
	_, body, _ := h.send(claim)
	var given struct{ Key string }
	if err := json.Unmarshal([]byte(body), &given); err != nil || len(given.Key) < 43 {
		h.t.Fatalf("%s: %v", body, err)
	}
	if status, body, _ := h.send(claim); status != http.StatusConflict || !strings.Contains(body, "used before") {
		h.t.Errorf("the code a second time: %d %s", status, body)
	}
	if _, err := pairing.Approve(filepath.Join(h.root, "state"), code, h.now()); !fault.Is(err, fault.Conflict) {
		h.t.Errorf("the code a second time at the terminal: %v", err)
	}
	h.key = given.Key
}

// read opens the document that waits.
func (h *house) read() {
	h.t.Helper()
	_, text, _ := h.send(sending{method: "GET", path: "/"})
	h.project = regexp.MustCompile(`/p/([0-9a-f]{10})/`).FindStringSubmatch(text)[1]
	status, text, _ := h.send(sending{method: "GET", path: h.doc("")})
	if status != http.StatusOK {
		h.t.Fatalf("%d %s", status, text)
	}
	value := func(name string) string {
		if found := regexp.MustCompile(`data-` + name + `="([^"]*)"`).FindStringSubmatch(text); found != nil {
			return found[1]
		}
		return "1" // a page that only shows has none
	}
	h.page = map[string]any{"decision": "approve", "sha256": value("sha256"), "nonce": value("nonce"), "revision": json.RawMessage(value("revision"))}
}

func (h *house) run() string { return "/p/" + h.project + "/r/" + h.session }

func (h *house) doc(rest string) string { return h.run() + "/d/po" + rest }

// with returns the body of a decision with some keys changed, and those of nil left out.
func (h *house) with(changes map[string]any) string {
	h.t.Helper()
	body := maps.Clone(h.page)
	maps.Copy(body, changes)
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	data, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

// tree returns the hash of all files of the project.
func (h *house) tree() string {
	h.t.Helper()
	all := ""
	err := filepath.WalkDir(h.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all += path + workflow.Hash(data)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return workflow.Hash([]byte(all))
}

// TestDoor: of every route and every way in which a request is not that of a person who has read
// and decides, none changes a file of the project.
func TestDoor(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	reading := []string{"/", "/pair", "/settings", "/runs", "/memory", "/events?follow=x", h.run() + "/", h.doc(""), h.run() + "/log.json", "/nowhere"}
	deciding := []string{h.doc("/decide"), h.doc("/sign"), h.run() + "/leave"}
	keyed := append([]string{"/passkeys/begin", "/passkeys/finish", h.doc("/drafts")}, deciding...)
	writing := append([]string{"/pair/claim", "/pair/launch"}, keyed...)
	type row struct {
		name   string
		paths  []string
		header map[string]string
		body   string
		want   int
	}
	header := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	good := h.with(nil)
	var rows []row
	for _, paths := range [][]string{reading, writing} {
		rows = append(rows,
			row{"no cookie", paths, header("Cookie", "-"), good, 401},
			row{"another cookie", paths, header("Cookie", strings.Split(h.cookie, "=")[0]+"=x"), good, 401},
			row{"a cookie of another name", paths, header("Cookie", "session="+strings.SplitN(h.cookie, "=", 2)[1]), good, 401},
			row{"another host", paths, header("Host", "evil.example"), good, 403},
			row{"another port", paths, header("Host", "localhost:1"), good, 403},
			row{"a host that begins so", paths, header("Host", h.host+".evil.example"), good, 403},
		)
	}
	rows = append(rows,
		row{"the IP", reading, header("Host", strings.Replace(h.host, "localhost", "127.0.0.1", 1)), "", 307},
		row{"the IP", writing, header("Host", strings.Replace(h.host, "localhost", "127.0.0.1", 1)), good, 403},
		row{"loaded by a page of another port", reading, header("Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script", "Origin", "-"), "", 403},
		row{"framed by a page of another site", reading, header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe", "Origin", "-"), "", 403},
		row{"another origin", writing, header("Origin", "http://evil.example", "Sec-Fetch-Site", "-"), good, 403},
		row{"another origin, said to be the same", writing, header("Origin", "http://localhost:1"), good, 403},
		row{"no origin of its own", writing, header("Origin", "null"), good, 403},
		row{"another port", writing, header("Sec-Fetch-Site", "same-site"), good, 403},
		row{"another site", writing, header("Sec-Fetch-Site", "cross-site", "Origin", "-"), good, 403},
		row{"no key", keyed, header("Authorization", "-"), good, 401},
		row{"an empty key", keyed, header("Authorization", "Bearer "), good, 401},
		row{"a key of before", keyed, header("Authorization", "Bearer "+strings.Repeat("A", 43)), good, 401},
		row{"the cookie as a key", keyed, header("Authorization", "Bearer "+strings.SplitN(h.cookie, "=", 2)[1]), good, 401},
		row{"another scheme", keyed, header("Authorization", "Basic "+h.key), good, 401},
		row{"plain text", writing, header("Content-Type", "text/plain"), good, 415},
		row{"a form", writing, header("Content-Type", "application/x-www-form-urlencoded"), "decision=approve", 415},
		row{"no type", writing, header("Content-Type", "-"), good, 415},
		row{"too large", writing, nil, `{"code":"` + strings.Repeat("a", 64<<10) + `"}`, 413},
		row{"a key that is not known", slices.DeleteFunc(slices.Clone(writing), func(path string) bool { return path == h.doc("/drafts") }), nil, `{"approved":true}`, 400},
		row{"no JSON", writing, nil, "decision=approve", 400},
		row{"two objects", writing, nil, "{}{}", 400},
		row{"a key in a comment", []string{h.doc("/decide")}, nil, h.with(map[string]any{"comments": []any{map[string]any{"kind": "change", "by": "x"}}}), 400},
		row{"another nonce", []string{h.doc("/decide")}, nil, h.with(map[string]any{"nonce": strings.Repeat("A", 43)}), 409},
		row{"no nonce", []string{h.doc("/decide")}, nil, h.with(map[string]any{"nonce": nil}), 409},
		row{"the nonce of another page", []string{h.doc("/decide")}, nil, h.with(map[string]any{"nonce": h.d.Nonce(h.session, "po", 1, "x")}), 409},
		row{"the nonce of a document to leave", []string{h.run() + "/leave"}, nil, h.with(map[string]any{"decision": "cancel", "sha256": nil}), 409},
		row{"another revision", deciding, nil, h.with(map[string]any{"revision": 1}), 409},
		row{"another document", []string{h.doc("/decide")}, nil, h.with(map[string]any{"sha256": strings.Repeat("a", 64)}), 409},
		row{"no hash", []string{h.doc("/decide")}, nil, h.with(map[string]any{"sha256": nil}), 409},
		row{"another stage", []string{h.run() + "/d/qa/decide"}, nil, good, 409},
		row{"a choice that is not offered", []string{h.doc("/decide")}, nil, h.with(map[string]any{"decision": "cancel"}), 400},
		row{"an override", []string{h.doc("/decide")}, nil, h.with(map[string]any{"decision": "override"}), 400},
		row{"answers, where none are asked", []string{h.doc("/decide")}, nil, h.with(map[string]any{"decision": "answer", "answers": map[string]string{"Q1": "x"}}), 400},
		row{"leaving by approval", []string{h.run() + "/leave"}, nil, good, 400},
		row{"a passkey, where none are used", []string{h.doc("/decide")}, nil, h.with(map[string]any{"passkey": map[string]any{"id": "x"}}), 403},
		row{"comments on lines that are not there", []string{h.doc("/decide")}, nil, h.with(map[string]any{"comments": []any{map[string]any{"from": 99999, "to": 99999, "kind": "change", "text": "x"}}}), 400},
		row{"ids that are none", []string{
			"/p/zzz/r/" + h.session + "/d/po/decide", "/p/0000000000/r/" + h.session + "/d/po/decide", "/p/" + h.project + "/r/nosuch/d/po/decide",
			"/p/" + h.project + "/r/" + strings.Repeat("a", 301) + "/d/po/decide", h.run() + "/d/nosuch/decide", "/p/" + h.project + "/r/%2e%2e%2f%2e%2e/leave",
		}, nil, good, 404},
		row{"words about a stage that is not there", []string{h.run() + "/d/nosuch/drafts"}, nil, `{"feedback":"x"}`, 404},
		row{"a code that nobody has approved", []string{"/pair/claim"}, nil, `{"code":"AAAAAAAA"}`, 404},
		row{"a launch that nobody has made", []string{"/pair/launch"}, nil, `{"launch":""}`, 409},
		row{"a wrong secret", []string{"/enter"}, nil, `{"secret":"x"}`, 401},
		row{"an empty secret", []string{"/enter"}, header("Cookie", "-"), `{"secret":""}`, 401},
	)
	before := h.tree()
	check := func(name, method, path string, head map[string]string, body string, want int) {
		status, text, _ := h.send(sending{method, path, body, head})
		if status != want {
			t.Errorf("%s: %s %s: %d, want %d: %.300s", name, method, path, status, want, text)
		}
		if method == http.MethodPost && status != http.StatusNoContent && want != http.StatusForbidden {
			var said struct{ Error, Hint, Code string }
			if err := json.Unmarshal([]byte(text), &said); err != nil || said.Error == "" || said.Hint == "" || said.Code == "" {
				t.Errorf("%s: %s says %.300s", name, path, text)
			}
		}
		if h.tree() != before {
			t.Fatalf("%s: %s %s has changed the project", name, method, path)
		}
	}
	for _, r := range rows {
		for _, path := range r.paths {
			method := http.MethodPost
			if r.body == "" || fmt.Sprint(r.paths) == fmt.Sprint(reading) {
				method, r.body = http.MethodGet, ""
			}
			check(r.name, method, path, r.header, r.body, r.want)
		}
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "GET"} {
		if status, _, _ := h.send(sending{method: method, path: h.doc("/decide"), body: good}); status < 400 {
			t.Errorf("%s decides: %d", method, status)
		}
	}
	h.still = true
	fast := h.d.Nonce(h.session, "po", h.storedSession().Revision, h.page["sha256"].(string))
	check("under a second", "POST", h.doc("/decide"), nil, h.with(map[string]any{"nonce": fast}), 403)
	h.still = false

	// After all of these, the person decides: the page that they read is still good.
	if status, text, _ := h.send(sending{method: "POST", path: h.doc("/drafts"), body: `{"feedback":"kept"}`}); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, text)
	}
	kept := filepath.Join(h.root, "state", "dashboard", "drafts")
	if files, _ := os.ReadDir(kept); len(files) != 1 {
		t.Errorf("%d drafts are kept", len(files))
	}
	words := h.with(map[string]any{"nonce": fast, "feedback": "well done", "comments": []any{map[string]any{"id": "c1", "from": 1, "to": 1, "kind": "question", "text": "why?"}}})
	status, text, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: words})
	if status != http.StatusOK || !strings.Contains(text, `"message":"Recorded. Now: Architect: the assistant works on it."`) {
		t.Fatalf("%d %s", status, text)
	}
	g := h.storedSession().Last().Grant
	if took, ok := g.Took(); g.Channel != workflow.ChannelBrowser || g.Assurance != workflow.AssuranceMedium || g.Client != "browser" || !ok || took < time.Second ||
		g.SHA256 != h.page["sha256"] || g.Policy != workflow.GateStrict || g.Feedback != "well done" || len(g.Comments) != 1 {
		t.Errorf("recorded as %+v", g)
	}
	if files, _ := os.ReadDir(kept); len(files) != 0 {
		t.Errorf("%d drafts are kept after they were sent", len(files))
	}
	before = h.tree()
	check("a replay", "POST", h.doc("/decide"), nil, words, 409)
	check("a page of before", "POST", h.doc("/decide"), nil, good, 409)
}

// storedSession returns the run as it is kept.
func (h *house) storedSession() *workflow.Session {
	h.t.Helper()
	s, _, err := h.engine.Session(h.t.Context(), project.Address{Cwd: h.folder, Session: h.session})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// TestShowsWhatIsDecided: the page shows the text that a decision saves, whatever an assistant
// writes into the folder of the project, or it takes no decision.
func TestShowsWhatIsDecided(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	ref := h.storedSession().Current().FinalResultRef
	kept := filepath.Join(h.folder, filepath.FromSlash(ref.FilePath))
	work := filepath.Join(h.folder, filepath.FromSlash(artifact.WorkPath(h.storedSession().TaskName, workflow.PO)))
	scored, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	const word = "FORGED"
	forged := word + "\n\n" + string(scored)
	page := func(query string) string {
		status, text, _ := h.send(sending{method: "GET", path: h.doc(query)})
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", query, status, text)
		}
		return text
	}
	for name, change := range map[string]func(){
		"the copy was edited": func() { h.put(kept, forged) },
		"the copy is gone": func() {
			if err := os.Remove(kept); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		for _, query := range []string{"", "?view=source", "?view=diff", "?view=split"} {
			if text := page(query); strings.Contains(text, word) || !strings.Contains(text, `data-nonce`) {
				t.Errorf("%s%s: the page shows another text, or takes no decision", name, query)
			}
		}
		h.put(kept, string(scored))
	}
	before := page("")
	h.put(kept, forged)
	h.put(work, forged)
	after := page("")
	if !strings.Contains(after, "The text that was scored is gone") || strings.Contains(after, "data-nonce") || !strings.Contains(before, "data-nonce") {
		t.Error("a text that was not scored can be decided on")
	}
	h.passes(3)
	tree := h.tree()
	if status, body, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: h.with(nil)}); status != http.StatusConflict || tree != h.tree() {
		t.Errorf("%d %s", status, body)
	}
}

// TestApprovesAnEdit: the page shows a draft as the person has edited it, names the change, and a decision
// takes the text that was shown.
func TestApprovesAnEdit(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	scored, err := os.ReadFile(filepath.Join(h.folder, filepath.FromSlash(h.storedSession().Current().FinalResultRef.FilePath)))
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(h.folder, filepath.FromSlash(artifact.WorkPath(h.storedSession().TaskName, workflow.PO)))
	decide := func() (int, string) {
		h.passes(3)
		status, body, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: h.with(nil)})
		return status, body
	}
	mine := string(scored) + "\nThe owner is Ann.\n"
	h.put(work, mine)
	tree := h.tree()
	if status, body := decide(); status != http.StatusConflict || tree != h.tree() {
		t.Errorf("a page from before the edit: %d %s", status, body)
	}
	for query, want := range map[string]string{
		"":            "The owner is Ann.",
		"?view=diff":  "<ins>",
		"?round=2":    "You read round 2; a later one was handed in.",
		"?view=split": "1 line was changed since it was scored: “The owner is Ann.”",
	} {
		status, text, _ := h.send(sending{method: "GET", path: h.doc(query)})
		if asks := strings.Contains(text, "Approve with this change"); status != http.StatusOK || !strings.Contains(text, want) || asks != (query != "?round=2") {
			t.Errorf("%s: %d, asks %v, no %q in %s", query, status, asks, want, text)
		}
	}
	h.read()
	source := func(text string) (int, string) {
		status, body, _ := h.send(sending{method: "GET", path: h.doc("/source?sha256=" + workflow.Hash([]byte(text)))})
		return status, body
	}
	if status, body := source(mine); status != http.StatusOK || !strings.Contains(body, "The owner is Ann.") {
		t.Errorf("the source of the page: %d %s", status, body)
	}
	for _, text := range []string{string(scored), ""} {
		if status, body := source(text); status != http.StatusConflict || strings.Contains(body, "Ann") {
			t.Errorf("the source of another page: %d %s", status, body)
		}
	}
	h.put(work, mine+"\nOr Bob.\n")
	tree = h.tree()
	if status, body := decide(); status != http.StatusConflict || tree != h.tree() {
		t.Errorf("edited once more: %d %s", status, body)
	}
	h.put(work, mine)
	h.read()
	if status, body := decide(); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	s := h.storedSession()
	saved, err := os.ReadFile(filepath.Join(h.folder, filepath.FromSlash(s.Record(workflow.PO).Artifact.Path)))
	if g := s.Last().Grant; err != nil || string(saved) != mine || g.SHA256 != workflow.Hash(saved) || g.Channel != workflow.ChannelBrowser {
		t.Errorf("%v, %+v: saved %q", err, g, saved)
	}
}

// TestTwoPagesDecide: of two that decide at the same time one does, and the other is told.
func TestTwoPagesDecide(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	first := h.with(nil)
	h.read()
	bodies := []string{first, first, h.with(nil), h.with(map[string]any{"decision": "request_changes", "feedback": "say more"})}
	statuses := make([]int, len(bodies))
	var all sync.WaitGroup
	for i, body := range bodies {
		all.Go(func() {
			var text string
			statuses[i], text, _ = h.send(sending{method: "POST", path: h.doc("/decide"), body: body})
			if statuses[i] != http.StatusOK && statuses[i] != http.StatusConflict {
				t.Errorf("%d %s", statuses[i], text)
			}
		})
	}
	all.Wait()
	won := 0
	for _, status := range statuses {
		if status == http.StatusOK {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d of them have decided: %v", won, statuses)
	}
}

// TestLeave: a run is cancelled by a page of the run that was shown, and by no other.
func TestLeave(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	revision := h.storedSession().Revision
	body := h.with(map[string]any{"decision": "cancel", "sha256": nil, "feedback": "no longer needed", "nonce": h.d.Nonce(h.session, "", revision, "")})
	status, text, _ := h.send(sending{method: "POST", path: h.run() + "/leave", body: body})
	s := h.storedSession()
	if g := s.Last().Grant; status != http.StatusOK || s.CurrentState != workflow.Cancelled || g.Decision != workflow.DecisionCancel || g.Channel != workflow.ChannelBrowser || g.Feedback != "no longer needed" {
		t.Errorf("%d %s: %s, %+v", status, text, s.CurrentState, g)
	}
}

// TestLaunch: the browser that the program opens is paired, once, and only in time.
func TestLaunch(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	launch := func(address string) (int, string) {
		_, word, _ := strings.Cut(address, "&p=")
		status, text, _ := h.send(sending{method: "POST", path: "/pair/launch", body: fmt.Sprintf(`{"launch":%q}`, word)})
		return status, text
	}
	address := h.d.Launch("/x")
	if !strings.HasPrefix(address, h.origin+"/x#k=") {
		t.Errorf("it opens %s", address)
	}
	if status, text := launch(address); status != http.StatusOK || !strings.Contains(text, `"key":"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := launch(address); status != http.StatusConflict || !strings.Contains(text, "used before") {
		t.Errorf("a second time: %d %s", status, text)
	}
	late := h.d.Launch("/")
	h.mu.Lock()
	h.clock = h.clock.Add(2 * time.Minute)
	h.mu.Unlock()
	if status, _ := launch(late); status != http.StatusConflict {
		t.Errorf("too late: %d", status)
	}
}

// TestReadOnly: nobody decides, though they may read.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t, true)
	h.enter()
	h.read()
	before := h.tree()
	for path, body := range map[string]string{h.doc("/decide"): h.with(nil), h.run() + "/leave": h.with(nil), h.doc("/sign"): h.with(nil), "/pair/claim": `{"code":"AAAAAAAA"}`, "/pair/launch": `{"launch":"x"}`} {
		if status, text, _ := h.send(sending{method: "POST", path: path, body: body}); status != http.StatusForbidden || !strings.Contains(text, "nothing is decided here") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if _, text, _ := h.send(sending{method: "GET", path: h.doc("")}); strings.Contains(text, `id="review"`) || !strings.Contains(text, "bmad-mcp decide") {
		t.Errorf("the page asks for a decision that it does not take: %s", text)
	}
	if _, text, _ := h.send(sending{method: "GET", path: "/pair"}); strings.Contains(text, "data-code") || h.tree() != before {
		t.Error("a browser can be paired")
	}
}

// TestEntry: a browser without script is let in by a form, and leads to no other site.
func TestEntry(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	status, text, _ := h.send(sending{method: "GET", path: "/settings?checks=all", header: map[string]string{"Accept-Language": "zh"}})
	if status != http.StatusUnauthorized || !strings.Contains(text, `value="/settings?checks=all"`) || !strings.Contains(text, "打开仪表板") || strings.Contains(text, h.folder) {
		t.Errorf("%d %s", status, text)
	}
	form := func(secret, back string) (int, http.Header) {
		head := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": "null", "Cookie": "-"}
		status, _, header := h.send(sending{"POST", "/enter", "secret=" + strings.ReplaceAll(secret, "#", "%23") + "&back=" + back, head})
		return status, header
	}
	for back, want := range map[string]string{"/settings": "/settings", "//evil.example": "/", "http://evil.example": "/", `/\evil.example`: "/", "javascript:alert(1)": "/", "": "/"} {
		if status, header := form(h.d.Address("/x"), back); status != http.StatusSeeOther || header.Get("Location") != want || header.Get("Set-Cookie") == "" {
			t.Errorf("%q: %d, to %q", back, status, header.Get("Location"))
		}
	}
	if status, header := form("wrong", "/"); status != http.StatusUnauthorized || header.Get("Set-Cookie") != "" {
		t.Errorf("a wrong secret: %d %v", status, header)
	}
	for _, origin := range []string{"http://127.0.0.1:1", "https://example.com", "http://localhost:1/", "localhost:1"} {
		if _, err := dashboard.New(dashboard.Options{Engine: h.engine, Origin: origin}); err == nil {
			t.Errorf("%q is taken for an origin of localhost", origin)
		}
	}
}

// passes lets the time of the clock go by.
func (h *house) passes(looks int) {
	for range looks {
		h.now()
	}
}
