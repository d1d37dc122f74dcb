package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestPages walks through all pages that links lead to, in both languages, and checks each.
func TestPages(t *testing.T) {
	for _, tt := range []struct {
		name string
		fill func(*world)
		// language is that in which the pages are read, page a part of an address that has to be met.
		language string
		least    int
		pages    []string
	}{
		{"english", (*world).relay, "en", 60, []string{"/log", "view=diff", "/memory?p=", "/r/headless/", "/settings", "timeline=full", "/help/hosts/codex", "/help/reference/tools"}},
		{"english run in Chinese", (*world).relay, "zh", 60, []string{"/log", "view=diff", "/memory?p=", "/r/headless/", "/settings", "timeline=full", "/help/hosts/codex", "/help/reference/tools"}},
		{"chinese", (*world).booking, "zh-CN", 40, []string{"/log", "/memory?p=", "/r/headless/", "/settings"}},
		{"empty", func(*world) {}, "en", 5, []string{"/memory", "/runs", "/settings"}},
		{"empty in Chinese", func(*world) {}, "zh", 5, []string{"/memory", "/runs", "/settings"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.fill(w)
			before := scratch.Look(t, w.root)
			seen := w.crawl(tt.language)
			if wrote := before.Changes(scratch.Look(t, w.root)); len(wrote) > 0 {
				t.Errorf("the pages wrote: %q", wrote)
			}
			if len(seen) < tt.least {
				t.Errorf("%d pages were met, want %d: %q", len(seen), tt.least, seen)
			}
			for _, part := range tt.pages {
				if !slices.ContainsFunc(seen, func(path string) bool { return strings.Contains(path, part) }) {
					t.Errorf("no link led to %q", part)
				}
			}
		})
	}
}

// TestHiddenCharacters: no page has an invisible character of others, and words are kept as
// they were written.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	const unseen = "clock\u202e\u200b\u2066"
	w := newWorld(t)
	folder := w.project(unseen)
	at := w.do(folder, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: unseen, TaskName: "clock"}})
	for _, document := range []string{unseen, unseen + " again\n\nQuality Score: 95/100"} {
		w.do(folder, request.Request{Address: project.Address{Session: at.SessionID}, Action: workflow.ActionSubmit, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: "# " + document + "\n"}}}})
	}
	run := w.projectPath() + "r/clock/"
	const words = "می\u200cخواهم"
	res, err := w.server.Client().Post(w.server.URL+run+"d/po/drafts", "application/json", strings.NewReader(`{"feedback":"`+words+`"}`))
	if err != nil || res.StatusCode != http.StatusNoContent {
		t.Fatal(res, err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing was written
	for _, path := range []string{"/", "/settings", "/search?q=clock", w.projectPath(), run, run + "log", run + "d/po", run + "d/po?view=source", run + "d/po?view=diff", run + "d/po?view=split"} {
		status, text, _ := w.get(path, "en")
		if status != http.StatusOK || strings.ContainsAny(text, "\u202e\u200b\u200c\u2066") {
			t.Errorf("%s: status %d, hides characters: %v", path, status, status == http.StatusOK)
		}
		if strings.Contains(path, "/d/po") {
			kept := regexp.MustCompile(`data-drafts="\S+/d/po/drafts"[^§]*id="draft" type="application/json">(.*)\n</script>`).FindStringSubmatch(text)
			if kept == nil {
				t.Errorf("%s has no address for the person's words, or not those that were kept", path)
				continue
			}
			var d struct{ Feedback string }
			if err := json.Unmarshal([]byte(kept[1]), &d); err != nil || d.Feedback != words {
				t.Errorf("%s: %q was kept: %v", path, d.Feedback, err)
			}
		}
	}
}

// crawl fetches every page that links lead to, checks it, and returns the addresses.
func (w *world) crawl(language string) (seen []string) {
	w.t.Helper()
	next := []string{"/", "/search?q=webhook", "/search?q=zzz", "/search", "/settings?checks=all"}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		if slices.Contains(seen, path) {
			continue
		}
		if seen = append(seen, path); len(seen) > 600 {
			w.t.Fatal("the pages have no end")
		}
		status, text, headers := w.get(path, language)
		if status != http.StatusOK {
			w.t.Errorf("%s: status %d\n%s", path, status, text)
			continue
		}
		if !strings.HasPrefix(headers.Get("Content-Type"), "text/html") {
			continue
		}
		p := readPage(w.t, path, text)
		p.check(language)
		if strings.HasPrefix(language, "zh") {
			if found := langtest.English(p.text(), w.theirs...); len(found) > 0 && !strings.HasPrefix(path, "/search") && !strings.HasPrefix(path, "/help/") {
				w.t.Errorf("%s has English sentences: %q", path, found)
			}
		}
		for _, href := range p.links() {
			if !strings.Contains(href, "lang=") && (!strings.Contains(href, "round=") || !strings.Contains(href, "view=")) {
				next = append(next, href)
			}
		}
	}
	return seen
}

