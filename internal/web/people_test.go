package web_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestPeople checks that the page says whose yes is missing, offers and takes none of who wrote the document, and that
// the history names who said yes.
func TestPeople(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.acting = workflow.Person{Subject: "ann", Name: "Ann Author <ann@example.org>"}
	h.put(filepath.Join(h.folder, config.ProjectFile), "four_eyes: true\nquorum: 2\n")
	no := false
	h.do(h.folder, request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &no}})
	h.do(h.folder, request.Request{Action: workflow.ActionSubmit, Stage: "po", Submit: request.Submit{
		Results: []request.Result{{Engine: workflow.Claude, Text: strings.Replace(h.sample("webhook-relay", "03-po-second.json"), "webhook", "web hook", 1)}},
	}})
	h.enter()
	h.pair()
	h.read()
	page := func() string {
		_, text, _ := h.send(sending{method: "GET", path: h.doc("")})
		return text
	}
	if text := page(); !strings.Contains(text, "written by ann, so another person lets it pass") || !strings.Contains(text, "Your yes does not count here") || strings.Contains(text, `data-decision="approve"`) {
		t.Error("the page offers a yes to who wrote the document")
	}
	before := h.tree()
	if status, text, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: h.with(nil)}); status == http.StatusOK || !strings.Contains(text, "ann wrote this round") {
		t.Errorf("%d %s", status, text)
	}
	if h.tree() != before {
		t.Error("a refused yes has changed something")
	}
	for _, who := range []workflow.Person{{Subject: "bob", Name: "Bob"}, {Subject: "cat"}} {
		h.acting = who
		h.read()
		if status, text, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: h.with(nil)}); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
	}
	if s := h.storedSession(); s.CurrentStage != workflow.Architect {
		t.Errorf("the run is at %s", s.Place())
	}
	_, text, _ := h.send(sending{method: "GET", path: h.run() + "/"})
	for _, want := range []string{"Bob (bob) approved the product requirements; the gate needs more approvals", "Bob (bob): browser", "cat: browser"} {
		if !strings.Contains(text, want) {
			t.Errorf("the history does not say %q", want)
		}
	}
}
