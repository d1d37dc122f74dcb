package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
)

// Limits of texts that people and models type, in bytes.
const (
	MaxObjective = request.MaxObjective
	MaxFeedback  = request.MaxFeedback
	MaxAnswer    = request.MaxAnswer
)

// ErrAsked ends a call whose question is on its way to the person. Nothing was changed.
var ErrAsked = request.ErrAsked

// What a call carries to the engine, and a channel between the engine and the person.
type (
	// Request is one call, from any face.
	Request = request.Request
	// Result is what one engine hands in.
	Result = request.Result
	// Channel brings a question to a person and their answer back.
	Channel = request.Channel
	// Notice reports on something that takes long.
	Notice = verify.Notice
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
