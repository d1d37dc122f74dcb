package web_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// traced returns the address of the trace of the first run with an objective: names of others end in a number.
func (w *world) traced(begin string) string {
	w.t.Helper()
	_, inbox, _ := w.get("/", "en")
	for _, board := range regexp.MustCompile(`href="(/p/[^"/]+/)"`).FindAllStringSubmatch(inbox, -1) {
		_, page, _ := w.get(board[1], "en")
		if run := regexp.MustCompile(`"` + board[1] + `r/(` + begin + `[^"/]*[a-z])/`).FindStringSubmatch(page); run != nil {
			return board[1] + "r/" + run[1] + "/trace"
		}
	}
	w.t.Fatalf("no run %s", begin)
	return ""
}

const relayRun, bookingRun = "build-a-self", "wei-she-qu"

// TestTracePage: a page without script has missing links, the board, the drawing and the table, and each link of it
// leads to an element.
func TestTracePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	w.booking()
	for language, name := range map[string]string{"en": relayRun, "zh": bookingRun} {
		path := w.traced(name)
		status, page, _ := w.get(path, language)
		if status != 200 {
			t.Fatalf("%s answers %d", path, status)
		}
		for _, part := range []string{`id="holes"`, `id="board"`, `id="drawing"`, `id="table"`, "<svg width=", `class="lane`} {
			if !strings.Contains(page, part) {
				t.Errorf("%s has no %s", path, part)
			}
		}
		if strings.Contains(page, " style=") || strings.Contains(page, "<script>") {
			t.Errorf("%s has style or script in it", path)
		}
		documents := map[string]string{}
		links := regexp.MustCompile(`href="([^"#]*/d/[^"#]*)(?:#([^"]*))?"`).FindAllStringSubmatch(page, -1)
		if len(links) < 20 {
			t.Errorf("%s has %d links", path, len(links))
		}
		for _, l := range links {
			document, id := html.UnescapeString(l[1]), l[2]
			if documents[document] == "" {
				_, documents[document], _ = w.get(document, language)
			}
			if id == "" || !strings.Contains(documents[document], `id="`+id+`"`) {
				t.Errorf("%s leads to no element: %q", document, id)
			}
		}
	}
}

// TestTraceHoles: a missing link stands on the page in words, on the board, in the drawing and in the table, and hostile
// texts are only text.
func TestTraceHoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const document = "# PRD\n\n- FR-1 (US-1) A <b>link</b>.\n- FR-2 A day.\u202e\n- US-1: As a user, I want <script>alert(1)</script>.\n  - AC-1.1 It \"works\".\n"
	path := strings.TrimSuffix(w.submitDocument("holes", document), "d/po") + "trace"
	_, page, _ := w.get(path, "en")
	for _, part := range []string{"Requirements without a story: FR-2.", `<span class="tag bad">`, `<rect class="hole"`, "✗ no story", "There is no plan with sprints yet.", `&#34;works&#34;`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	for _, part := range []string{"<b>link", "<script>", "\u202e"} {
		if strings.Contains(page, part) {
			t.Errorf("the page has %q", part)
		}
	}
	if status, _, _ := w.get("/p/0000000000/r/x/trace", "en"); status != 404 {
		t.Errorf("the trace of no run answers %d", status)
	}
}
