package app

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestTypedNeverOverHTTP: the engine that serves clients over HTTP takes no decision that was typed
// at this machine.
func TestTypedNeverOverHTTP(t *testing.T) {
	for name, want := range map[string]workflow.Channel{"stdio": workflow.ChannelTyped, "http": workflow.ChannelRelayed} {
		t.Run(name, func(t *testing.T) {
			state, folder := t.TempDir(), t.TempDir()
			t.Setenv("XDG_STATE_HOME", state)
			a := New(&terminal.Terminal{Err: io.Discard})
			var within []string
			if name == "http" {
				within = []string{folder}
			}
			p := a.Build(within)
			e := p.Engine
			defer p.Library.Close()
			do := func(req request.Request) {
				t.Helper()
				req.Cwd, req.Via = folder, workflow.ChannelRelayed
				if _, err := e.Do(t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}})
			do(request.Request{Action: workflow.ActionSubmit, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: "# D\nQuality Score: 96"}}}})
			gate, _, ok := e.TypedGate(t.Context(), folder, workflow.ActionConfirm, workflow.DecisionApprove, "")
			if !ok {
				t.Fatal("nothing waits")
			}
			if err := trust.UserState(filepath.Join(state, "bmad-mcp")).PutTyped(trust.Typed{TypedGate: gate, At: e.Now()}); err != nil {
				t.Fatal(err)
			}
			yes := true
			do(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes}})
			s, _, err := e.Session(t.Context(), project.Address{Cwd: folder, Session: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Last().Grant.Channel; got != want {
				t.Errorf("the channel is %s, want %s", got, want)
			}
		})
	}
}
