package web_test

import (
	"context"
	"strings"
	"testing"

	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
)

// wishes keeps the folders in which runs were wanted, with the objective, and starts none.
type wishes chan [2]string

func (w wishes) Start(_ context.Context, folder string, wish dashboard.Wish) (string, error) {
	w <- [2]string{folder, wish.Objective}
	return "wanted", nil
}

func (w wishes) Stop(context.Context, string, string) error { return nil }

// TestNewRunInABrowser: a run begins in the project that its person sees chosen, whether the page has shown it or not,
// and the words go along to the page of another project.
func TestNewRunInABrowser(t *testing.T) {
	b := openBrowser(t)
	w := newWorld(t)
	first, second := w.project("relay"), w.project("clock")
	for _, folder := range []string{first, second} {
		w.play(folder, "webhook-relay", "po 01-po-first.md")
	}
	wanted := make(wishes, 1)
	d := w.serveGuarded(func(o *dashboard.Options) { o.Runs = wanted })
	b.open(d.Launch("/new"))
	b.await(`document.getElementById('begins')?.hidden === false`)
	shown := look[string](b, `document.querySelector('select[name=p]').selectedOptions[0].text`)
	b.write("#objective", "A page of open sessions")
	other := look[string](b, `(() => { const s = document.querySelector('select[name=p]'); s.selectedIndex = 1 - s.selectedIndex; return s.selectedOptions[0].text; })()`)
	if shown == other {
		t.Fatalf("both projects read %q", shown)
	}
	b.press("form.tools button")
	b.await(`location.search && document.getElementById('objective')?.value === 'A page of open sessions' && document.querySelector('select[name=p]').selectedOptions[0].text === ` + quote(other))

	look[int](b, `(() => { const s = document.querySelector('select[name=p]'); s.selectedIndex = 1 - s.selectedIndex; return 0; })()`)
	b.press("[data-act=start]")
	b.await(`location.pathname.endsWith('/wanted/') || location.pathname.endsWith('/wanted')`)
	got, folder := <-wanted, first
	if strings.HasPrefix(shown, "clock") {
		folder = second
	}
	if got != [2]string{folder, "A page of open sessions"} {
		t.Errorf("the run was wanted as %q; %q was seen", got, shown)
	}
}
