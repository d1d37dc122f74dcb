package web_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// serveGuarded serves the world behind the door, at an origin of its own.
func (w *world) serveGuarded(with ...func(*dashboard.Options)) *dashboard.Dashboard {
	w.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	origin, state := "http://localhost:"+port, filepath.Join(w.root, "state")
	keys, err := passkey.New(passkey.Options{Folder: state, Origins: []string{origin}, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	o := dashboard.Options{
		Version: "1.2.3", Engine: w.engine, Memory: w.memory, State: filepath.Join(state, "dashboard"),
		Origin: origin, Pairing: state, Passkeys: keys,
	}
	for _, set := range with {
		set(&o)
	}
	d, err := dashboard.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	server := &http.Server{Handler: d.Guarded()}
	go func() { _ = server.Serve(listener) }()
	w.t.Cleanup(func() { d.Close(context.Background()); _ = server.Close() })
	return d
}

// press clicks the element that a selector finds.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.await("(document.querySelector(" + quote(selector) + ")?.scrollIntoView({ block: 'center', behavior: 'instant' }), !!document.querySelector(" + quote(selector) + "))")
	b.do(chromedp.Do(b.ctx, chromedp.Click(selector)))
}

// write types into the field that a selector finds, and opens what holds it.
func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.await("(document.querySelector(" + quote(selector) + ")?.closest('details')?.setAttribute('open', ''), !!document.querySelector(" + quote(selector) + "))")
	b.do(chromedp.Do(b.ctx, chromedp.SendKeys(selector, text)))
}

// hearNothing gives a stale page its buttons back, as one has that hears nothing of the server.
func (b *browser) hearNothing() {
	b.t.Helper()
	b.await(`document.getElementById('stale').hidden === false`)
	look[bool](b, `(document.querySelectorAll('[data-decision]').forEach((b) => { b.disabled = false; }), true)`)
}

func quote(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// awaitDecision waits for the answer to a decision.
func (b *browser) awaitDecision(words string) {
	b.t.Helper()
	b.await("document.getElementById('result').innerText.includes(" + quote(words) + ")")
}

// last returns the newest entry of a run.
func (w *world) last(folder, session string) workflow.Transition {
	w.t.Helper()
	s, _, err := w.engine.Session(w.t.Context(), project.Address{Cwd: folder, Session: session})
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Last()
}

// TestPersonInABrowser: a person answers, comments, asks for changes, reads the fate of the comments, and
// approves; the assistant hands in each document that it is asked for.
func TestPersonInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	folder := w.project("relay")
	const run = "webhook-relay"
	at := w.play(folder, run, "po 01-po-first.md")
	d := w.serveGuarded()
	b.size(1280, 900)
	b.open(d.Launch("/"))
	b.press("#waits ~ .rows a")
	b.await(`document.querySelectorAll('[data-question]').length > 0`)
	b.write("fieldset:not([hidden]) [data-question]", "two thousand a day")
	b.press("[name=skip_rest]")
	b.press("[data-decision=answer]")
	b.awaitDecision("Recorded")
	if g := w.last(folder, at.SessionID).Grant; g == nil || g.Channel != workflow.ChannelBrowser || g.Assurance != workflow.AssuranceMedium || g.TookMS == nil {
		t.Fatalf("the answers have the grant %+v", g)
	}

	// The page says that the next round was handed in, and stays as it is until the person asks.
	b.press("#result a:last-child")
	b.await(`document.body.dataset.screen === 'run'`)
	w.do(folder, request.Request{Action: workflow.ActionSubmit, Address: project.Address{Session: at.SessionID}, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: w.sample(run, "03-po-second.json")}}}})
	b.press("#live button")
	b.press("a.button")
	b.await(`!!document.querySelector('#review:not([hidden]) [data-decision=approve]')`) // its script is there

	// A comment on a line, and the request for changes.
	for range 4 {
		b.keys("j")
	}
	b.keys("c")
	b.await(`document.activeElement?.name === 'text'`)
	b.keys("name the owner")
	b.press(".editor .primary")
	b.await(`document.querySelector('[data-comments]').textContent === '1'`)
	b.press("[data-decision=request_changes]")
	b.awaitDecision("Recorded")
	last := w.last(folder, at.SessionID)
	if len(last.Grant.Comments) != 1 || last.Grant.Comments[0].Text != "name the owner" || last.Grant.Comments[0].From == 0 {
		t.Fatalf("the decision has the comments %+v", last.Grant.Comments)
	}

	// The assistant takes it up by its id; the next version shows its fate.
	id := last.Grant.Comments[0].ID
	var envelope map[string]any
	if err := json.Unmarshal([]byte(w.sample(run, "03-po-second.json")), &envelope); err != nil {
		t.Fatal(err)
	}
	for key, value := range envelope {
		if text, ok := value.(string); ok && len(text) > 5_000 {
			envelope[key] = strings.Replace(text, "\n## ", "\nThe owner is Ada.\n\n## ", 1)
		}
	}
	envelope["resolved"] = []any{map[string]any{"id": id, "how": "the owner is named"}}
	text, err := json.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	w.do(folder, request.Request{Action: workflow.ActionSubmit, Address: project.Address{Session: at.SessionID}, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: string(text)}}}})
	b.open(d.Address("/"))
	b.press("#waits ~ .rows a")
	b.await(`[...document.querySelectorAll('.note.comment .became')].some(n => n.innerText.includes('the owner is named'))`)
	b.press("#to-diff")
	b.await(`document.querySelectorAll('.diff ins').length > 0`)
	b.await(`!document.getElementById('review').hidden`)
	b.keys("a")
	b.await(`document.activeElement?.dataset.decision === 'approve'`)
	b.keys("\r")
	b.awaitDecision("Recorded")
	if last := w.last(folder, at.SessionID); last.ToStage() != workflow.Architect || last.Grant.Channel != workflow.ChannelBrowser {
		t.Errorf("the decision led to %s by %+v", last.To, last.Grant)
	}
}

