package web_test

import (
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestTraceInABrowser: the trace is as wide as the window, its drawing scrolls in a box, its links have the focus in turn,
// and the checker of accessibility finds nothing, if there is one.
func TestTraceInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	w.relay()
	w.booking()
	_, err := chromedp.Call(b.ctx, cdppage.SetBypassCSP, cdppage.SetBypassCSPParams{Enabled: true})
	b.do(err)
	for _, set := range []struct {
		run, language, scheme string
		width                 int64
	}{{relayRun, "en", "light", 1280}, {relayRun, "en", "dark", 1280}, {relayRun, "en", "light", 390}, {bookingRun, "zh", "light", 320}} {
		b.size(set.width, 844)
		b.scheme(set.scheme)
		b.open(w.server.URL + w.traced(set.run) + "?lang=" + set.language)
		if wide := look[int](b, "document.documentElement.scrollWidth"); wide > int(set.width) {
			t.Errorf("%+v: the page is %d pixels wide", set, wide)
		}
		if drawn := look[int](b, `document.querySelector('.draw svg').getBoundingClientRect().width`); drawn < 1000 {
			t.Errorf("%+v: the drawing is %d pixels wide", set, drawn)
		}
		if !look[bool](b, `(() => { const a = document.querySelector('.draw a'); a.focus(); return document.activeElement === a; })()`) {
			t.Errorf("%+v: a box of the drawing takes no focus", set)
		}
	}
	axe := axeScript(t)
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		b.open(w.server.URL + w.traced(relayRun) + "?lang=en")
		b.do(chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](axe)))
		found := settle[string](b, `(async () => { const r = await axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']});
			return r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.any.map(c => c.message).join(' ')).join(' | ')).join('\n') })()`)
		if found != "" {
			t.Errorf("%s: %s", scheme, found)
		}
	}
}
