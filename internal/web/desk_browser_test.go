package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestReplacementInABrowser: a replacement starts from the source of its lines, and a quote keeps
// the cells of a row apart.
func TestReplacementInABrowser(t *testing.T) {
	k := openDesk(t, "webhook-relay", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes", "architect 04-architect-first.md")
	row := look[string](k.browser, `(() => { const r = [...document.querySelectorAll('#paper tr[data-l]')].find(r => r.querySelector('td code, td strong')); r.focus(); return r.dataset.l; })()`)
	k.keys("c")
	k.await(`document.activeElement?.name === 'text'`)
	look[bool](k.browser, `(document.querySelector('.editor [value=edit]').click(), true)`)
	at, _, _ := strings.Cut(row, "-")
	source := settle[string](k.browser, `fetch(document.getElementById('review').dataset.source).then(r => r.json()).then(t => t.split('\n')[`+at+` - 1])`)
	k.await(`document.querySelector('.editor [name=replace]').value`)
	if got := look[string](k.browser, `document.querySelector('.editor [name=replace]').value`); got != source || !strings.HasPrefix(got, "|") || !strings.ContainsAny(got, "`*") {
		t.Errorf("line %s is offered as %q, and is %q", at, got, source)
	}
	if quote := look[string](k.browser, `document.querySelector('.editor [data-quote]').textContent`); strings.Count(quote, " | ") == 0 {
		t.Errorf("the quote is %q", quote)
	}
}

// TestPhoneInABrowser: at the width of a phone an editor opens below its block, tables keep their
// words whole in a box that scrolls, and two versions stand in one column.
func TestPhoneInABrowser(t *testing.T) {
	k := openDesk(t, "webhook-relay", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes", "architect 04-architect-first.md",
		"no explain how ordering is kept for each merchant", "architect 05-architect-second.md")
	k.size(390, 844)
	k.again()
	for _, block := range []string{"p", "li", "tr:has(td)", "pre:not([data-diagram])"} {
		const gap = `(() => { const a = document.querySelector('.editor').getBoundingClientRect(), b = window.block.getBoundingClientRect(); return a.top >= b.top && a.top < innerHeight && b.bottom > 0 ? a.top - b.bottom : 9999; })()`
		look[bool](k.browser, `(window.block = document.querySelector('#paper `+block+`[data-l]:not(:has([data-l]))'), block.scrollIntoView({ block: 'center' }), block.focus(), true)`)
		k.keys("c")
		k.await(`document.activeElement?.name === 'text'`)
		if at := look[float64](k.browser, gap); at > 60 {
			t.Errorf("the editor of a %s opens %.0f pixels from it", block, at)
		}
		k.press("[data-cancel]")
		if !look[bool](k.browser, `document.activeElement === window.block`) {
			t.Errorf("the focus does not return to the %s", block)
		}
	}
	if broken := look[string](k.browser, `(() => {
		for (const cell of document.querySelectorAll('#paper td, #paper th')) {
			const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
			for (let n; (n = walker.nextNode());) for (const m of n.data.matchAll(/[A-Za-z]{2,}/g)) {
				const range = document.createRange();
				range.setStart(n, m.index); range.setEnd(n, m.index + m[0].length);
				if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) return m[0];
			}
		}
		return '';
	})()`); broken != "" {
		t.Errorf("a column breaks %q", broken)
	}
	if wide := look[int](k.browser, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	height := func(view string) int {
		k.open(k.d.Address(k.page + "?view=" + view))
		k.await(`document.readyState === 'complete'`)
		return look[int](k.browser, `document.querySelector('.diff').offsetHeight`)
	}
	if one, two := height("diff"), height("split"); two > one*5/4 {
		t.Errorf("side by side is %d pixels tall, the differences are %d", two, one)
	}
}

// TestKeyboardInABrowser: Tab reaches a paragraph and the button that comments on it, keys move the
// focus itself, and it returns when an editor is closed.
func TestKeyboardInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	look[bool](k.browser, `(document.querySelector('#paper [data-l]').previousElementSibling?.focus(), document.querySelector('#to-diff, nav[aria-label] a:last-of-type')?.focus(), true)`)
	const onBlock = `document.activeElement.matches('#paper [data-l]')`
	for range 30 {
		if look[bool](k.browser, onBlock) {
			break
		}
		k.keys("\t")
	}
	if !look[bool](k.browser, onBlock) {
		t.Fatal("Tab reaches no block")
	}
	first := look[string](k.browser, `document.activeElement.id`)
	k.keys("\t")
	if got := look[string](k.browser, `document.activeElement.id`); got != "adder" {
		t.Fatalf("Tab leads from the block to %q", got)
	}
	k.keys("\r")
	k.await(`document.activeElement?.name === 'text'`)
	k.keys("by the keyboard alone")
	b := k.browser
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))))
	k.await(`document.activeElement.id === ` + quote(first))
	k.keys("j")
	if now := look[string](k.browser, `document.activeElement.id`); now == first || !look[bool](k.browser, onBlock) {
		t.Errorf("j leads from %s to %s", first, now)
	}
	k.keys("\r")
	k.await(`document.activeElement?.name === 'text'`)
	k.keys("\x1b")
	k.await(onBlock)
	if n := look[int](k.browser, `document.querySelectorAll('.editor').length`); n != 0 {
		t.Errorf("%d empty editors stay", n)
	}
}