// page is a page that was read.
type page struct {
	t     testing.TB
	path  string
	nodes []*html.Node
	ids   map[string]bool
}

// void are the elements without an end.
var void = []string{"meta", "link", "input", "br", "hr", "img", "wbr", "col"}

// readPage parses a page, whose elements have to be closed in their order: a browser repairs others, by its own
// rules.
func readPage(t testing.TB, path, text string) *page {
	t.Helper()
	var open []string
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		switch name := z.Token().Data; {
		case kind == html.StartTagToken && !slices.Contains(void, name):
			open = append(open, name)
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("%s: </%s> closes %q", path, name, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("%s: %q stay open", path, open)
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	p := &page{t: t, path: path, ids: map[string]bool{}}
	for n := range root.Descendants() {
		p.nodes = append(p.nodes, n)
		if id, ok := attr(n, "id"); ok {
			if p.ids[id] {
				t.Errorf("%s: two elements have the id %q", path, id)
			}
			p.ids[id] = true
		}
	}
	return p
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// inside reports whether a node is in an element for which a condition holds.
func inside(n *html.Node, holds func(*html.Node) bool) bool {
	for p := range n.Ancestors() {
		if p.Type == html.ElementNode && holds(p) {
			return true
		}
	}
	return false
}

// textOf returns the text of an element.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// check checks the page as a whole, and each of its elements.
func (p *page) check(language string) {
	p.t.Helper()
	count := map[string]int{}
	for _, n := range p.nodes {
		if n.Type != html.ElementNode {
			continue
		}
		if !inside(n, func(p *html.Node) bool { return p.Data == "svg" }) { // a drawing has titles of its own
			count[n.Data]++
		}
		p.checkSafe(n)
		p.checkHeard(n)
		if n.Data == "html" {
			want := map[string]string{"en": "en", "zh": "zh-CN", "zh-CN": "zh-CN"}[language]
			if got, _ := attr(n, "lang"); got != want {
				p.t.Errorf("%s is in %q, want %q", p.path, got, want)
			}
		}
		if n.Data == "h1" && inside(n, func(p *html.Node) bool { class, _ := attr(p, "class"); return class == "paper" }) {
			count["h1"]--
		}
	}
	for _, name := range []string{"h1", "main", "title", "header", "footer"} {
		if count[name] != 1 {
			p.t.Errorf("%s has %d elements %s", p.path, count[name], name)
		}
	}
}

// checkSafe checks that an element needs nothing that the policy forbids.
func (p *page) checkSafe(n *html.Node) {
	p.t.Helper()
	src, _ := attr(n, "src")
	kind, _ := attr(n, "type")
	if n.Data == "style" || n.Data == "img" || n.Data == "script" && kind != "application/json" && (!strings.HasPrefix(src, "/assets/") || textOf(n) != "") {
		p.t.Errorf("%s has an element %s of its own", p.path, n.Data)
	}
	for _, a := range n.Attr {
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.Contains(strings.ToLower(a.Val), "javascript:") {
			p.t.Errorf("%s: %s has %s=%q", p.path, n.Data, a.Key, a.Val)
		}
	}
}

// checkHeard checks that an element can be used without seeing it.
func (p *page) checkHeard(n *html.Node) {
	p.t.Helper()
	label, _ := attr(n, "aria-label")
	id, _ := attr(n, "id")
	switch n.Data {
	case "input", "select", "textarea":
		kind, _ := attr(n, "type")
		labelled := label != "" || inside(n, func(p *html.Node) bool { return p.Data == "label" && textOf(p) != "" })
		for _, other := range p.nodes {
			if forID, ok := attr(other, "for"); ok && id != "" && forID == id {
				labelled = true
			}
		}
		if kind != "hidden" && !labelled {
			p.t.Errorf("%s: a field %s has no label", p.path, n.Data)
		}
	case "button", "a", "h1", "h2", "h3", "option", "summary", "legend":
		if textOf(n) == "" && label == "" {
			p.t.Errorf("%s: an element %s has no text (id %q)", p.path, n.Data, id)
		}
	case "th":
		if _, ok := attr(n, "scope"); !ok && !inside(n, func(p *html.Node) bool { class, _ := attr(p, "class"); return class == "paper" }) {
			p.t.Errorf("%s: the heading %q of a table has no scope", p.path, textOf(n))
		}
	}
	if by, ok := attr(n, "aria-labelledby"); ok && !p.ids[by] {
		p.t.Errorf("%s: aria-labelledby names %q, which is nowhere", p.path, by)
	}
}

// links returns the addresses that the page leads to; an address in the page itself has to exist.
func (p *page) links() (out []string) {
	p.t.Helper()
	base, err := url.Parse(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, n := range p.nodes {
		href, ok := attr(n, "href")
		if !ok || n.Data == "link" {
			continue
		}
		to, err := base.Parse(href)
		if err != nil {
			p.t.Errorf("%s leads to %q: %v", p.path, href, err)
			continue
		}
		if to.IsAbs() || to.Host != "" {
			if !inside(n, func(p *html.Node) bool { class, _ := attr(p, "class"); return class == "paper" }) {
				p.t.Errorf("%s leads to %q", p.path, href)
			}
			continue
		}
		folded := strings.Contains(base.RawQuery, "view=") // only the rendered document has an anchor for every line
		if fragment := to.Fragment; strings.HasPrefix(href, "#") && !p.ids[fragment] && !folded {
			p.t.Errorf("%s leads to #%s, which is nowhere", p.path, fragment)
		}
		to.Fragment = ""
		out = append(out, to.String())
	}
	return out
}

// text returns the text of the page, except code, documents, and elements that name their language.
func (p *page) text() string {
	var b strings.Builder
	for _, n := range p.nodes {
		if n.Type == html.TextNode && !inside(n, func(p *html.Node) bool {
			class, _ := attr(p, "class")
			return slices.Contains([]string{"code", "pre", "script"}, p.Data) || class == "paper" || p.Data != "html" && strings.HasPrefix(class, "source")
		}) {
			b.WriteString(n.Data + "\n")
		}
	}
	return b.String()
}

// TestPagesStay compares the pages of a kind with those that are kept: all in English, and in Chinese the one that
// asks for a decision. TestPages reads the others in Chinese.
func TestPagesStay(t *testing.T) {
	t.Run("en", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.relay()
		project := w.projectPath()
		run := project + "r/00000001-0000-4000-8000-000000000000/"
		waits := project + "r/00000002-0000-4000-8000-000000000000/d/architect"
		w.pagesStay(t, "en", map[string]string{
			"document": waits, "document-source": waits + "?view=source", "document-diff": waits + "?view=diff", "document-split": waits + "?view=split",
			"inbox": "/", "board": project, "list": project + "?view=list", "run": run, "run-full": run + "?timeline=full", "log": run + "log",
			"search": "/search?q=storage", "memory": "/memory", "memory-found": "/memory?q=PostgreSQL",
			"runs": "/runs", "run-headless": project + "r/headless/", "run-headless-full": project + "r/headless/?timeline=full", "new": "/new",
			"settings": "/settings", "settings-checked": "/settings?checks=all", "nowhere": "/x/y",
		})
	})
	t.Run("zh", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.booking()
		w.pagesStay(t, "zh", map[string]string{"document": w.projectPath() + "r/00000002-0000-4000-8000-000000000000/d/sm"})
	})
}

// pagesStay compares pages with those that are kept, by their names.
func (w *world) pagesStay(t *testing.T, language string, paths map[string]string) {
	t.Helper()
	for name, path := range paths {
		_, text, _ := w.get(path, language)
		golden.Check(t, filepath.Join("testdata", "pages", language, name+".html"), w.steady(text))
	}
}

// shifting are the parts of a page that differ from run to run, each with its name.
var shifting = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`<time [^>]*datetime="[^"]*"[^>]*>[^<]*</time>`), "<time>…</time>"},
	{regexp.MustCompile(`<span>\d+ (second|minute)s?</span>`), "<span>some time</span>"},
	{regexp.MustCompile(`/assets/[0-9a-f]{12}/`), "/assets/HASH/"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "SHA256"},
	{regexp.MustCompile(`([/=":])[0-9a-f]{10}\b`), "${1}PROJECT"},
	{regexp.MustCompile(`data-nonce="[^"]*"`), `data-nonce="NONCE"`},
	{regexp.MustCompile(`&#39;(/home/ada[^&]*)&#39;`), "${1}"}, // a path with a space is quoted in a command
}

