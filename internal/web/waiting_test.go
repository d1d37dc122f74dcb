package web_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
)

// TestNextRun leads from a run to the next one that waits, once around, and to the inbox if no other waits.
func TestNextRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	relay, clock := w.project("relay"), w.project("clock")
	first := w.play(relay, "webhook-relay", "as first", "po 01-po-first.md")
	client := *w.server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	next := func(after string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/next?after="+after, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.Header.Get("Location")
	}
	address := func(folder, task string) string { return dashboard.PageOf(folder, task, "po") }
	after := func(folder, task string) string {
		return strings.NewReplacer("/p/", "", "/r/", "/").Replace(strings.TrimSuffix(dashboard.PageOf(folder, task, ""), "/"))
	}
	if got := next(after(relay, "first")); got != "/" {
		t.Errorf("the only run leads to %q", got)
	}
	w.play(clock, "webhook-relay", "as second", "po 01-po-first.md")
	for from, want := range map[string]string{
		after(relay, "first"): address(clock, "second"), after(relay, first.SessionID): address(clock, "second"), after(clock, "second"): address(relay, "first"),
	} {
		if got := next(from); got != want {
			t.Errorf("after %s: got %q, want %q", from, got, want)
		}
	}
	for _, from := range []string{"", "nowhere/nothing", "//example.org", "%2F%2Fexample.org%2F"} {
		if got := next(from); !strings.HasPrefix(got, "/p/") {
			t.Errorf("after %q: got %q", from, got)
		}
	}
}

// TestUnreadIsNotNothing: an inbox of which something cannot be read never says that nothing waits.
func TestUnreadIsNotNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := w.project("relay")
	w.play(folder, "webhook-relay", "as alone")
	if _, text, _ := w.get("/", "en"); !strings.Contains(text, "Nothing waits for you.") {
		t.Error("an inbox without waits does not say so")
	}
	w.put(filepath.Join(folder, store.Folder, "session-00000009-0000-4000-8000-000000000000.json"), "{")
	for _, path := range []string{"/", "/?show=failed", w.projectPath()} {
		if _, text, _ := w.get(path, "en"); strings.Contains(text, "Nothing waits for you.") || !strings.Contains(text, "more may wait") {
			t.Errorf("%s says that nothing waits", path)
		}
	}
}

// TestEveryPageCounts: the title and the header of each page have the number of the runs that wait.
func TestEveryPageCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.play(w.project("relay"), "webhook-relay", "po 01-po-first.md")
	w.play(w.project("clock"), "webhook-relay", "po 01-po-first.md")
	for _, path := range []string{"/", w.projectPath(), "/settings", "/help", "/memory", "/search?q=a", "/nowhere", "/?show=failed"} {
		if _, text, _ := w.get(path, "en"); !strings.Contains(text, "<title>(2) ") || !strings.Contains(text, `id="waiting">2<`) {
			t.Errorf("%s does not count 2", path)
		}
	}
}
