package sdk

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Conversation is an agent for a talk in turns. Messages and files last from turn to turn. Methods may be
// called at the same time.
type Conversation struct{ dialog }

// Outcome is the whole of an ended conversation.
type Outcome struct {
	ID        string         `json:"id"`
	Turns     []Turn         `json:"turns"`
	Documents []Document     `json:"documents"`
	Costs     price.Report   `json:"costs"`
	Usage     provider.Usage `json:"usage"`
	Took      time.Duration  `json:"took_ns"`
}

// Agent returns the agent.
func (c *Conversation) Agent() *Agent { return c.t.agent }

// Send says something to the agent, or names an item of the menu, and returns at once. The error is [ErrBusy]
// while a turn is under way, [ErrPaused] if it is paused; a question of [Question.Source] "text" does not keep
// the agent busy. "*exit" ends the conversation.
func (c *Conversation) Send(ctx context.Context, text string) error {
	_, err := c.send(ctx, text, c.t.output)
	return err
}

// send returns the index of the turn; -1 if the conversation ends instead.
func (c *Conversation) send(ctx context.Context, text string, form *schema) (turn int, err error) {
	if isOneOf(text, "*exit", "/exit") {
		return -1, c.t.endSession(ctx)
	}
	if help, ok := c.t.menu.helpFor(text); ok {
		return c.t.answerWithoutModel(ctx, text, help)
	}
	if turn, err = c.t.beginTurn(ctx, text, form, nil); err == nil {
		err = c.t.workInBackground()
	}
	return turn, err
}

// Answer answers a question; an empty id means the oldest one.
func (c *Conversation) Answer(ctx context.Context, questionID, text string) error {
	more, err := c.t.answer(ctx, questionID, text)
	if more && err == nil {
		err = c.t.workInBackground()
	}
	return err
}

// Wait returns the last turn once the agent is idle, paused or over, with the error of an early end. An open
// question does not end the wait.
func (c *Conversation) Wait(ctx context.Context) (*Turn, error) {
	t := c.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.waitUntil(ctx, func() bool { return !t.working }); err != nil {
		return nil, err
	}
	return t.state.lastTurn(), t.failure
}

// Resume goes on with a paused turn, of this process or another.
func (c *Conversation) Resume(context.Context) error {
	c.t.mu.Lock()
	idle := c.t.state.Turn == nil
	c.t.mu.Unlock()
	if idle {
		return ErrNotPaused
	}
	return c.t.workInBackground()
}

// Cancel ends the turn under way. Written files stay.
func (c *Conversation) Cancel() { c.cancelTurn(-1) }

// cancelTurn ends the turn of an index, or any turn if the index is negative.
func (c *Conversation) cancelTurn(turn int) {
	t := c.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn >= 0 && turn != len(t.state.Turns) {
		return
	}
	if t.cancel != nil {
		t.cancel()
		return
	}
	if t.state.Turn != nil { // it is paused
		t.endOrPauseTurn(context.Canceled, false)
		t.wakeWaiters()
	}
}

// Idle reports whether the agent is ready for a message.
func (c *Conversation) Idle() bool { return c.Status() == Idle }

// History returns the finished turns.
func (c *Conversation) History() []Turn {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	return append([]Turn{}, c.t.state.Turns...)
}

// Follow returns the saved events after seq after, and a channel of later ones. stop ends the channel.
func (c *Conversation) Follow(ctx context.Context, after int64) (past []Event, live <-chan Event, stop func(), err error) {
	live, first, stop := c.t.follow(after)
	if first <= after+1 {
		return nil, live, stop, nil
	}
	stored, err := storedEvents(ctx, c.t.client.store, c.t.state.ID)
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	for _, e := range stored {
		if e.Seq > after && e.Seq < first {
			past = append(past, e)
		}
	}
	return past, live, stop, nil
}

// Save writes the conversation now; it is saved by itself after every step.
func (c *Conversation) Save(ctx context.Context) error {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	return c.t.saveUnlessWorking(ctx)
}

// End ends the conversation. A turn under way has to be over, or cancelled, before.
func (c *Conversation) End(ctx context.Context) (*Outcome, error) {
	if err := c.t.endSession(ctx); err != nil {
		return nil, err
	}
	out := &Outcome{ID: c.t.state.ID, Turns: c.History(), Documents: c.Documents(), Costs: c.Costs()}
	for _, turn := range out.Turns {
		out.Took += turn.Took
		out.Usage = out.Usage.Plus(turn.Usage)
	}
	return out, nil
}

// StartConversation prepares an agent for a conversation. Send begins it.
func (c *Client) StartConversation(ctx context.Context, agentID string, o ConversationOptions) (*Conversation, error) {
	t, err := c.newThread(ctx, kindConversation, agentID, o)
	if err != nil {
		return nil, err
	}
	return &Conversation{dialog{t}}, nil
}

// Open continues a saved conversation, or a session as one, even if another process saved it.
func (c *Client) Open(ctx context.Context, id string) (*Conversation, error) {
	return c.OpenWith(ctx, id, OpenOptions{})
}

// OpenWith is Open for a conversation with files, tools or commands of the caller's.
func (c *Client) OpenWith(ctx context.Context, id string, o OpenOptions) (*Conversation, error) {
	t, err := c.openThread(ctx, id, o)
	if err != nil {
		return nil, err
	}
	return &Conversation{dialog{t}}, nil
}

// Fresh reports whether the conversation can go on from the state in memory: the error is [ErrChanged] if
// another process has continued it, and [ErrLocked] if one is at work on it. A finished turn is saved before.
func (c *Conversation) Fresh(ctx context.Context) error {
	t := c.t
	t.mu.Lock()
	err := t.waitUntil(ctx, func() bool { return !t.working || t.state.Status == Processing || t.state.Status == Waiting })
	working := t.working
	t.mu.Unlock()
	if err != nil || working {
		return err
	}
	unlock, err := t.lockSession(ctx)
	if err != nil {
		return err
	}
	return unlock()
}

// Sync returns once all events so far are saved: a message sent before is not lost if the process dies. The
// error is as for [Conversation.Save].
func (c *Conversation) Sync(ctx context.Context) error {
	t := c.t
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.events.seq
	if err := t.waitUntil(ctx, func() bool { return t.state.Seq >= last || !t.working }); err != nil || t.state.Seq >= last {
		return err
	}
	return t.saveUnlessWorking(ctx)
}
