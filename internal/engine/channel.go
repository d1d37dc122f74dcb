package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
)

// Channel brings a question to a person and their answer back: a form of their host, a
// terminal. It is the way to a decision that is not another program's word for one.
type Channel interface {
	// Ask puts a question. An answer without a decision says why there is none. A channel
	// that gets its answer by a later repetition of the call returns ErrAsked.
	Ask(ctx context.Context, q Question) (Response, error)
}

// ErrAsked ends a call whose question is on its way to the person. Nothing was changed.
var ErrAsked = errors.New("the person was asked; the call is repeated with their answer")

// Notice reports on something that takes long.
type Notice = verify.Notice

// What a channel carries.
type (
	// Question is what a person is asked.
	Question = gate.Question
	// Bound says which point of which session an answer is for.
	Bound = gate.Bound
	// Choice is a decision and how a person reads it.
	Choice = gate.Choice
	// Response is the person's answer.
	Response = gate.Response
	// Silence says why there is no decision.
	Silence = gate.Silence
)
