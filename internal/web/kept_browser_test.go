package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// desk is a browser at a document that waits for its decision.
type desk struct {
	*browser
	w               *world
	d               *dashboard.Dashboard
	folder, session string
	page            string
}

// openDesk opens the document of a run in a paired browser.
func openDesk(t *testing.T, run string, steps ...string) *desk {
	t.Helper()
	k := &desk{browser: openBrowser(t), w: newWorld(t)}
	k.folder = k.w.project("relay")
	at := k.w.play(k.folder, run, steps...)
	k.session, k.d = at.SessionID, k.w.serveGuarded()
	k.page = dashboard.PageOf(k.folder, k.session, at.Stage)
	k.size(1280, 900)
	k.open(k.d.Launch(k.page))
	if at.State.WaitsForHuman() {
		k.ready()
	} else {
		k.await(`!!localStorage.getItem('bmad-key')`)
	}
	return k
}

// ready waits until the scripts of the page have run.
func (k *desk) ready() {
	k.t.Helper()
	k.await(`!!document.querySelector('#review:not([hidden])') && !!localStorage.getItem('bmad-key')`)
}

// again loads the page anew, at once.
func (k *desk) again() {
	k.t.Helper()
	k.do(chromedp.Do(k.ctx, chromedp.Reload()))
	k.ready()
}

// beside is another tab at the same page.
func (k *desk) beside() *desk {
	k.t.Helper()
	other := *k
	other.browser = k.tab()
	other.open(k.d.Address(k.page))
	other.ready()
	return &other
}

// comments opens an editor at a block, and types into it.
func (k *desk) comments(block int, text string) {
	k.t.Helper()
	before := look[int](k.browser, `document.querySelectorAll('.editor').length`)
	look[bool](k.browser, `(document.querySelectorAll('#paper [data-l]')[`+itoa(block)+`].dispatchEvent(new PointerEvent('pointerover', { bubbles: true })), document.getElementById('adder').click(), true)`)
	k.await(`document.querySelectorAll('.editor').length > ` + itoa(before) + ` && document.activeElement.name === 'text' && !document.activeElement.value`) // not the editor before
	k.keys(text)
}

func itoa(n int) string { return string(rune('0' + n)) }

// typedText returns the texts of the editors and fields of the page, and of the input that was not sent.
func (k *desk) typedText() string {
	k.t.Helper()
	return look[string](k.browser, `[...document.querySelectorAll('textarea')].map(f => f.value).concat([...document.querySelectorAll('.note.own [data-text], #unsent:not([hidden]) p')].map(n => n.textContent)).filter(Boolean).join(' / ')`)
}

// keeps fails if a text is not on the page.
func (k *desk) keeps(when string, texts ...string) {
	k.t.Helper()
	for _, text := range texts {
		if got := k.typedText(); !strings.Contains(got, text) {
			k.t.Errorf("%s: %q is lost, the page has %q", when, text, got)
		}
	}
}

var oneGate = []string{"po 01-po-first.md"}

// TestOpenEditorIsSentInABrowser: the text of an open editor goes with the decision.
func TestOpenEditorIsSentInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	k.comments(1, "first and open")
	k.comments(3, "second and open")
	if shown := look[string](k.browser, `document.querySelector('[data-comments]').textContent`); shown != "2" {
		t.Errorf("the page counts %s comments", shown)
	}
	k.press("[data-decision=request_changes]")
	k.awaitDecision("Recorded")
	var sent []string
	for _, c := range k.w.last(k.folder, k.session).Grant.Comments {
		sent = append(sent, c.Text)
	}
	if strings.Join(sent, ", ") != "first and open, second and open" {
		t.Errorf("sent were %q", sent)
	}
}

