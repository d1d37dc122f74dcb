package sdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Session is one command for an agent. Methods may be called at the same time.
type Session struct{ dialog }

// Result is the outcome of a session.
type Result struct {
	ID string `json:"id"`
	// Status is ended, or paused if the session goes on with Resume.
	Status    Status       `json:"status"`
	Text      string       `json:"text"`
	Documents []Document   `json:"documents"`
	Costs     price.Report `json:"costs"`
	Tools     []ToolCall   `json:"tool_calls,omitempty"`
	// Output is the answer as JSON of the type in the options.
	Output json.RawMessage `json:"output,omitempty"`
	// Questions are the open ones if the session is paused at them.
	Questions []Question    `json:"questions,omitempty"`
	Took      time.Duration `json:"took_ns"`
}

// Run works until the command is carried out. Questions are answered with Answer at the same time; if one waits
// for longer than the pause time-out, or Pause is called, the session is saved and the result has the status
// [Paused]. So does, with an error, a cancelled context, a silent server, a failing disk, and a spent limit.
func (s *Session) Run(ctx context.Context) (*Result, error) {
	run, err := s.t.startWork(ctx)
	if run != nil {
		err = run()
	}
	if _, unsaved := errors.AsType[*StoreError](err); errors.Is(err, errPaused) && !unsaved {
		err = nil
	}
	s.t.mu.Lock()
	if s.t.state.Status == Ended || s.t.state.Status == Failed {
		s.t.events.close()
	}
	s.t.mu.Unlock()
	return s.Result(), err
}

// Result returns the outcome so far.
func (s *Session) Result() *Result {
	s.t.mu.Lock()
	turn := cmp.Or(s.t.state.lastTurn(), &Turn{})
	s.t.mu.Unlock()
	return &Result{ID: s.ID(), Status: s.Status(), Text: turn.Response, Output: turn.Output, Documents: s.Documents(), Costs: s.Costs(),
		Tools: turn.Tools, Questions: s.Questions(), Took: turn.Took}
}

// Resume is Run for a paused session, of this process or another.
func (s *Session) Resume(ctx context.Context) (*Result, error) { return s.Run(ctx) }

// Answer answers a question; an empty id means the oldest one.
func (s *Session) Answer(ctx context.Context, questionID, text string) error {
	_, err := s.t.answer(ctx, questionID, text)
	return err
}

// StartAgent prepares an agent for one command: an item of the agent's menu or any words. Run begins the work.
func (c *Client) StartAgent(ctx context.Context, agentID, command string, o SessionOptions) (*Session, error) {
	t, err := c.newThread(ctx, kindSession, agentID, ConversationOptions{SessionOptions: o, PlainText: true})
	if err != nil {
		return nil, err
	}
	if _, err := t.beginTurn(ctx, command, t.output, nil); err != nil {
		return nil, err
	}
	return &Session{dialog{t}}, nil
}

// OpenSession continues a saved session of one command.
func (c *Client) OpenSession(ctx context.Context, id string) (*Session, error) {
	return c.OpenSessionWith(ctx, id, OpenOptions{})
}

// OpenSessionWith is OpenSession for a session with files, tools or commands of the caller's.
func (c *Client) OpenSessionWith(ctx context.Context, id string, o OpenOptions) (*Session, error) {
	t, err := c.openThread(ctx, id, o)
	if err != nil {
		return nil, err
	}
	return &Session{dialog{t}}, nil
}
