package run

import (
	"context"
	"io"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/sdkhttp"
)

// lazy is an engine that never works: each call fails.
type lazy struct{ calls chan struct{} }

func (l lazy) Name() string { return "claude" }

func (l lazy) Work(ctx context.Context, _ hostcli.Job) (*hostcli.Outcome, error) {
	select {
	case l.calls <- struct{}{}:
		return nil, &hostcli.Failure{Engine: "claude", Why: "asleep", Final: true}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestServedRuns: a run that a client starts can be watched and looked at, also by a server that
// was started later; one that the server's end interrupts is kept.
func TestServedRuns(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := app.New(&terminal.Terminal{Err: io.Discard})
	a.Tasks.Cwd = t.TempDir()
	calls := make(chan struct{})
	a.UseAudits()
	with := func(req sdkhttp.RunRequest) (headless.Options, error) {
		o, err := servedOptions(a.Terminal, a.Tasks, req)
		o.Workers, o.Flags.Dirty = []headless.Worker{lazy{calls}}, true
		return o, err
	}
	base, end := context.WithCancel(t.Context())
	defer end()
	s := &Served{base: base, options: with}
	if _, err := s.Start(t.Context(), sdkhttp.RunRequest{Objective: "Build a clock", Workflow: "nowhere"}); err == nil {
		t.Error("a workflow that does not exist was accepted")
	}
	run, err := s.Start(t.Context(), sdkhttp.RunRequest{Objective: "Build a clock", TaskName: "clock"})
	if err != nil || run.Status != "running" || run.ID == "" {
		t.Fatalf("%+v, %v", run, err)
	}
	events, err := s.Events(t.Context(), run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	<-calls
	var kinds []string
	last := int64(0)
	for e := range events {
		kinds = append(kinds, e.Type)
		if e.Seq != last+1 {
			t.Errorf("event %d after %d", e.Seq, last)
		}
		last = e.Seq
	}
	if len(kinds) < 3 || kinds[0] != "run_started" || kinds[len(kinds)-1] != "stopped" {
		t.Errorf("events %v", kinds)
	}
	s.Close()
	for _, server := range []*Served{s, {base: base, options: with}} {
		if got, err := server.Get(t.Context(), run.ID); err != nil || got.Status != "engine_failed" {
			t.Errorf("afterwards: %+v, %v", got, err)
		}
		again, err := server.Events(t.Context(), run.ID, last-1)
		if err != nil {
			t.Fatal(err)
		}
		if e := <-again; e.Seq != last || e.Type != "stopped" {
			t.Errorf("the last event again: %+v", e)
		}
	}
	if _, err := s.Get(t.Context(), "nobody"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown run: %v", err)
	}
	cut, err := s.Start(t.Context(), sdkhttp.RunRequest{Objective: "Build a bell", TaskName: "bell"})
	if err != nil {
		t.Fatal(err)
	}
	end()
	s.Close()
	if got, err := s.Get(t.Context(), cut.ID); err != nil || got.Status == "running" || got.Status == "completed" {
		t.Errorf("a run that the server's end cut off: %+v, %v", got, err)
	}
}
