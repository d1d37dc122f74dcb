package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// writeLong returns a document of 5,000 words with tables, lists and 12 diagrams.
func writeLong() string {
	var b strings.Builder
	b.WriteString("# A long document\n\nIt has many sections.\n")
	for i := range 36 {
		fmt.Fprintf(&b, "\n## %d. Section\n\n", i+1)
		for range 3 {
			b.WriteString(strings.Repeat("Each `lease` ends with **its** fence, and the worker that lost it writes nothing more. ", 2) + "\n\n")
		}
		b.WriteString("- one item with some words of its own\n- another item beside it\n- and the last one\n\n| Part | Cost | Why |\n|---|---|---|\n| the queue | 3 | it holds what is late |\n| the store | 4 | it holds the rest |\n")
		if i%3 == 0 {
			fmt.Fprintf(&b, "\n```mermaid\nflowchart LR\n  a%d[Start] --> b[Middle] --> c[End]\n  b --> d[Aside]\n```\n", i)
		}
	}
	return b.String()
}

// TestLongReviewInABrowser: with a document of 5,000 words, 40 comments and 12 diagrams an act changes few elements, and
// nothing that is read moves when the notes arrive.
func TestLongReviewInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	at := k.w.do(k.folder, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "a long document", TaskName: "long"}})
	k.w.do(k.folder, request.Request{Action: workflow.ActionSubmit, Address: project.Address{Session: at.SessionID}, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: writeLong() + "\n```json\n{\"quality_score\": 95}\n```\n"}}}})
	k.page = dashboard.PageOf(k.folder, at.SessionID, "po")
	k.open(k.d.Address(k.page + "?lang=en"))
	k.ready()
	look[bool](k.browser, `(() => {
		const blocks = [...document.querySelectorAll('#paper :is(p, li, tr)[data-l]')], items = {};
		for (let i = 0; i < 40; i++) {
			const [from, to] = blocks[i * 7].dataset.l.split('-').map(Number);
			items['k' + i] = { at: Date.now(), comment: { from, to, kind: 'change', quote: blocks[i * 7].textContent.slice(0, 40), text: 'say more about it, number ' + i } };
		}
		localStorage.setItem('bmad-words:' + document.getElementById('paper').dataset.drafts + 'other', JSON.stringify(items));
		return true;
	})()`)
	for _, width := range []int64{390, 1440} {
		k.size(width, 900)
		k.again()
		k.await(`document.querySelectorAll('.note.own').length >= 40`)
		look[bool](k.browser, `(() => {
			window.seen = { shift: 0, slow: 0, changes: 0 };
			new PerformanceObserver((l) => { for (const e of l.getEntries()) if (!e.hadRecentInput) seen.shift += e.value; }).observe({ type: 'layout-shift', buffered: true });
			new PerformanceObserver((l) => { for (const e of l.getEntries()) seen.slow = Math.max(seen.slow, e.duration); }).observe({ type: 'event', durationThreshold: 16 });
			new MutationObserver((l) => { for (const m of l) if (!m.target.closest?.('figure, .diagram')) seen.changes++; }).observe(document, { subtree: true, childList: true, attributes: true });
			return true;
		})()`)
		k.do(chromedp.Do(k.ctx, chromedp.Sleep(300*time.Millisecond)))
		if shift := look[float64](k.browser, `seen.shift`); shift > 0 {
			t.Errorf("at %d the page shifts by %f", width, shift)
		}
		for _, act := range []struct {
			name, met string
			do        func()
		}{
			{"next block", `document.activeElement.matches('[data-l]')`, func() { k.keys("jjj") }},
			{"next note", `document.activeElement.matches('.note')`, func() { k.keys("n") }},
			{"open an editor", `document.activeElement.name === 'text'`, func() { k.keys("jc") }},
			{"type", `document.activeElement.value === 'abc'`, func() { k.keys("abc") }},
			{"replace", `document.querySelector('.editor [name=replace]').value`, func() { look[bool](k.browser, `(document.querySelector('.editor [value=edit]').click(), true)`) }},
			{"add", `!document.querySelector('.editor')`, func() { look[bool](k.browser, `(document.querySelector('.editor .primary').click(), true)`) }},
			{"select", `!document.getElementById('toolbar').hidden`, func() { k.selectWords("#paper .s:nth-child(5) p[data-l]", 6) }},
		} {
			look[bool](k.browser, `(seen.changes = 0, seen.slow = 0, true)`)
			act.do()
			k.await(act.met)
			k.do(chromedp.Do(k.ctx, chromedp.Sleep(150*time.Millisecond)))
			n := look[int](k.browser, `seen.changes`)
			if n > 60 {
				t.Errorf("at %d: to %s makes %d changes", width, act.name, n)
			}
			t.Logf("at %d: to %s makes %d changes, and takes %d ms", width, act.name, n, look[int](k.browser, `seen.slow`))
		}
	}
}
