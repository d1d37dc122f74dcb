package web_test

import (
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestOffer checks that the page of a plan offers to run the project's tests, and that the button takes the offer as the
// page shows it.
func TestOffer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		written string // package.json, after the page was shown
		want    int
		command string
	}{
		"taken":             {"", http.StatusOK, "npm test"},
		"changed meanwhile": {`{"scripts": {"test": "rm -rf ."}}`, http.StatusConflict, ""},
		"gone meanwhile":    {"{}", http.StatusConflict, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, false)
			h.put(filepath.Join(h.folder, config.ProjectFile), "gate: auto\n")
			steps := []string{"as planned", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes", "architect 05-architect-second.md", "yes", "sm 06-sm-first.json"}
			h.session = h.play(h.folder, "webhook-relay", steps...).SessionID
			h.put(filepath.Join(h.folder, "package.json"), `{"scripts": {"test": "node --test"}}`)
			h.enter()
			h.pair()
			h.read()
			_, text, _ := h.send(sending{method: "GET", path: h.run() + "/d/sm"})
			button := regexp.MustCompile(`(?s)data-decision="(approve_and_run[^"]*)"[^>]*>([^<]*)<`).FindStringSubmatch(text)
			if button == nil || strings.TrimSpace(html.UnescapeString(button[2])) != "Approve, and let the server run `npm test` at Dev and QA" {
				t.Fatalf("the page offers %q", button)
			}
			for _, m := range regexp.MustCompile(`data-(sha256|nonce)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
				h.page[m[1]] = m[2]
			}
			h.page["revision"], h.page["decision"] = h.storedSession().Revision, html.UnescapeString(button[1])
			if tt.written != "" {
				h.put(filepath.Join(h.folder, "package.json"), tt.written)
			}
			status, text, _ := h.send(sending{method: "POST", path: h.run() + "/d/sm/decide", body: h.with(nil)})
			if status != tt.want || tt.want != http.StatusOK && !strings.Contains(text, "what `npm test` runs has changed") {
				t.Errorf("%d %s", status, text)
			}
			s := h.storedSession()
			got := s.KeptVerify()[workflow.QA]
			if taken := tt.command != ""; got.Command != tt.command || taken != (s.CurrentStage == workflow.Dev) || taken != (s.Last().Grant != nil && s.Last().Grant.Offer != nil) {
				t.Errorf("at %s with the command %+v", s.Place(), got)
			}
		})
	}
}