// begins matches the begin of an element that stands on a line of its own in the pages that are kept.
var begins = regexp.MustCompile(`><((?:article|aside|body|details|dialog|div|footer|form|h[1-3]|head|header|li|link|main|meta|nav|p|script|section|tbody|thead|tr)\b)`)

// steady names the parts of a page that differ from run to run.
func (w *world) steady(text string) string {
	text = strings.ReplaceAll(text, w.root, "/home/ada")
	for _, s := range shifting {
		text = s.what.ReplaceAllString(text, s.as)
	}
	return begins.ReplaceAllString(text, ">\n<$1") // lines can be compared
}

// written are the calls by which generated code writes the constant parts of a page.
var written = regexp.MustCompile(`WriteString\(templ_\w+, \d+, ("(?:[^"\\]|\\.)*")\)`)

// TestTemplatesSayNothingThemselves: every sentence of a template goes through Say, so that it has
// its translation.
func TestTemplatesSayNothingThemselves(t *testing.T) {
	names, err := filepath.Glob("*_templ.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	named := regexp.MustCompile(`(?s)<(code|title|kbd)( aria-hidden="true")?>.*?</(code|title|kbd)>|</?noscript>|<a class="brand".*?</a>|bmad-mcp`)
	letters := regexp.MustCompile(`\p{L}`)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var constant strings.Builder
		for _, m := range written.FindAllStringSubmatch(string(data), -1) {
			part, err := strconv.Unquote(m[1])
			if err != nil {
				t.Fatal(err)
			}
			constant.WriteString(part + "\x00")
		}
		bare := named.ReplaceAllString(constant.String(), "")
		z := html.NewTokenizer(strings.NewReader(bare))
		for z.Next() != html.ErrorToken {
			token := z.Token()
			if token.Type == html.TextToken && letters.MatchString(token.Data) {
				t.Errorf("%s says %q", name, strings.TrimSpace(token.Data))
			}
			for _, a := range token.Attr {
				if slices.Contains([]string{"aria-label", "title", "placeholder", "alt"}, a.Key) && letters.MatchString(a.Val) {
					t.Errorf("%s says %s=%q", name, a.Key, a.Val)
				}
			}
		}
	}
}

