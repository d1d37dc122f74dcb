// Package fault is the one error taxonomy of bmad-mcp.
//
// An [Error] has a [Code] for machines, a message for people (lower case, what
// happened and why), a hint (what to do next) and, where a session is involved,
// the actions that are allowed now. Every package below the faces returns these;
// each face maps them once: the MCP face to an isError result, the CLI to an
// exit code.
package fault

import (
	"errors"
	"fmt"
)

// Code classifies an error. The set is part of the tool's contract.
type Code string

// The codes a refused action can carry.
const (
	// InvalidArgument: the call itself is malformed; the same call will fail again.
	InvalidArgument Code = "invalid_argument"
	// NotFound: no such session, task or file.
	NotFound Code = "not_found"
	// Conflict: another caller got there first, or the call is ambiguous.
	Conflict Code = "conflict"
	// WrongStage: the session stands at another stage.
	WrongStage Code = "wrong_stage"
	// NotAllowed: the action exists, but not from the present state.
	NotAllowed Code = "not_allowed"
	// GatePending: a human decision is due before this can happen.
	GatePending Code = "gate_pending"
	// Storage: the disk refused; the cause is wrapped.
	Storage Code = "storage"
)

// Error is a refused action. Nothing was changed on disk when it is returned.
type Error struct {
	Code    Code
	Message string
	Hint    string
	// Allowed holds the actions that would be accepted now; empty when no session is known.
	Allowed []string
	// SessionID names the session the action was for, if it was found.
	SessionID string
	// Stage, State and Revision say where that session stands.
	Stage, State string
	Revision     int
	// NextCall is the call that mends it, where there is one.
	NextCall map[string]any
	// Err is the cause, reachable with errors.Is and errors.As.
	Err error
}

// New makes an error whose message is formatted like fmt.Errorf, %w included.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns e with the next move in words a person can follow.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error returns the message, without the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// From returns err as an *Error. An error that carries no code has come from
// below the taxonomy, which only the disk does, so it is a Storage error.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{
		Code:    Storage,
		Message: err.Error(),
		Hint:    "nothing was changed; check free space and permissions of the project folder, then repeat the action",
		Err:     err,
	}
}

// Is reports whether err carries code.
func Is(err error, code Code) bool {
	return err != nil && From(err).Code == code
}