// TestOneCountInABrowser: the question and the differences count the same lines, and lines that are
// folded can be opened.
func TestOneCountInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", "po 01-po-first.md", "no name the owner")
	first := k.w.sample("zh-booking", "01-po-first.md")
	text := strings.Replace(first, `\n\n## `, `\n\nThe owner is Ada.\n\nShe decides.\n\n## `, 1)
	k.w.do(k.folder, request.Request{Action: workflow.ActionSubmit, Address: project.Address{Session: k.session}, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: text}}}})
	k.open(k.d.Address(k.page + "?view=diff&lang=en"))
	k.ready()
	const figures = `.match(/(\d+) lines added, (\d+)/).slice(1).join()`
	page, gate := look[string](k.browser, `document.getElementById('stat').textContent`+figures), look[string](k.browser, `[...document.querySelectorAll('.facts li')].find(l => l.textContent.startsWith('Changed')).textContent`+figures)
	if page != gate {
		t.Errorf("the page counts %s, the question %s", page, gate)
	}
	before := look[int](k.browser, `document.querySelectorAll('.diff tbody:not([hidden]) tr').length`)
	anchor := look[string](k.browser, `document.querySelector('.skipped a').hash`)
	k.press(".skipped a")
	k.await(`document.querySelectorAll('.diff tbody:not([hidden]) tr').length > ` + "0" + ` && !document.querySelector('.skipped')`)
	if after := look[int](k.browser, `document.querySelectorAll('.diff tbody:not([hidden]) tr').length`); after <= before || !look[bool](k.browser, `!!document.querySelector(`+quote(anchor)+`)`) {
		t.Errorf("opened, %d rows became %d", before, after)
	}
}

// TestSaidOnceInABrowser: the parts of a page agree about each thing.
func TestSaidOnceInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	k.open(k.d.Address(k.page + "?lang=en"))
	k.ready()
	if said := look[string](k.browser, `document.body.innerText`); strings.Contains(said, "Confirm") || !strings.Contains(said, "Approve") {
		t.Error("the page confirms, too")
	}
	k.comments(1, "name the owner")
	other := k.beside()
	k.press("[data-decision=request_changes]")
	k.awaitDecision("Recorded")
	other.hearNothing()
	other.press("[data-decision=approve]")
	other.awaitDecision("was faster")
	if said := look[string](other.browser, `document.getElementById('result').innerText`); strings.Contains(said, "UTC") || strings.Contains(said, "T0") {
		t.Errorf("the answer has a time of its own: %q", said)
	}
	k.press("#result a:last-child")
	k.await(`document.body.dataset.screen === 'run'`)
	if said := look[string](k.browser, `(document.querySelectorAll('.timeline details').forEach(d => { d.open = true; }), document.querySelector('.timeline').innerText)`); !strings.Contains(said, "went with it: 1") || !strings.Contains(said, "name the owner") {
		t.Errorf("the timeline says %q", said)
	}
}

// TestCriticalInABrowser: a stage that was passed with a critical finding says so beside its score.
func TestCriticalInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	at := k.w.do(k.folder, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "a thin run", TaskName: "thin"}})
	at = k.w.do(k.folder, request.Request{Action: workflow.ActionSubmit, Address: project.Address{Session: at.SessionID}, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: "# Thin\n\nWords.\n\nQuality Score: 95/100\n"}}}})
	yes := true
	k.w.do(k.folder, request.Request{Action: workflow.ActionConfirm, Address: project.Address{Session: at.SessionID}, Decision: request.Decision{Yes: &yes}})
	k.open(k.d.Address(dashboard.PageOf(k.folder, at.SessionID, "") + "?lang=en"))
	k.await(`document.body.dataset.screen === 'run'`)
	if row := look[string](k.browser, `document.querySelector('.rail .done').innerText`); !strings.Contains(row, "critical") || !look[bool](k.browser, `!!document.querySelector('.rail .done .bad')`) {
		t.Errorf("the stage says %q", row)
	}
}

// TestFatesInABrowser: a declined comment looks unlike one that was taken up.
func TestFatesInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	k.comments(1, "first")
	k.comments(3, "second")
	k.press("[data-decision=request_changes]")
	k.awaitDecision("Recorded")
	at := k.w.last(k.folder, k.session).Grant.Comments
	text, err := json.Marshal(map[string]any{
		"prd": k.w.sample("zh-booking", "01-po-first.md"), "quality_score": 95,
		"resolved": []any{map[string]any{"id": at[0].ID, "how": "done"}, map[string]any{"id": at[1].ID, "status": "declined", "how": "not now"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k.w.do(k.folder, request.Request{Action: workflow.ActionSubmit, Address: project.Address{Session: k.session}, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: string(text)}}}})
	k.again()
	colours := look[string](k.browser, `[...document.querySelectorAll('.became')].map(n => n.innerText.slice(0, 1) + getComputedStyle(n).color).join(' ')`)
	parts := strings.SplitN(colours, " ", 2)
	if !strings.Contains(colours, "✓") || !strings.Contains(colours, "✗") || len(parts) < 2 {
		t.Errorf("the fates are %q", colours)
	}
}
