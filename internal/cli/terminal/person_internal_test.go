package terminal

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestPersonReadsTheTextOfTheQuestion checks that the view of a draft is the text that the answer is for, and not
// what its file holds by then.
func TestPersonReadsTheTextOfTheQuestion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "po.md"), []byte("# Exchanged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for document, want := range map[string]string{"# Scored\n": "Scored", "": "The text that was scored is gone: po.md"} {
		shown, out := newScreen(t, lang.English)
		p := &Person{t: shown, Out: out, lines: bufio.NewReader(strings.NewReader("v\na\n"))}
		a, err := p.Ask(context.Background(), gate.Question{
			Language: lang.English, Cwd: dir, Draft: "po.md", Document: document, Choices: []gate.Choice{{Decision: workflow.DecisionApprove, Label: "Approve"}},
		})
		if got := out.String(); err != nil || a.Decision != workflow.DecisionApprove || !strings.Contains(got, want) || strings.Contains(got, "Exchanged") {
			t.Errorf("%v, %v, and they read:\n%s", a, err, got)
		}
	}
}

// TestKeysKeepTheirMeaning checks that a key is the same decision at each gate, and that the choices are shown
// again once the document has pushed them off the screen.
func TestKeysKeepTheirMeaning(t *testing.T) {
	yes := gate.Choice{Decision: workflow.DecisionApprove, Label: "Approve"}
	no := gate.Choice{Decision: workflow.DecisionChanges, Label: "Change"}
	run := gate.Choice{Decision: workflow.DecisionApprove, Label: "Approve and run", Offer: &workflow.Offer{Command: "make"}}
	risk := gate.Choice{Decision: workflow.DecisionOverride, Label: "Accept the risk"}
	done := gate.Choice{Decision: workflow.DecisionChanges, Label: "It is done", Reason: true}
	without := gate.Choice{Decision: workflow.DecisionApprove, Label: "Go on without it", Reason: true}
	leave := gate.Choice{Decision: workflow.DecisionCancel, Label: "Cancel this run"}
	for _, tt := range []struct {
		choices []gate.Choice
		keys    string
	}{{[]gate.Choice{yes, run, no}, "arc"}, {[]gate.Choice{no, risk}, "co"}, {[]gate.Choice{done, without}, "do"}, {[]gate.Choice{leave}, "y"}} {
		for i, choice := range tt.choices {
			shown, out := newScreen(t, lang.English)
			key := string(tt.keys[i])
			p := &Person{t: shown, Out: out, lines: bufio.NewReader(strings.NewReader("v\n?\n" + key + "\n"))}
			a, err := p.Ask(context.Background(), gate.Question{Language: lang.English, Draft: "po.md", Document: "# P\n", Choices: tt.choices})
			if err != nil || a.Decision != choice.Decision || a.Offer != choice.Offer {
				t.Errorf("%s: %+v, %v, want %s", key, a, err, choice.Label)
			}
			if n := strings.Count(out.String(), "  "+key+"  "+choice.Label+"\n"); n != 3 {
				t.Errorf("%s: the choices are shown %d times, want once a question:\n%s", key, n, out)
			}
		}
	}
}

// TestAssistantsTerminal checks that nobody is asked where an assistant runs commands, and that a person is in a
// terminal of an editor that has an assistant.
func TestAssistantsTerminal(t *testing.T) {
	for variable, want := range map[string]bool{
		"AGENT=goose": true, "AGENT=1": true, "AI_AGENT=claude-code": true, "AMP_CURRENT_THREAD_ID=T-1": true, "ANTIGRAVITY_AGENT=1": true,
		"AUGMENT_AGENT=1": true, "AWS_EXECUTION_ENV=AmazonQ-For-CLI Version/1.19": true, "CLAUDECODE=1": true, "CLINE_ACTIVE=true": true,
		"CODEX_CI=1": true, "CODEX_SANDBOX=seatbelt": true, "CODEX_THREAD_ID=0": true, "COPILOT_AGENT=1": true, "COPILOT_CLI=1": true, "CRUSH=1": true,
		"CURSOR_AGENT=1": true, "GEMINI_CLI=1": true, "GOOSE_TERMINAL=1": true, "GROK_AGENT=1": true, "IFLOW_CLI=1": true, "OPENCODE=1": true,
		"PI_CODING_AGENT=true": true, "QWEN_CODE=1": true, "ROO_ACTIVE=true": true, "TRAE_AI_SHELL_ID=x": true, "WINDSURF_CASCADE_TERMINAL=1": true,
		"AI_AGENT=": false, "AWS_EXECUTION_ENV=CloudShell": false, "GROK_AGENT=/home/ana/grok.toml": false, "CURSOR_TRACE_ID=x": false,
		"REPL_ID=x": false, "ZED_TERM=true": false, "TERM_PROGRAM=WarpTerminal": false, "COPILOT_MODEL=x": false, "SSH_AGENT_PID=7": false,
	} {
		t.Run(variable, func(t *testing.T) {
			shown, _ := newScreen(t, lang.English)
			name, value, _ := strings.Cut(variable, "=")
			t.Setenv(name, value)
			if yes, err := shown.AskPerson(context.Background(), true, ""); yes == want || (err != nil) != want {
				t.Errorf("a script's yes is taken: %v, %v; an assistant's terminal: %v", yes, err, want)
			}
		})
	}
}