// TestRefusedAddresses: an address that names nothing known is refused in words, in the language of
// its reader.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.booking()
	_, inbox, _ := w.get("/", "en")
	id := regexp.MustCompile(`/p/([0-9a-f]{10})/`).FindStringSubmatch(inbox)[1]
	long := strings.Repeat("x", 400)
	for path, want := range map[string]string{
		"/p/0123456789/": "no project has the id", "/p/" + url.PathEscape("../../etc") + "/": "no project has the id", "/memory?p=zzz": "no project has the id", "/settings?p=/etc": "no project has the id", "/memory?q=" + long: "at most 300",
		"/runs/" + id + "/nothing": "nothing", "/runs/" + id + "/" + long: "no run", "/runs/0123456789/headless": "no project has the id",
		"/p/" + id + "/r/nothing/live": "nothing", "/nowhere": "no page has the address", "/search?q=" + long: "at most 300",
		"/p/" + id + "/r/nothing/": "the board of the project lists its runs", "/p/" + id + "/r/nothing/d/po": "the board of the project lists its runs",
	} {
		status, text, _ := w.get(path, "en")
		if p := readPage(t, path, text); status < 400 || status > 404 || !strings.Contains(p.text(), want) {
			t.Errorf("%.80s: status %d, want the words %q:\n%s", path, status, want, p.text())
		}
		_, text, _ = w.get(path, "zh")
		if found := langtest.English(readPage(t, path, text).text(), w.theirs...); len(found) > 0 {
			t.Errorf("%.80s has English sentences: %q", path, found)
		}
	}
}

// TestHiddenTextShows: text of others is never markup, and its hidden characters are visible.
func TestHiddenTextShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	for _, path := range []string{"/memory", "/memory?q=PostgreSQL", "/search?q=PostgreSQL"} {
		if _, text, _ := w.get(path, "en"); !strings.Contains(text, `It says &lt;b&gt;so&lt;/b&gt;.`) {
			t.Errorf("%s does not show the note as it is:\n%s", path, text)
		}
	}
	if _, text, _ := w.get("/settings", "en"); !strings.Contains(text, `make test\u202e</code>`) || strings.Contains(text, "\u202e") {
		t.Errorf("the settings do not show the command as it is:\n%s", text)
	}
}

