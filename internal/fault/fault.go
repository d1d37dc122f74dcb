// Package fault is the one error taxonomy of bmad-mcp.
//
// An [Error] has a [Code] for machines, a message for people (lower case, what
// happened and why), a hint (what to do next) and, where a session is involved,
// the actions that are allowed now. Every package below the faces returns these;
// each face maps them once: the MCP face to an isError result, the CLI to an
// exit code.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
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
	// Internal: this program has a bug. What the action had done by then may stand.
	Internal Code = "internal"
)

// Error is a refused action. Nothing was changed on disk when it is returned, unless its
// code is Internal or its hint says so.
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

// internalHint is for what nobody foresaw: a bug, whose effects are not known.
const internalHint = "this is a bug in bmad-mcp, and what was done before it may stand: " +
	"look with status where the session is before anything is repeated; " +
	"standard error of bmad-mcp, which hosts keep in their MCP logs, has the details"

// Unexpected returns the error for something that cannot happen unless this program has a
// bug, such as the value of a panic.
func Unexpected(cause any) *Error {
	err, _ := cause.(error)
	return &Error{Code: Internal, Message: fmt.Sprintf("internal error: %v", cause), Hint: internalHint, Err: err}
}

// OfDisk reports whether an error has come from the operating system, or from reading or
// writing files.
func OfDisk(err error) bool {
	var inPath *fs.PathError
	var inLink *os.LinkError
	var inCall *os.SyscallError
	var number syscall.Errno
	if errors.As(err, &inPath) || errors.As(err, &inLink) || errors.As(err, &inCall) || errors.As(err, &number) {
		return true
	}
	for _, known := range []error{fs.ErrInvalid, fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, fs.ErrClosed, io.ErrUnexpectedEOF, io.ErrShortWrite, io.ErrClosedPipe, os.ErrDeadlineExceeded} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// From returns err as an *Error. One that carries no code is a Storage error if the
// disk has made it, a Conflict if the caller's time was up, and else Unexpected.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return New(Conflict, "the call was given up before it was done: %w", err).
			WithHint("call status to see where the session stands, then repeat the call")
	case !OfDisk(err):
		return Unexpected(err)
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
