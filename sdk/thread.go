package sdk

import (
	"context"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// runCommand runs a command line that the agent may use.
type runCommand = func(ctx context.Context, command string) (output string, failed bool)

// thread is a session or conversation: its state, and the work on it. At most one goroutine
// works on a turn; every other call only looks, or answers a question.
type thread struct {
	client *Client
	kin
	// model answers.
	model provider.Provider
	agent *Agent
	menu  menu
	files vfs.FS
	toolkit
	// context is told to the agent with its first message. onQuestion is the caller's function that
	// answers.
	context    string
	onQuestion func(ctx context.Context, q Question) (string, error)
	budget     *price.Budget
	// output is the form of the answers, form that of the answer to the turn; nil for text.
	output, form *schema

	mu     sync.Mutex
	state  state
	events hub
	// working is true while a goroutine is at work on the turn, cancel ends it.
	// claimed is true once that goroutine holds the session against other processes.
	working, claimed bool
	cancel           context.CancelFunc
	// pausing is true if the work is to stop at the next safe point.
	pausing bool
	// failure is why the last turn ended early, was paused or could not be saved.
	failure error
	// broken is the error of a use of a sub-agent that could not be recorded, or of the caller's function
	// for questions. It ends the work.
	broken error
	// writing is true while the state is written. rights are those that were kept last.
	writing bool
	rights  string
	// changed is closed, and replaced, whenever somebody may wait for the change.
	changed chan struct{}
	// warned is true once the model's missing price was reported.
	warned bool
}

// kin is the place of a sub-agent.
type kin struct {
	// parent is the session that it works for, by the tool use of that id; nil for a session of its own.
	parent *thread
	by     string
	depth  int
}

// toolkit has the tools of a session.
type toolkit struct {
	// tools are those that the model is offered; those of own, the caller's, are last. fileTools are the
	// part of them for files.
	tools     []provider.Tool
	own       []RawTool
	fileTools *vfs.Toolbox
	// command runs the command lines that the agent may use.
	command runCommand
}

// until waits until something holds. The caller holds the lock, under which it is looked at.
func (t *thread) until(ctx context.Context, holds func() bool) error {
	for !holds() {
		changed := t.changed
		t.unlocked(func() {
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

// unlocked does something that may take long without the lock, which the caller holds.
func (t *thread) unlocked(do func()) {
	t.mu.Unlock()
	defer t.mu.Lock()
	do()
}

// publish adds the fields that every event has. The caller holds the lock.
func (t *thread) publish(e Event) {
	if t.parent != nil {
		if e.Type != EventTurnStarted {
			e.Agent = t.state.Agent.ID
			t.parent.event(e)
		}
		return
	}
	e.At = t.client.o.Clock().UTC()
	if e.Turn = len(t.state.Turns); t.state.Turn != nil {
		e.Turn++
	}
	t.events.publish(e)
}

// follow returns the recent events after one, the first of which could have the number first, and those to
// come until stop is called.
func (t *thread) follow(after int64) (events <-chan Event, first int64, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.events.follow(after)
	return r.to, t.events.first(), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.events.drop(r)
	}
}

// wake tells all who wait that something has changed. The caller holds the lock.
func (t *thread) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// event publishes an event without the lock.
func (t *thread) event(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.publish(e)
}