// TestTwoTabsInABrowser: of two decisions one counts, whoever was faster, and the other's words
// stay on the page.
func TestTwoTabsInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	folder := w.project("relay")
	at := w.play(folder, "zh-booking", "po 01-po-first.md")
	d := w.serveGuarded()
	page := dashboard.PageOf(folder, at.SessionID, "po")
	b.open(d.Launch(page))
	b.await(`!!document.querySelector('[data-decision=approve]') && !!localStorage.getItem('bmad-key')`)
	other := b.tab()
	other.open(d.Address(page))
	other.await(`!!document.querySelector('#review:not([hidden])')`)
	other.write("#feedback", "keep these words")
	b.press("[data-decision=approve]")
	b.awaitDecision("Recorded")
	other.hearNothing()
	other.press("[data-decision=request_changes]")
	other.awaitDecision("was faster")
	if words := look[string](other, `document.getElementById('feedback').value`); words != "keep these words" {
		t.Errorf("the page has the words %q", words)
	}
	if last := w.last(folder, at.SessionID); last.Event != workflow.EventConfirmed {
		t.Errorf("the last entry is %s", last.Event)
	}
	// A host at the same gate loses the same way.
	yes := true
	revision := at.Revision
	_, err := w.engine.Do(t.Context(), request.Request{Action: workflow.ActionConfirm, Address: project.Address{Cwd: folder, Session: at.SessionID}, Revision: &revision, Decision: request.Decision{Yes: &yes}, Caller: request.Caller{Via: workflow.ChannelRelayed, By: "host"}})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("the host got %v", err)
	}
}

// TestUnpairedInABrowser: a browser that only reads is told how to pair, and its page of another
// port gets nowhere.
func TestUnpairedInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	folder := w.project("relay")
	at := w.play(folder, "zh-booking", "po 01-po-first.md")
	d := w.serveGuarded()
	page := dashboard.PageOf(folder, at.SessionID, "po")
	b.open(d.Address(page))
	b.await(`document.body.dataset.screen === 'document'`)
	b.press("[data-decision=approve]")
	b.awaitDecision("may not decide")
	b.press("#result a:last-child")
	b.await(`!!document.querySelector('[data-code]')`)
	code := look[string](b, `document.querySelector('[data-code]').dataset.code`)
	if _, err := pairing.Approve(filepath.Join(w.root, "state"), code, w.now()); err != nil {
		t.Fatal(err)
	}
	b.await(`!!localStorage.getItem('bmad-key')`)

	// A page of another port has the cookie with it, and neither key nor storage.
	evil := newWorld(t)
	b.open(evil.server.URL + "/")
	if key := look[string](b, `localStorage.getItem('bmad-key') ?? ''`); key != "" {
		t.Error("the page of another port reads the key")
	}
	target := strings.SplitN(d.Address("/"), "/#", 2)[0] + page + "/decide"
	got := settle[string](b, `fetch(`+quote(target)+`, {method: 'POST', mode: 'no-cors', credentials: 'include', headers: {'Content-Type': 'text/plain'}, body: '{"decision":"approve"}'}).then(r => r.type, e => e.name)`)
	if last := w.last(folder, at.SessionID); last.Grant != nil {
		t.Errorf("a page of another port decided (%s): %+v", got, last.Grant)
	}
}

