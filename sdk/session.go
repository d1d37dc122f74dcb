package sdk

import (
	"context"
	"errors"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// Document is a file that an agent has made.
type Document struct {
	Path     string    `json:"path"`
	Content  string    `json:"content"`
	Modified time.Time `json:"modified_at,omitzero"`
}

// Session is one command for an agent. Its methods may be called at the same time.
type Session struct{ t *thread }

// Result is the outcome of a session.
type Result struct {
	ID string `json:"id"`
	// Status is ended, or paused if the session goes on with Resume.
	Status    Status       `json:"status"`
	Text      string       `json:"text"`
	Documents []Document   `json:"documents"`
	Costs     price.Report `json:"costs"`
	Tools     []ToolCall   `json:"tool_calls,omitempty"`
	// Questions are the open ones if the session is paused at them.
	Questions []Question    `json:"questions,omitempty"`
	Took      time.Duration `json:"took_ns"`
}

// ID identifies the session.
func (s *Session) ID() string { return s.t.ID }

// Run works until the command is carried out. Questions are answered with Answer at the same time;
// if one waits for longer than the pause time-out, or Pause is called, the session is saved and
// the result has the status [Paused]. So does, with an error, a cancelled context, a server that
// does not answer, a disk that fails, and a limit that is spent.
func (s *Session) Run(ctx context.Context) (*Result, error) {
	err := s.t.goOn(ctx)
	var unsaved *StoreError
	if errors.Is(err, errPaused) && !errors.As(err, &unsaved) {
		err = nil
	}
	return s.t.result(), err
}

// Resume is Run for a session that is paused, here or by another process.
func (s *Session) Resume(ctx context.Context) (*Result, error) { return s.Run(ctx) }

// Pause has the session stop at the next safe point: after the model's answer and the tools that it
// uses. Run then returns.
func (s *Session) Pause(ctx context.Context) error { return s.t.pause(ctx) }

// Answer answers a question; an empty id means the oldest one.
func (s *Session) Answer(ctx context.Context, questionID, text string) error {
	_, err := s.t.answer(ctx, questionID, text)
	return err
}

// Questions returns the open questions, the oldest first.
func (s *Session) Questions() []Question { return s.t.questions() }

// Status returns the state of the session.
func (s *Session) Status() Status { return s.t.status() }

// Events returns a channel of the events so far and those to come. It is closed when the session
// is over. A reader that is slow misses events, and is told how many; the session never waits.
func (s *Session) Events() <-chan Event { return s.t.channel() }

// Documents returns the files that the agent has written so far.
func (s *Session) Documents() []Document { return s.t.documents() }

// Files returns the agent's files.
func (s *Session) Files() vfs.FS { return s.t.files }

// Costs returns the costs so far.
func (s *Session) Costs() price.Report { return s.t.report() }

func (t *thread) result() *Result {
	t.mu.Lock()
	r := &Result{ID: t.ID, Status: t.Status, Questions: append([]Question(nil), t.Questions...)}
	if t.Turn != nil {
		r.Text, r.Tools, r.Took = t.response(), t.Turn.Tools, t.Turn.Took
	} else if n := len(t.Turns); n > 0 {
		r.Text, r.Tools, r.Took = t.Turns[n-1].Response, t.Turns[n-1].Tools, t.Turns[n-1].Took
	}
	over := t.Status == Ended || t.Status == Failed
	t.mu.Unlock()
	if over {
		t.events.close()
	}
	r.Documents, r.Costs = t.documents(), t.report()
	return r
}

func (t *thread) pause(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Status == Ended || t.Status == Failed {
		return ErrEnded
	}
	t.pausing = true
	t.wake()
	return t.until(ctx, func() bool { return !t.working })
}

func (t *thread) questions() []Question {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Question(nil), t.Questions...)
}

func (t *thread) status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working && t.Status == Idle { // the turn is being saved
		return Processing
	}
	return t.Status
}

func (t *thread) channel() <-chan Event {
	events, _, _ := t.events.follow(0)
	return events
}

// documents returns the files that the agent has made.
func (t *thread) documents() []Document {
	out := []Document{}
	for _, info := range t.box.madeFiles() {
		if data, err := t.files.Read(info.Path); err == nil {
			out = append(out, Document{Path: info.Path, Content: string(data), Modified: info.Modified})
		}
	}
	return out
}

// StartAgent prepares an agent for one command, which is an item of its menu or any words. Run
// begins the work.
func (c *Client) StartAgent(ctx context.Context, agentID, command string, o SessionOptions) (*Session, error) {
	t, err := c.start(ctx, kindSession, agentID, ConversationOptions{SessionOptions: o, PlainText: true})
	if err != nil {
		return nil, err
	}
	if err := t.begin(ctx, command); err != nil {
		return nil, err
	}
	return &Session{t}, nil
}

// OpenSession continues a saved session of one command.
func (c *Client) OpenSession(ctx context.Context, id string) (*Session, error) {
	t, err := c.open(ctx, id, OpenOptions{})
	if err != nil {
		return nil, err
	}
	return &Session{t}, nil
}