// TestMemoryIsOff: the page of the notes says why it shows none of a project, and leads to the others.
func TestMemoryIsOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.booking()
	w.put(filepath.Join(w.root, "zh-booking", config.ProjectFile), "memory: off\n")
	w.relay()
	shown := map[bool]bool{}
	_, text, _ := w.get("/memory", "en")
	for _, m := range regexp.MustCompile(`<option value="([0-9a-f]{10})"`).FindAllStringSubmatch(text, -1) {
		_, text, _ := w.get("/memory?p="+m[1], "zh")
		said := readPage(t, "/memory", text).text()
		if off := strings.Contains(said, "项目记忆已关闭"); off == strings.Contains(said, "PostgreSQL") {
			t.Errorf("the page of %s says that the memory is off: %v\n%s", m[1], off, said)
		} else {
			shown[off] = true
		}
	}
	if len(shown) != 2 {
		t.Errorf("the pages of two projects are wanted, got %v of:\n%s", shown, text)
	}
}

// TestLargeDocuments: a document that takes a browser too long is named, with its file.
func TestLargeDocuments(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	if status, body, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: h.with(nil)}); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	saved := h.storedSession().Record(workflow.PO).Artifact.Path
	for name, test := range map[string]struct{ text, view, want string }{
		"bytes": {strings.Repeat("a line\n\n", 300_000), "rendered", "are too many for a page"},
		"lines": {strings.Repeat("a\n", 25_000), "split", "The versions differ in"},
	} {
		h.put(filepath.Join(h.folder, filepath.FromSlash(saved)), test.text)
		status, text, _ := h.send(sending{method: "GET", path: h.doc("?round=-1&view=" + test.view)})
		if status != http.StatusOK || len(text) > 50_000 || !strings.Contains(text, test.want) || !strings.Contains(text, "<code>"+saved+"</code>") ||
			!strings.Contains(text, "The saved document was edited") {
			t.Errorf("%s: status %d, %d bytes:\n%.5000s", name, status, len(text), text)
		}
	}
}

// TestHeadlessRuns: the page of a run without a host has its one state, cost and models, the timeline of both, and the
// acts of the engine when asked for. The former address leads there.
func TestHeadlessRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	_, runs, _ := w.get("/runs", "en")
	href := regexp.MustCompile(`/p/[0-9a-f]{10}/r/headless/`).FindString(runs)
	for query, reads := range map[string]bool{"": false, "?timeline=decisions": false, "?timeline=full": true} {
		_, text, _ := w.get(href+query, "en")
		said := strings.Join(strings.Fields(readPage(t, href, text).text()), " ")
		for _, want := range []string{
			"PO: it waits for your decision", "by claude", "the workers say $0.0025", "without models whose price is not known", "claude-sonnet-5-5", "1200", "price not known",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("%s%s does not say %q:\n%s", href, query, want, said)
			}
		}
		if got := strings.Contains(said, "Read README.md"); got != reads {
			t.Errorf("%s%s shows the engine's acts: %v", href, query, got)
		}
	}
	former := strings.Replace(strings.TrimSuffix(href, "/"), "/r/", "/", 1)
	if _, text, _ := w.get(strings.Replace(former, "/p/", "/runs/", 1), "en"); !strings.Contains(text, `data-screen="run"`) {
		t.Errorf("the former address leads to %.200s", text)
	}
	_, now, _ := w.get(href+"live", "en")
	if !strings.Contains(now, `"working":false`) || !strings.Contains(now, `"spent":"$`) {
		t.Errorf("what changes is %s", now)
	}
	if status, _, _ := w.get(strings.Replace(href, "headless", "headlessx", 1), "en"); status != http.StatusNotFound {
		t.Errorf("a run that is none has status %d", status)
	}
}

// TestShortAddress: it leads to the document that waits, or to the run if none does.
func TestShortAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := w.project("booking")
	at := w.play(folder, "zh-booking", "po 01-po-first.md")
	if _, text, _ := w.get(dashboard.ShortOf(folder, at.TaskName), "en"); !strings.Contains(text, `data-screen="document"`) {
		t.Errorf("the run waits, and its address leads to %.200s", text)
	}
	yes := true
	w.do(folder, request.Request{Action: workflow.ActionConfirm, Address: project.Address{Session: at.SessionID}, Decision: request.Decision{Yes: &yes}})
	if _, text, _ := w.get(dashboard.ShortOf(folder, at.TaskName), "en"); !strings.Contains(text, `data-screen="run"`) {
		t.Errorf("the run goes on, and its address leads to %.200s", text)
	}
	if status, _, _ := w.get("/w/0123456789", "en"); status != http.StatusNotFound {
		t.Errorf("no run has this address, and the status is %d", status)
	}
}
