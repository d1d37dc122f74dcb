package sdk

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Errors of calls at the wrong time. Nothing was changed.
var (
	ErrNoQuestion = errors.New("there is no open question of that id")
	ErrBusy       = errors.New("the session is at work or waits for an answer")
	ErrEnded      = errors.New("the session has ended")
	ErrNotPaused  = errors.New("no turn is paused")
	ErrNotFound   = errors.New("there is no session of that id")
	// ErrPaused is a session whose turn waits for Resume. It is an ErrBusy, too.
	ErrPaused error = pausedError{}
	// ErrChanged is a session continued by another process.
	ErrChanged = errors.New("another process has continued the session; open it again")
	// ErrLocked is a session at work in another process.
	ErrLocked = errors.New("another process is at work on the session")
	// ErrNoProvider is a client for listing agents only.
	ErrNoProvider = errors.New("the client has no provider, so that it cannot start a session")
)

type pausedError struct{}

func (pausedError) Error() string {
	return "a turn is paused; Resume goes on with it, and Cancel ends it"
}

func (pausedError) Is(target error) bool { return target == ErrBusy }

// Errors of turns that ended early. The work until then is kept.
var (
	// ErrTruncated is an answer cut twice in a row.
	ErrTruncated = errors.New("the model's answer was cut at its limit, and its continuation too; ask for less at once, or raise MaxTokens")
	// ErrContextFull is a conversation too long for the model.
	ErrContextFull = errors.New("the conversation is longer than the model can take; begin a new one with the documents of this one")
	// ErrQuestion is a turn at an open question.
	ErrQuestion = errors.New("the agent asks a question, and waits for the answer")
	// ErrStopped is a turn ended by the person.
	ErrStopped = errors.New("the person stopped the work")
)

// Errors with facts, under one name with the errors of the packages below.
type (
	// ProviderError is a call refused or not answered by the model's server.
	ProviderError = provider.Error
	// CostLimitError is work beyond the limit.
	CostLimitError = price.LimitError
	// PriceUnknownError is a model without a price, for which no limit can hold.
	PriceUnknownError = price.UnknownError
	// ModelRetiredError is a model refused by its server.
	ModelRetiredError = price.RetiredError
)

// AgentError is an unusable agent.
type AgentError struct {
	ID  string
	Why string
	// Near are agents of a similar name.
	Near []string
	err  error
}

// Error names the agents nearby.
func (e *AgentError) Error() string {
	text := fmt.Sprintf("agent %q: %s", e.ID, e.Why)
	if len(e.Near) > 0 {
		text += "; near: " + strings.Join(e.Near, ", ")
	}
	return text
}

// Unwrap returns the cause.
func (e *AgentError) Unwrap() error { return e.err }

// StoreError is a session that could not be saved. The session is paused, and goes on once the store works.
type StoreError struct{ Err error }

// Error describes the failure.
func (e *StoreError) Error() string { return fmt.Sprintf("the session cannot be saved: %v", e.Err) }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// RefusalError is the model's refusal to answer.
type RefusalError struct{ Text string }

// Error repeats the model's words.
func (e *RefusalError) Error() string {
	if e.Text == "" {
		return "the model refused to answer"
	}
	return "the model refused to answer: " + e.Text
}

// QuestionError is a question not answered by OnQuestion. The session is paused at it.
type QuestionError struct {
	Question Question
	Err      error
}

// Error repeats the question.
func (e *QuestionError) Error() string {
	return fmt.Sprintf("the question %q was not answered: %v", e.Question.Question, e.Err)
}

// Unwrap returns the cause.
func (e *QuestionError) Unwrap() error { return e.Err }

// MaxRepairs is how often an unfit answer goes back to the model.
const MaxRepairs = 2

// OutputError is an answer still not of the type after two repairs. A session is paused, and tries again with
// Resume; a conversation goes on with the next message.
type OutputError struct {
	// Text is the answer.
	Text string
	Err  error
}

// Error names the unfit part.
func (e *OutputError) Error() string {
	return fmt.Sprintf("the answer is not of the type that was asked for, after %d repairs: %v", MaxRepairs, e.Err)
}

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// IsUnfit reports whether the model has answered, but not with the work that it was asked for: refused, cut short, or in
// another form.
func IsUnfit(err error) bool {
	_, refused := errors.AsType[*RefusalError](err)
	_, output := errors.AsType[*OutputError](err)
	return refused || output || errors.Is(err, ErrTruncated) || errors.Is(err, ErrContextFull) || errors.Is(err, ErrStopped)
}

// StateError is a saved session that cannot be used.
type StateError struct{ ID, Why string }

// Error names the session.
func (e *StateError) Error() string { return fmt.Sprintf("session %s: %s", e.ID, e.Why) }
