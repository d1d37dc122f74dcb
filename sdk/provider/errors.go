package provider

import (
	"fmt"
	"time"
)

// Error is a failed call of a provider.
type Error struct {
	// Status is the status of HTTP; 0 if there was no answer.
	Status int
	// Type is the server's word for the kind of error, for example "overloaded_error".
	Type string
	// Message is the server's explanation.
	Message string
	// RequestID is the server's name for the call, for the support there.
	RequestID string
	// Retryable is true if the same call may succeed later; After is the least time until then.
	Retryable bool
	After     time.Duration
	// Err is the cause, if there is one besides.
	Err error
}

// Error describes the failure in one line.
func (e *Error) Error() string {
	text := e.Message
	if text == "" && e.Err != nil {
		text = e.Err.Error()
	}
	switch {
	case e.Status != 0 && e.Type != "":
		text = fmt.Sprintf("the model's server answered %d %s: %s", e.Status, e.Type, text)
	case e.Status != 0:
		text = fmt.Sprintf("the model's server answered %d: %s", e.Status, text)
	default:
		text = "the model's server cannot be used: " + text
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retry announces the repetition of a call.
type Retry struct {
	// Attempt counts the calls, the coming one included.
	Attempt int
	// After is the wait before it.
	After time.Duration
	// Because is the failure of the call before.
	Because error
}
