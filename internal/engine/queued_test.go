package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// manned is a store of a team with workers, which counts how often somebody asks about them.
type manned struct {
	*storetest.Mem
	at    bool
	err   error
	asked int
}

func (m *manned) AtWorkers(context.Context, string) (bool, error) {
	m.asked++
	return m.at, m.err
}

// TestWorkersAreNamed: an assistant that looks at a run of the workers is told to leave it to them, and nobody else is;
// a run without a branch costs no query.
func TestWorkersAreNamed(t *testing.T) {
	const words = "A worker of the team works on this run"
	kept := &manned{Mem: storetest.NewMem(), at: true}
	b := newBench(t)
	b.environ = []string{"BMAD_STORE=postgres://db.example.com/team", "BMAD_PROJECT=git.example.com/team/relay"}
	b.backend = func(store.Place) (store.Backend, error) { return kept, nil }
	b.restart()
	look := func(action workflow.Action, notifies bool) string {
		req := request.Request{Action: action}
		req.Notifies = notifies
		return b.do(req).UserMessage
	}
	queued := start("build a relay")
	queued.Apart = true
	b.do(queued)
	for _, tt := range []struct {
		name     string
		action   workflow.Action
		notifies bool
		at       bool
		err      error
		want     bool
	}{
		{"status", workflow.ActionStatus, false, true, nil, true},
		{"resume", workflow.ActionResume, false, true, nil, true},
		{"the worker itself", workflow.ActionResume, true, true, nil, false},
		{"taken from the queue", workflow.ActionStatus, false, false, nil, false},
		{"a queue that cannot be read", workflow.ActionStatus, false, true, errors.New("away"), false},
	} {
		kept.at, kept.err = tt.at, tt.err
		if got := look(tt.action, tt.notifies); strings.Contains(got, words) != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	kept.at, kept.err, kept.asked = true, nil, 0
	b.do(submit(workflow.PO, "Quality Score: 95"))
	if got := look(workflow.ActionStatus, false); strings.Contains(got, words) || kept.asked > 0 {
		t.Errorf("at a gate: %q", got)
	}
	b.do(request.Request{Action: workflow.ActionCancel})
	b.session = ""
	b.do(start("build a cache"))
	if got := look(workflow.ActionStatus, false); strings.Contains(got, words) || kept.asked > 0 {
		t.Errorf("without a branch: %q, asked %d times", got, kept.asked)
	}
}
