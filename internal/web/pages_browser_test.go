package web_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// axeScript returns the accessibility checker, or skips the test.
func axeScript(t *testing.T) string {
	t.Helper()
	name := os.Getenv("TEST_BMAD_AXE")
	if name == "" {
		t.Skip("SKIPPED: nobody has checked the pages for accessibility; npm pack axe-core, and name its axe.min.js in TEST_BMAD_AXE")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// screens are addresses of every kind of page, in both worlds.
func (w *world) screens() []string {
	w.t.Helper()
	links := func(path, part string) []string {
		_, text, _ := w.get(path, "en")
		var out []string
		for i, piece := range strings.Split(text, `href="`) {
			if href, _, _ := strings.Cut(piece, `"`); i > 0 && strings.Contains(href, part) && !slices.Contains(out, href) {
				out = append(out, href)
			}
		}
		return out
	}
	out := []string{"/", "/search?q=a", "/memory", "/runs", "/settings", "/nowhere", "/help", "/help/decide", "/help/reference/settings", "/help/hosts/vscode"}
	for _, board := range links("/", "/p/") {
		if strings.Count(board, "/") != 3 {
			continue
		}
		out = append(out, board, board+"?view=list")
		runs := map[string]bool{}
		for _, href := range links(board, "/r/") {
			run := href[:strings.LastIndex(strings.TrimSuffix(href, "/"), "/r/")+3] + strings.SplitN(href[strings.Index(href, "/r/")+3:], "/", 2)[0] + "/"
			runs[run] = true
		}
		for i, run := range slices.Sorted(maps.Keys(runs)) {
			if i == 2 { // others look like these
				break
			}
			out = append(out, run, run+"log", run+"trace", run+"?timeline=full")
			docs := slices.DeleteFunc(links(run, "/d/"), func(doc string) bool { return strings.Contains(doc, "?") })
			for i, doc := range docs {
				if i == 0 {
					out = append(out, doc+"?view=source", doc+"?view=diff", doc+"?view=split")
				}
				out = append(out, doc)
			}
		}
	}
	return out
}

// TestAccessible: the checker finds nothing on any page, whatever the colours, the width and the
// language are.
func TestAccessible(t *testing.T) {
	axe := axeScript(t)
	b := openBrowser(t)
	w := newWorld(t)
	w.relay()
	w.booking()
	pages := w.screens()
	if only := os.Getenv("BMAD_PAGES"); only != "" {
		pages = strings.Fields(only)
	} else if len(pages) < 25 {
		t.Fatalf("only %d pages: %v", len(pages), pages)
	}
	checkAccessible(t, b, w, axe, pages)
}

// TestAccessibleQueue is [TestAccessible] for the pages on which the queue of a team is shown.
func TestAccessibleQueue(t *testing.T) {
	axe := axeScript(t)
	b := openBrowser(t)
	m := newTeam(t)
	m.fill()
	pages := []string{"/"}
	for _, run := range []string{"cart", "search", "invoice", "report", "mail", "checkout"} {
		pages = append(pages, m.projectPath()+"r/"+run+"/")
	}
	checkAccessible(t, b, m.world, axe, pages)
}

// checkAccessible has the checker look at pages in each setting, and fails for what it finds and for pages wider than the window.
func checkAccessible(t *testing.T, b *browser, w *world, axe string, pages []string) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, cdppage.SetBypassCSP, cdppage.SetBypassCSPParams{Enabled: true})
	b.do(err)
	for name, setting := range map[string]struct {
		width    int64
		scheme   string
		language string
	}{"light": {1280, "light", "en"}, "dark": {1280, "dark", "en"}, "narrow": {320, "light", "en"}, "Chinese": {1280, "light", "zh"}} {
		b.size(setting.width, 900)
		b.scheme(setting.scheme)
		for _, path := range pages {
			address, _ := url.Parse(path)
			query := address.Query()
			query.Set("lang", setting.language)
			address.RawQuery = query.Encode()
			b.open(w.server.URL + address.String())
			if wide := look[int](b, "document.documentElement.scrollWidth"); wide > int(setting.width) {
				t.Errorf("%s, %s: the page is %d pixels wide, as is %s", name, path, wide, look[string](b, `[...document.querySelectorAll('main *, header *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll > *')).map(e => e.outerHTML.slice(0, 200))[0] ?? ''`))
			}
			b.do(chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](axe)))
			found := settle[string](b, `(async () => { const r = await axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']});
				return JSON.stringify(r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 160) + ' ' + n.any.map(c => c.message).join(' ')).slice(0, 3).join(' | '))) })()`)
			var violations []string
			if err := json.Unmarshal([]byte(found), &violations); err != nil {
				t.Fatal(err)
			}
			for _, v := range violations {
				t.Errorf("%s, %s: %s", name, path, v)
			}
		}
	}
}

