package sdk

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// runCommand runs one of the agent's command lines.
type runCommand = func(ctx context.Context, command string) (output string, failed bool)

// thread is a session or conversation: the state, and the work on it. At most one goroutine works on a turn;
// every other call only looks, or answers a question.
type thread struct {
	client *Client
	kin
	// model answers.
	model provider.Provider
	agent *Agent
	menu  menu
	files vfs.FS
	toolkit
	// context is given to the agent with the first message.
	context string
	person
	budget *price.Budget
	// output is the form of the answers, form the form of this turn's answer; nil for text.
	output, form *schema

	mu     sync.Mutex
	state  state
	events hub
	// working is true while a goroutine is at work on the turn, cancel ends it. claimed is true once this
	// goroutine holds the session against other processes.
	working, claimed bool
	cancel           context.CancelFunc
	// pausing is true if the work is to stop at the next safe point.
	pausing bool
	// failure is why the last turn ended early, was paused or could not be saved.
	failure error
	// broken is the error of a sub-agent's use that could not be recorded, or of the caller's function for
	// questions. It ends the work.
	broken error
	// writing is true while the state is written. rights is the record kept last.
	writing bool
	rights  string
	// changed is closed, and replaced, whenever somebody may wait for the change.
	changed chan struct{}
	// warned is true once the model's missing price was reported.
	warned bool
}

// person has the caller's functions for the person: onQuestion answers, showDraft writes an answer under review.
type person struct {
	onQuestion func(ctx context.Context, q Question) (string, error)
	showDraft  func(output json.RawMessage) string
}

// kin is the place of a sub-agent.
type kin struct {
	// parent is the session above, by is the id of the tool use in it; nil for a session of its own.
	parent *thread
	by     string
	depth  int
}

// toolkit has the tools of a session.
type toolkit struct {
	// tools are all tools offered to the model, the caller's own last. fileTools are the file tools among them.
	tools     []provider.Tool
	own       []RawTool
	fileTools *vfs.Toolbox
	// command runs the agent's command lines.
	command runCommand
}

// waitUntil waits until something holds. The caller holds the lock, under which it is looked at.
func (t *thread) waitUntil(ctx context.Context, holds func() bool) error {
	for !holds() {
		changed := t.changed
		t.withoutLock(func() {
			select {
			case <-changed:
			case <-ctx.Done():
			}
		})
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// withoutLock does something slow without the lock, which the caller holds.
func (t *thread) withoutLock(do func()) {
	t.mu.Unlock()
	defer t.mu.Lock()
	do()
}

// publish adds the fields common to all events. The caller holds the lock.
func (t *thread) publish(e Event) {
	if t.parent != nil {
		if e.Type != EventTurnStarted {
			e.Agent = t.state.Agent.ID
			t.parent.lockAndPublish(e)
		}
		return
	}
	t.logEvent(e)
	e.At = t.client.o.Clock().UTC()
	if e.Turn = len(t.state.Turns); t.state.Turn != nil {
		e.Turn++
	}
	t.events.publish(e)
}

// logEvent writes an event into the caller's log, without texts. The caller gets failures as errors, too.
func (t *thread) logEvent(e Event) {
	level, about := slog.LevelDebug, []any{"session", t.state.ID}
	switch e.Type {
	case EventTextDelta:
		return
	case EventStarted, EventTurnStarted, EventTurnCompleted, EventQuestion, EventPaused, EventResumed, EventCompleted, EventCostWarning, EventWarning,
		EventRetry, EventFailed:
		level = slog.LevelInfo
	}
	if e.Agent != "" {
		about = append(about, "agent", e.Agent)
	}
	if e.Tool != nil {
		about = append(about, "tool", e.Tool.Name, "failed", e.Tool.Failed)
	}
	if e.Cost != nil {
		about = append(about, "prompt_tokens", e.Cost.Prompt, "output_tokens", e.Cost.Output, "spent_nano_usd", e.Cost.Spent)
	}
	t.client.o.Log.Log(context.Background(), level, string(e.Type), about...)
}

// follow returns the recent events after seq after, and all later ones until stop is called. first is the
// lowest possible number of the first event.
func (t *thread) follow(after int64) (events <-chan Event, first int64, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.events.addReader(after)
	return r.to, t.events.firstSeq(), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.events.removeReader(r)
	}
}

// wakeWaiters wakes all waiting goroutines after a change. The caller holds the lock.
func (t *thread) wakeWaiters() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// lockAndPublish publishes an event without the lock.
func (t *thread) lockAndPublish(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.publish(e)
}
