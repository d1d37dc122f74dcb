package sdk

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Errors of calls that do not fit the session as it is. Nothing was changed.
var (
	ErrNoQuestion = errors.New("there is no open question of that id")
	ErrBusy       = errors.New("the session is at work or waits for an answer")
	ErrEnded      = errors.New("the session has ended")
	ErrNotPaused  = errors.New("no turn is paused")
	ErrNotFound   = errors.New("there is no session of that id")
	// ErrPaused is a session whose turn waits for Resume. It is an ErrBusy, too.
	ErrPaused error = pausedError{}
	// ErrChanged is a session that another process has continued.
	ErrChanged = errors.New("another process has continued the session; open it again")
	// ErrLocked is a session that another process is at work on.
	ErrLocked = errors.New("another process is at work on the session")
	// ErrNoProvider is a client that was made for listing agents only.
	ErrNoProvider = errors.New("the client has no provider, so that it cannot start a session")
)

type pausedError struct{}

func (pausedError) Error() string {
	return "a turn is paused; Resume goes on with it, and Cancel ends it"
}

func (pausedError) Is(target error) bool { return target == ErrBusy }

// Errors of turns that ended early. The work until then is kept.
var (
	// ErrTruncated is an answer that was cut twice in a row.
	ErrTruncated = errors.New("the model's answer was cut at its limit, and its continuation too; ask for less at once, or raise MaxTokens")
	// ErrContextFull is a conversation that the model cannot hold any more.
	ErrContextFull = errors.New("the conversation is longer than the model can take; begin a new one with the documents of this one")
	// ErrQuestion is a turn that waits for an answer.
	ErrQuestion = errors.New("the agent asks a question, and waits for the answer")
	// ErrStopped is a turn that the person ended.
	ErrStopped = errors.New("the person stopped the work")
)

// Errors that carry facts, under one roof with those of the packages they come from.
type (
	// ProviderError is a call that the model's server refused or did not answer.
	ProviderError = provider.Error
	// CostLimitError is work that has spent its limit.
	CostLimitError = price.LimitError
	// PriceUnknownError is a model without a price, for which no limit can hold.
	PriceUnknownError = price.UnknownError
	// ModelRetiredError is a model that its server refuses.
	ModelRetiredError = price.RetiredError
)

// AgentError is an agent that cannot be used.
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

// StoreError is a session that could not be saved. It is paused, and goes on once the store works.
type StoreError struct{ Err error }

// Error describes the failure.
func (e *StoreError) Error() string { return fmt.Sprintf("the session cannot be saved: %v", e.Err) }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// RefusalError is an answer that the model refused to give.
type RefusalError struct{ Text string }

// Error repeats the model's words.
func (e *RefusalError) Error() string {
	if e.Text == "" {
		return "the model refused to answer"
	}
	return "the model refused to answer: " + e.Text
}

// QuestionError is a question that OnQuestion did not answer. The session is paused at it.
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

// maxRepairs is how often an answer that does not fit its type goes back to the model.
const maxRepairs = 2

// OutputError is an answer that does not fit its type after two repairs. A session is paused, and tries
// again with Resume; a conversation goes on with the next message.
type OutputError struct {
	// Text is the answer.
	Text string
	Err  error
}

// Error names the part that does not fit.
func (e *OutputError) Error() string {
	return fmt.Sprintf("the answer is not of the type that was asked for, after %d repairs: %v", maxRepairs, e.Err)
}

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// StateError is a saved session that cannot be used.
type StateError struct{ ID, Why string }

// Error names the session.
func (e *StateError) Error() string { return fmt.Sprintf("session %s: %s", e.ID, e.Why) }