// TestWeight: a page takes few requests, none of them to others, and few bytes.
func TestWeight(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	w.relay()
	for path, most := range map[string]float64{"/": 14_000, w.waiting(): 60_000} {
		b := b.tab()
		b.do(chromedp.Do(b.ctx))
		_, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
		b.do(err)
		requests, bytes := map[string]bool{}, 0.0
		b.do(chromedp.Listen(b.ctx, func(event any) {
			switch event := event.(type) {
			case *network.EventRequestWillBeSent:
				if !strings.Contains(event.Request.URL, "diagram") { // drawn when it comes into view
					requests[event.Request.URL] = true
				}
			case *network.EventLoadingFinished:
				bytes += event.EncodedDataLength
			}
		}))
		b.open(w.server.URL + path)
		b.await("document.readyState === 'complete' && performance.getEntriesByType('resource').length > 1")
		if len(requests) > 7 {
			t.Errorf("%s takes %d requests: %v", path, len(requests), requests)
		}
		for address := range requests {
			if !strings.HasPrefix(address, w.server.URL+"/") {
				t.Errorf("%s asks others: %s", path, address)
			}
		}
		if bytes > most || bytes < 2_000 {
			t.Errorf("%s takes %.0f bytes, want at most %.0f", path, bytes, most)
		}
		t.Logf("%s: %d requests, %.0f bytes", path, len(requests), bytes)
	}
}

// waiting returns the address of the document that waits for a decision.
func (w *world) waiting() string {
	w.t.Helper()
	_, text, _ := w.get("/", "en")
	for _, piece := range strings.Split(text, `href="`)[1:] {
		if href, _, _ := strings.Cut(piece, `"`); strings.HasSuffix(href, "/d/architect") {
			return href
		}
	}
	w.t.Fatal("no document of the architect waits")
	return ""
}

// TestCommentsInABrowser: a comment stands in the margin, is kept for the next visit, and the keys
// move and never decide.
func TestCommentsInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	w.relay()
	b.size(1280, 900)
	b.open(w.server.URL + w.waiting())
	press := b.keys
	press("jjjc")
	b.await(`document.activeElement?.name === 'text'`)
	press("name the owner")
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))))
	b.await(`document.querySelector('[data-comments]').textContent === '1'`)
	b.await(`!document.querySelector('.editor')`)
	lines := look[string](b, `document.activeElement.dataset.l`)
	if place := look[string](b, `document.querySelector('.note.own [data-place]').textContent`); !strings.Contains(place, strings.Split(lines, "-")[0]) {
		t.Errorf("the comment on lines %s says %q", lines, place)
	}
	press("a")
	b.await(`document.activeElement?.dataset.decision === 'approve'`)
	if at := look[int](b, `Number(document.getElementById('review').dataset.revision)`); w.revision() != at {
		t.Errorf("the run is at revision %d after the keys, and was at %d", w.revision(), at)
	}
	// The words are kept by the server, after a moment.
	b.await(`(async () => (await (await fetch(location.href)).text()).includes('name the owner'))()`)
	b.open(w.server.URL + w.waiting())
	b.await(`document.querySelector('.note.own [data-text]')?.textContent === 'name the owner'`)
	b.do(chromedp.Do(b.ctx, chromedp.Click(`.note.own [data-drop]`)))
	b.await(`document.querySelector('[data-comments]').textContent === '0'`)
}

// revision returns the revision of the run that waits at the architect's gate.
func (w *world) revision() int {
	w.t.Helper()
	for _, folder := range w.engine.Projects().List() {
		board, err := w.engine.Board(w.t.Context(), project.Address{Cwd: folder}, 10, "")
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range board.Rows {
			if r.CurrentStage == workflow.Architect {
				return r.Revision
			}
		}
	}
	w.t.Fatal("no run of the architect")
	return 0
}

// TestDiagramInABrowser: a diagram is drawn when it comes near, in a frame that reaches nothing, and the source stays.
func TestDiagramInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	w.relay()
	b.size(1280, 900)
	b.open(w.server.URL + w.waiting())
	b.await(`parseInt(document.querySelector('iframe.diagram')?.style.height) > 60`)
	if all, drawn := look[int](b, `document.querySelectorAll('pre[data-diagram]').length`), look[int](b, `document.querySelectorAll('iframe.diagram').length`); drawn >= all {
		t.Errorf("%d of %d diagrams are drawn, also those far away", drawn, all)
	}
	if !look[bool](b, `!!document.querySelector('figure[data-l] details pre') && document.querySelector('figure pre').textContent.includes('flowchart')`) {
		t.Error("the source of the diagram is gone")
	}
	if look[bool](b, `(() => { try { return !!document.querySelector('iframe.diagram').contentDocument } catch { return false } })()`) {
		t.Error("the frame of the diagram is open to the page")
	}
}
