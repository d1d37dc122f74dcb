package web_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestBrowserDecides: a real browser comes by the address, is paired by a code, and decides.
func TestBrowserDecides(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	h := newHouse(t, false)
	b.open(h.origin + "/settings")
	b.arrives(`document.body.dataset.screen === 'door'`)
	b.open(h.d.Address("/settings"))
	b.arrives(`document.body.dataset.screen === 'settings' && location.hash === ''`)
	if look[string](b, "document.cookie") != "" {
		t.Error("a script reads the cookie")
	}

	b.open(h.origin + "/")
	h.enter()
	h.read()
	b.open(h.origin + h.doc(""))
	b.arrives(`document.getElementById('review')?.hidden === false`)
	h.passes(2)
	look[bool](b, `((f) => { f.value = 'written before'; f.dispatchEvent(new Event('input')); return true; })(document.getElementById('feedback'))`)
	b.arrives(`Object.values(localStorage).some((words) => words.includes('written before'))`)
	look[bool](b, `document.querySelector('[data-decision=approve]').click() ?? true`)
	b.arrives(`document.querySelector('#result a')?.pathname === '/pair'`)

	b.open(h.origin + "/pair?back=" + h.doc(""))
	code := look[string](b, `document.querySelector('[data-code]').dataset.code`)
	if _, err := pairing.Approve(filepath.Join(h.root, "state"), code, h.now()); err != nil {
		t.Fatal(err)
	}
	b.arrives(`document.body.dataset.screen === 'document' && document.getElementById('review')?.hidden === false`)
	h.passes(2)
	look[bool](b, `document.querySelector('[data-decision=approve]').click() ?? true`)
	b.arrives(`document.getElementById('result').innerText.includes('Recorded')`)
	if g := h.storedSession().Last().Grant; g == nil || g.Channel != workflow.ChannelBrowser || g.Feedback != "written before" {
		t.Errorf("recorded as %+v", g)
	}
	b.arrives(`!Object.values(localStorage).some((words) => words.includes('written before'))`)

	// A page of another port has neither the key, nor a way in.
	other := newHouse(t, false)
	b.open(other.d.Address("/"))
	b.arrives(`document.body.dataset.screen === 'inbox'`)
	if key := look[string](b, `localStorage.getItem('bmad-key') ?? ''`); key != "" {
		t.Errorf("another port reads the key %q", key)
	}
	before := h.tree()
	status := settle[string](b, `fetch('`+h.origin+h.doc("/decide")+`', {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"decision":"approve"}'}).then(() => 'sent', () => 'blocked')`)
	if h.tree() != before || status == "" {
		t.Errorf("%s: another port has decided", status)
	}

	// The launcher's address pairs at once, and leaves nothing of it in the address.
	b.open(other.d.Launch("/"))
	b.arrives(`location.hash === '' && (localStorage.getItem('bmad-key') ?? '').length >= 43`)
	other.enter()
	other.key = look[string](b, `localStorage.getItem('bmad-key')`)
	other.read()
	if status, text, _ := other.send(sending{method: http.MethodPost, path: other.doc("/decide"), body: other.with(nil)}); status != http.StatusOK || !strings.Contains(text, "Recorded") {
		t.Errorf("%d %s", status, text)
	}
}

// arrives waits until an expression is true in a page that the tab comes to, over others.
func (b *browser) arrives(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(document.body) && Boolean(`+expression+`)`)); err == nil && there {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("%s does not come true at %s", expression, look[string](b, "location.href + document.body?.innerText"))
}