// TestTypedIsKeptInABrowser: no way to leave a page loses the input typed on it.
func TestTypedIsKeptInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	k.comments(1, "an open editor")
	k.write("#feedback", "some words")
	k.again()
	k.keeps("loaded again at once", "an open editor", "some words")
	k.press(".editor button:not([type])")
	k.again()
	k.keeps("loaded again once it was added", "an open editor", "some words")
	k.open(k.d.Address("/"))
	k.do(chromedp.Do(k.ctx, chromedp.NavigateBack()))
	k.ready()
	k.keeps("gone and come back", "an open editor", "some words")

	// Another kind of comment, and one that is edited and not added.
	k.press(".note.own [data-edit]")
	k.await(`document.activeElement.name === 'text'`)
	k.keys(", and edited")
	k.again()
	k.keeps("an edited comment", ", and edited")
	k.press("[data-cancel]")
	if got := k.typedText(); !strings.Contains(got, "an open editor") || strings.Contains(got, "and edited") {
		t.Errorf("cancelled, the page has %q", got)
	}

	// Two tabs, the second of which was opened before the first wrote.
	other := k.beside()
	k.comments(3, "of the first tab")
	k.write("#feedback", " and more")
	other.comments(2, "of the second tab")
	other.write("#feedback", " otherwise")
	other.again()
	other.keeps("the second tab", "of the first tab", "of the second tab", "some words and more", "some words otherwise")
	k.again()
	k.keeps("the first tab", "of the first tab", "of the second tab", "some words and more", "some words otherwise")

	// No network, and a key that has expired.
	block := func(patterns ...*network.BlockPattern) {
		_, err := chromedp.Call(k.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns})
		k.do(err)
	}
	_, err := chromedp.Call(k.ctx, network.Enable, network.EnableParams{})
	k.do(err)
	block(&network.BlockPattern{URLPattern: "*://*:*/*/drafts", Block: true})
	k.comments(4, "without a network")
	k.again()
	k.keeps("without a network", "without a network")
	block()
	look[bool](k.browser, `(localStorage.setItem('bmad-key', 'expired'), true)`)
	k.comments(4, "with an expired key")
	k.await(`!document.getElementById('unpaired').hidden`)
	k.again()
	k.keeps("with an expired key", "with an expired key")
}

// TestTwoBrowsersInABrowser: two browsers that share no storage lose nothing of each other's words.
func TestTwoBrowsersInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	other := *k
	other.browser = openBrowser(t)
	other.open(k.d.Launch(k.page))
	other.ready()
	k.comments(1, "on the laptop")
	k.write("#feedback", "typed here")
	k.await(`(async () => (await (await fetch(location.href)).text()).includes('typed here'))()`)
	other.comments(2, "on the phone")
	other.write("#feedback", "typed there")
	other.await(`(async () => { const t = await (await fetch(location.href)).text(); return t.includes('typed there') && t.includes('typed here'); })()`)
	for _, desk := range []*desk{k, &other} {
		desk.again()
		desk.keeps("loaded again", "on the laptop", "on the phone", "typed here", "typed there")
	}
	// The decision of one sends its own texts, and leaves those typed in the other since.
	other.write("#feedback", " since")
	other.await(`(async () => (await (await fetch(location.href)).text()).includes('since'))()`)
	k.press("[data-decision=approve]")
	k.awaitDecision("Recorded")
	if g := k.w.last(k.folder, k.session).Grant; len(g.Comments) != 2 || strings.Contains(g.Feedback, "since") {
		t.Errorf("sent were %+v", g)
	}
	other.await(`document.getElementById('stale')?.hidden === false`)
	other.keeps("behind the other", "since")
	other.do(chromedp.Do(other.ctx, chromedp.Reload()))
	other.await(`document.getElementById('unsent')?.hidden === false`)
	other.keeps("at the next stage", "since")
	if got := other.typedText(); strings.Contains(got, "on the laptop") {
		t.Errorf("what was sent is offered again: %q", got)
	}
}

