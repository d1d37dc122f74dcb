package web_test

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/docs"
)

// TestHelp: every page of the documentation is shown in both languages, with its headings in order, and each link
// to a heading of a page leads there.
func TestHelp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, language := range []string{"en", "zh"} {
		pages := map[string]*page{}
		for _, name := range append(docs.Names(), "") {
			at := strings.TrimSuffix("/help/"+name, "/")
			status, text, _ := w.get(at, language)
			if status != http.StatusOK {
				t.Fatalf("%s: status %d", at, status)
			}
			pages[at] = readPage(t, at, text)
			level := 1
			for _, n := range pages[at].nodes {
				if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
					if next := int(n.Data[1] - '0'); next > level+1 {
						t.Errorf("%s: h%d comes after h%d", at, next, level)
					} else {
						level = next
					}
				}
			}
		}
		seen := 0
		for at, p := range pages {
			for _, n := range p.nodes {
				href, _ := attr(n, "href")
				to, err := url.Parse(href)
				if err != nil || n.Data != "a" || !strings.HasPrefix(path.Join("/", to.Path), "/help") || to.Fragment == "" {
					continue
				}
				if from, to := translated(at, language), translated(to.Path, language); from != to && !strings.Contains(at, "/reference/") {
					continue // their headings are in two languages
				}
				if seen++; pages[to.Path] == nil || !pages[to.Path].ids[to.Fragment] {
					t.Errorf("%s, %s: %s leads nowhere", language, at, href)
				}
			}
		}
		if seen < 25 && language == "en" {
			t.Errorf("got %d links to headings, want 25 at least", seen)
		}
	}
}

// translated reports whether a page has a text of its own in a language.
func translated(at, language string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(at, "/help"), "/")
	return docs.Page(name, language) != docs.Page(name, "")
}

// TestHelpInTheOtherLanguage: the first page leads to itself in the other language, and no page to another language
// otherwise.
func TestHelpInTheOtherLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for language, want := range map[string]string{"en": `href="/help?lang=zh"`, "zh": `href="/help?lang=en"`} {
		if _, text, _ := w.get("/help", language); strings.Count(text, want) != 2 { // in the text, and below it
			t.Errorf("%s: the page has no link %s besides the one below it", language, want)
		}
		_, text, _ := w.get("/help/security", language)
		if got := strings.Count(text, "?lang="); got != 1 {
			t.Errorf("%s: got %d links to a language, want the one below the page", language, got)
		}
	}
}

// TestHelpKeepsOut: no other file has an address.
func TestHelpKeepsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for at, want := range map[string]int{
		"/help/hosts": http.StatusOK, "/help/nothing": http.StatusNotFound, "/help/decide.md": http.StatusNotFound, "/help/decide.zh": http.StatusNotFound,
		"/help/docs.go": http.StatusNotFound, "/help/..%2Fgo": http.StatusNotFound, "/help/images/page-light.png": http.StatusNotFound, "/help/hosts/": http.StatusNotFound,
	} {
		if status, _, _ := w.get(at, "en"); status != want {
			t.Errorf("%s: got the status %d, want %d", at, status, want)
		}
	}
}
