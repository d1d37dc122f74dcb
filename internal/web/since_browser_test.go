package web_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestChangesInABrowser: a document that was approved before opens with the changes in the rendered text, the rest folded.
// A comment on a changed block is on the lines of the new version.
func TestChangesInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", "po 01-po-first.md", "no name the owner")
	at := project.Address{Session: k.session}
	const text = "# Booking\n\nSeats for a library.\n\n## 1. Goal\n\nA link works for 60 minutes. The mail is sent at once.\n\n- a session ends after 30 days\n- there is no limit\n\n## 2. Costs\n\n| part | sum |\n|---|---|\n| mail | 3 |\n\nNone beside.\n\n## 3. Risks\n\nToo many.\n"
	later := strings.NewReplacer("60 minutes", "15 minutes", "there is no limit", "it ends after 180 days", "| mail | 3 |", "| mail | 4 |", "\n## 3. Risks\n\nToo many.\n", "", "None beside", "See `plan.txt`; none beside").Replace(text)
	if err := os.WriteFile(k.folder+"/plan.txt", []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	submit := func(text string) {
		k.w.do(k.folder, request.Request{Action: workflow.ActionSubmit, Address: at, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: text + "\n```json\n{\"quality_score\": 95}\n```\n"}}}})
	}
	yes := true
	submit(strings.Replace(text, "None beside", "See `plan.txt`; none beside", 1))
	k.w.do(k.folder, request.Request{Action: workflow.ActionConfirm, Address: at, Decision: request.Decision{Yes: &yes}})
	k.w.do(k.folder, request.Request{Action: workflow.ActionReopen, Address: at, Stage: "po", Decision: request.Decision{Feedback: "shorter"}})
	if err := os.WriteFile(k.folder+"/plan.txt", []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	submit(later)
	k.open(k.d.Address(k.page + "?lang=en"))
	k.ready()
	said := look[string](k.browser, `[...document.querySelectorAll('.since')].map(p => p.innerText.trim()).join('|')`)
	for _, want := range []string{"3 sections changed since your approval at round 2: 1. Goal, 2. Costs, 3. Risks (gone).", "The code moved on since round 2 of the product requirements was approved: plan.txt (named in 2. Costs)."} {
		if !strings.Contains(said, want) {
			t.Errorf("the page lacks %q:\n%s", want, said)
		}
	}
	for expression, want := range map[string]string{
		`document.getElementById('paper').dataset.view`:                                                                                                      "changes",
		`[...document.querySelectorAll('#paper ins')].map(e => e.innerText).join('|')`:                                                                       "15|it ends after 180 days|4",
		`[...document.querySelectorAll('#paper .b:not(.removed) del')].map(e => e.innerText).join('|')`:                                                      "60|there is no limit|3",
		`[...document.querySelectorAll('#paper .b.removed')].map(e => e.innerText.trim()).join('|')`:                                                         "3. Risks|Too many.",
		`[...document.querySelectorAll('#paper .folded summary')].map(e => e.innerText.trim()).join('|')`:                                                    "unchanged: 1 paragraph",
		`[...document.querySelectorAll('#paper ins, #paper del')].filter(e => getComputedStyle(e).textDecorationLine === 'none').length + ''`:                "0",
		`[...document.querySelectorAll('nav[aria-label=Views] a')].map(e => e.innerText.trim()).filter(Boolean)[0]`:                                          "Changes",
		`(document.querySelector('#paper .folded').open = true, document.querySelector('#paper .folded p').innerText.trim())`:                                "Seats for a library.",
		`document.querySelector('#paper .b.changed p[data-l], #paper .b.changed [data-l] p, #paper .b.changed [data-l]').closest('[data-l]').dataset.l + ''`: "7-7",
	} {
		if got := look[string](k.browser, expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}