// TestPasskeyInABrowser: a decision that an authenticator has signed is recorded with high
// assurance, and can be checked afterwards.
func TestPasskeyInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	folder := w.project("relay")
	at := w.play(folder, "zh-booking", "po 01-po-first.md")
	d := w.serveGuarded()
	_, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{})
	b.do(err)
	_, err = chromedp.Call(b.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	b.do(err)
	b.open(d.Launch("/settings"))
	b.await(`!!localStorage.getItem('bmad-key') && !!document.querySelector('form[data-passkeys]:not([hidden])')`)
	code := look[string](b, `document.querySelector('form[data-passkeys]').dataset.code`)
	b.write("form[data-passkeys] [name=name]", "laptop")
	b.press("form[data-passkeys] button")
	b.await(`document.querySelector('form[data-passkeys] output').textContent.includes('pair')`)
	if _, err := pairing.Approve(filepath.Join(w.root, "state"), code, w.now()); err != nil {
		t.Fatal(err)
	}
	b.await(`document.querySelector('form[data-passkeys] output').textContent.includes('laptop')`)
	if said := look[string](b, `document.body.innerText`); strings.Contains(said, "No passkey is in use") || strings.Count(said, "laptop") < 2 {
		t.Errorf("beside the passkey that was added, the page says %q", said)
	}
	b.open(d.Address(dashboard.PageOf(folder, at.SessionID, "po")))
	b.await(`!!document.querySelector('[name=sign]')`)
	b.write("#feedback", "looks right")
	b.press("[data-decision=approve]")
	b.awaitDecision("Recorded")
	g := w.last(folder, at.SessionID).Grant
	if g == nil || g.Channel != workflow.ChannelPasskey || g.Assurance != workflow.AssuranceHigh || g.Passkey == nil {
		t.Fatalf("the decision has the grant %+v", g)
	}
	b.open(d.Address(strings.TrimSuffix(dashboard.PageOf(folder, at.SessionID, ""), "/") + "/log"))
	b.await(`document.body.innerText.includes('passkey')`)
}

// TestChineseInABrowser: the whole decision in Chinese, with the keys alone.
func TestChineseInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	folder := w.project("booking")
	at := w.play(folder, "zh-booking", "po 01-po-first.md")
	d := w.serveGuarded()
	b.open(d.Launch(dashboard.PageOf(folder, at.SessionID, "po") + "?lang=zh"))
	b.await(`document.documentElement.lang === 'zh-CN' && !!document.querySelector('#review:not([hidden])') && !!localStorage.getItem('bmad-key')`)
	b.keys("x")
	b.await(`document.activeElement?.dataset.decision === 'request_changes'`)
	b.keys("\r")
	b.awaitDecision("请说明要修改什么")
	b.await(`document.activeElement?.id === 'feedback'`)
	b.keys("补充负责人")
	b.keys("\t\t")
	b.do(chromedp.Do(b.ctx, chromedp.Focus(`[data-decision=request_changes]`), chromedp.KeyEvent("\r")))
	b.awaitDecision("已记录")
	if last := w.last(folder, at.SessionID); last.Feedback != "补充负责人" {
		t.Errorf("the words are %q", last.Feedback)
	}
}

// TestPrintInABrowser: a document is printed without the means to decide.
func TestPrintInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	w.relay()
	b.open(w.server.URL + w.waiting())
	data, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	b.do(err)
	if !strings.HasPrefix(string(data), "%PDF") || len(data) < 20_000 {
		t.Errorf("the print has %d bytes", len(data))
	}
}

// TestLeaveInABrowser: a person takes a run back to an earlier stage, and ends it, on its page.
func TestLeaveInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	folder := w.project("booking")
	at := w.play(folder, "zh-booking", "po 01-po-first.md", "yes")
	d := w.serveGuarded()
	b.open(d.Launch(dashboard.PageOf(folder, at.SessionID, "") + "?lang=en"))
	b.await(`!!localStorage.getItem('bmad-key') && !document.getElementById('leaves').hidden`)
	b.press("#leave summary")
	b.press("#leaves [data-decision=reopen]")
	b.await(`document.getElementById('left').innerText.includes('Say what is to change')`)
	b.write("#leave-words", "opening hours are missing")
	b.press("#leaves [data-decision=reopen]")
	b.await(`document.querySelector('.state').innerText.includes('PO')`)
	if last := w.last(folder, at.SessionID); last.Event != workflow.EventReopened || last.Grant.Channel != workflow.ChannelBrowser || last.Feedback != "opening hours are missing" {
		t.Errorf("the last entry is %s by %+v", last.Event, last.Grant)
	}
	b.await(`!document.getElementById('leaves').hidden`)
	b.press("#leave summary")
	b.press("#leaves [data-decision=cancel]")
	b.await(`document.getElementById('left').innerText.includes('Press again')`)
	if last := w.last(folder, at.SessionID); last.Event != workflow.EventReopened {
		t.Errorf("one press led to %s", last.Event)
	}
	b.press("#leaves [data-decision=cancel]")
	b.await(`document.querySelector('.state').innerText.includes('cancelled')`)
}
