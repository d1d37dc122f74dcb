package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// tabTo presses Tab until an expression is true of the page.
func (k *desk) tabTo(expression string) {
	k.t.Helper()
	for range 40 {
		if look[bool](k.browser, expression) {
			return
		}
		k.keys("\t")
	}
	k.t.Fatalf("Tab does not lead to %s", expression)
}

// TestWholeReviewByKeyboardInABrowser: a review needs no pointer, from the inbox to the next run that waits.
func TestWholeReviewByKeyboardInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	k.open(k.d.Address("/?lang=en"))
	k.await(`document.body.dataset.screen === 'inbox'`)
	k.tabTo(`document.activeElement.matches('main a[href*="/d/"], main a[href*="/r/"]')`)
	k.keys("\r")
	k.ready()
	k.keys("jj")
	k.await(`document.activeElement.matches('#paper [data-l]')`)
	line := look[string](k.browser, `document.activeElement.dataset.l.split('-')[0]`)
	k.keys("c")
	k.await(`document.activeElement.name === 'text'`)
	k.keys("name the owner")
	k.do(chromedp.Do(k.ctx, chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))))
	k.await(`!document.querySelector('.editor') && document.activeElement.matches('#paper [data-l]')`)
	k.keys("jq")
	k.await(`document.activeElement.name === 'text' && document.activeElement.form.elements.kind.value === 'question'`)
	k.keys("who pays?\t")
	k.tabTo(`document.activeElement.matches('.editor .primary')`)
	k.keys("\r")
	k.await(`document.querySelectorAll('.note.own').length === 2 && !document.querySelector('.editor')`)
	k.keys("p")
	k.await(`document.activeElement.matches('.note')`)
	k.keys("x")
	k.await(`document.activeElement.dataset.decision === 'request_changes'`)
	k.heard()
	k.keys("\r")
	k.awaitDecision("Recorded")
	sent := k.w.last(k.folder, k.session).Grant.Comments
	if len(sent) != 2 || itoa(sent[0].From) != line || sent[0].Text != "name the owner" || sent[1].Kind != workflow.CommentQuestion || sent[1].Text != "who pays?" {
		t.Errorf("sent were %+v", sent)
	}
	k.keys("]")
	k.await(`document.body.dataset.screen !== 'document'`)
}

// heard checks the roles and names that a reader of the screen is told.
func (k *desk) heard() {
	k.t.Helper()
	tree, err := chromedp.Call(k.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	k.do(err)
	heard := map[string]int{}
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role, name := strings.Trim(string(n.Role.Value), `"`), ""
		if n.Name != nil {
			name = strings.Trim(string(n.Name.Value), `"`)
		}
		heard[role+" "+name]++
		if name == "" && (role == "button" || role == "textbox" || role == "region" || role == "navigation" || role == "toolbar") {
			k.t.Errorf("a %s has no name", role)
		}
	}
	for _, want := range []string{"button Request changes", "button Approve", "button Looks good", "navigation Views", "button Contents", "region Approve the product requirements?", "button Comment on the whole document", "button Edit"} {
		found := false
		for name := range heard {
			found = found || strings.HasPrefix(name, want)
		}
		if !found {
			k.t.Errorf("nothing is heard of %q", want)
		}
	}
}