// TestUnpairedIsKeptInABrowser: a browser that may not decide keeps the words until it may.
func TestUnpairedIsKeptInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	look[bool](k.browser, `(localStorage.removeItem('bmad-key'), true)`)
	k.do(chromedp.Do(k.ctx, chromedp.Reload()))
	k.await(`!!document.querySelector('#review:not([hidden])')`)
	k.comments(1, "before it is paired")
	k.do(chromedp.Do(k.ctx, chromedp.Reload()))
	k.await(`!!document.querySelector('.editor')`)
	k.open(k.d.Launch(k.page))
	k.ready()
	k.keeps("paired", "before it is paired")
	k.press("[data-decision=request_changes]")
	k.awaitDecision("Recorded")
	if g := k.w.last(k.folder, k.session).Grant; len(g.Comments) != 1 || g.Comments[0].Text != "before it is paired" {
		t.Errorf("sent were %+v", g)
	}
}

// TestAnswersAreKeptInABrowser: answers are kept as they are typed, and an offered one does not
// replace them.
func TestAnswersAreKeptInABrowser(t *testing.T) {
	k := openDesk(t, "webhook-relay", oneGate...)
	k.write("fieldset:not([hidden]) [data-question]", "my own answer")
	k.again()
	k.keeps("loaded again", "my own answer")
	if look[bool](k.browser, `!!document.querySelector('fieldset [data-option]')`) {
		look[bool](k.browser, `(() => { const f = document.querySelector('fieldset:has([data-option]) textarea'); f.value = 'an answer of mine'; f.dispatchEvent(new Event('input')); return true; })()`)
		look[bool](k.browser, `(() => {
			const [back, next] = document.querySelectorAll('[data-step]');
			while (!back.disabled) back.click();
			while (document.querySelector('fieldset:has([data-option])').hidden) next.click();
			return true;
		})()`)
		k.press("fieldset:not([hidden]) [data-option]")
		k.keeps("with an option", "an answer of mine")
	}
}

// TestOtherFieldsAreKeptInABrowser: the words with which a run is left, and a search.
func TestOtherFieldsAreKeptInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", "po 01-po-first.md", "yes")
	k.open(k.d.Address(dashboard.PageOf(k.folder, k.session, "")))
	k.await(`document.getElementById('leaves')?.hidden === false`)
	k.press("#leave summary")
	k.write("#leave-words", "opening hours are missing")
	k.write("input[type=search]", "half a se")
	k.do(chromedp.Do(k.ctx, chromedp.Reload()))
	k.await(`document.getElementById('leaves')?.hidden === false`)
	k.keeps("loaded again", "opening hours are missing")
	if got := look[string](k.browser, `document.querySelector('input[type=search]').value`); got != "half a se" {
		t.Errorf("the search has %q", got)
	}
	k.press("#leaves [data-decision=reopen]")
	k.await(`document.querySelector('.state').innerText.includes('PO')`)
	k.await(`document.getElementById('leaves')?.hidden === false`)
	if got := k.typedText(); strings.Contains(got, "opening hours") {
		t.Errorf("what was sent is there again: %q", got)
	}
}

// TestStaleInABrowser: a page that has changed says so wherever its reader is, and the new one has the input
// typed on it.
func TestStaleInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	k.comments(1, "on the page of before")
	look[bool](k.browser, `(scrollTo(0, document.body.scrollHeight), true)`)
	yes := false
	k.w.do(k.folder, request.Request{Action: workflow.ActionConfirm, Address: project.Address{Session: k.session}, Decision: request.Decision{Yes: &yes, Feedback: "more"}})
	k.await(`document.getElementById('stale')?.hidden === false`)
	for _, top := range []int{0, 400, 100_000} {
		look[bool](k.browser, fmt.Sprintf(`(scrollTo({ top: %d, behavior: 'instant' }), true)`, top))
		if !look[bool](k.browser, `(() => { const box = document.querySelector('#stale button').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; })()`) {
			t.Errorf("scrolled to %d, the news is out of sight", top)
		}
	}
	if !look[bool](k.browser, `[...document.querySelectorAll('[data-decision]')].every((b) => b.disabled)`) {
		t.Error("a page whose run has moved on still decides")
	}
	k.press("#stale button")
	k.await(`document.getElementById('unsent')?.hidden === false`)
	k.keeps("on the new page", "on the page of before")
	k.press("#unsent button")
	k.await(`document.getElementById('unsent').hidden`)
}
