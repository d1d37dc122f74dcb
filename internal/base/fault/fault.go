// Package fault is the one error taxonomy of bmad-mcp.
//
// An [Error] has a [Code] for machines, a message for people (lower case, the failure and its reason), a
// hint (the next step) and, if a session is involved, the actions allowed now. Every package below the
// faces returns these; each face maps them once, in the reader's language: the MCP face to an isError
// result, the CLI to an exit code.
package fault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
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
	// WrongStage: the session is at another stage.
	WrongStage Code = "wrong_stage"
	// NotAllowed: the action exists, but the current state does not accept it.
	NotAllowed Code = "not_allowed"
	// GatePending: a person has to decide before this can happen.
	GatePending Code = "gate_pending"
	// Storage: reading or writing files failed; the cause is wrapped.
	Storage Code = "storage"
	// Internal: this program has a bug. Earlier effects of the action may remain.
	Internal Code = "internal"
)

// Error is a refused action. Nothing has changed on disk when it is returned, unless the code is Internal
// or the hint says so.
type Error struct {
	Code Code
	// Message and Hint are in English, or in the language of [Error.Translated].
	Message string
	Hint    string
	// Language is the language of Message and Hint; empty if nobody has chosen it.
	Language lang.Language
	// Allowed lists the actions that would be accepted now; empty if no session was found.
	Allowed []string
	// SessionID is the id of the action's session, if it was found.
	SessionID string
	// Stage, State and Revision are the session's.
	Stage, State string
	Revision     int
	// NextCall is the call to resolve the error, if there is one.
	NextCall map[string]any
	// Suggestions are names or addresses the caller may have meant; the hint has them too.
	Suggestions []string
	// Err is the cause, reachable with errors.Is and errors.As.
	Err error

	message lang.Text
	hints   []lang.Text
}

// New returns an error with a message formatted as by fmt.Errorf, including %w.
func New(code Code, format string, args ...any) *Error {
	err := lang.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err), message: lang.Of(err)}
}

// WithHint returns e with the next step, in words for a person to follow.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint, e.hints = "", nil
	e.AddHint(format, args...)
	return e
}

// AddHint continues the hint.
func (e *Error) AddHint(format string, args ...any) {
	hint := lang.T(format, args...)
	e.Hint += hint.String()
	e.hints = append(e.hints, hint)
}

// In returns the message in a language.
func (e *Error) In(l lang.Language) string {
	if l == lang.English || e.message.Empty() {
		return e.Message
	}
	return e.message.In(l)
}

// Translated returns e with message and hint in a language, unless they have a language already: the code
// which chose it was closer to the session.
func (e *Error) Translated(l lang.Language) *Error {
	if e.Language != "" {
		return e
	}
	out := *e
	out.Message, out.Language = e.In(l), l
	out.Hint = e.Advice().In(l)
	return &out
}

// Reworded returns e with message and hint in other words, in the same language.
func (e *Error) Reworded(words func(lang.Text) lang.Text) *Error {
	out := *e
	if !e.message.Empty() {
		out.message = words(e.message)
		out.Message = out.message.In(e.Language)
	}
	out.hints = []lang.Text{words(e.Advice())}
	out.Hint = out.Advice().In(e.Language)
	return &out
}

// Advice returns the hint, for the sentence of another error.
func (e *Error) Advice() lang.Text {
	if len(e.hints) > 0 {
		return lang.Join(e.hints, "")
	}
	return lang.T("%s", e.Hint)
}

// Error returns the message, without the hint.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// internalHint is the hint for a bug, whose effects are unknown.
const internalHint = "this is a bug in bmad-mcp, and effects of the call may remain: " +
	"check the run with status before repeating anything; " +
	"standard error of bmad-mcp, which hosts keep in their MCP logs, has the details"

// Unexpected returns the error for a cause that only a bug of this program can have, for example the value
// of a panic.
func Unexpected(cause any) *Error {
	err, _ := cause.(error)
	e := New(Internal, "internal error: %v", cause).WithHint(internalHint)
	e.Err = err
	return e
}

// OfDisk reports whether an error comes from the operating system or from reading or
// writing files.
func OfDisk(err error) bool {
	var inPath *fs.PathError
	var inLink *os.LinkError
	var inCall *os.SyscallError
	var number syscall.Errno
	if errors.As(err, &inPath) || errors.As(err, &inLink) || errors.As(err, &inCall) || errors.As(err, &number) {
		return true
	}
	for _, known := range []error{fs.ErrInvalid, fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, fs.ErrClosed,
		io.ErrUnexpectedEOF, io.ErrShortWrite, io.ErrClosedPipe, os.ErrDeadlineExceeded} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Hostile reports whether an error is about a file or folder left unread because of kind or size, and
// returns the next step for a person.
func Hostile(err error) (remedy lang.Text, ok bool) {
	var kind *durable.NotRegularError
	var size *durable.TooLargeError
	var many *durable.TooManyError
	switch {
	case errors.As(err, &kind):
		return lang.T("move %s away", kind.Name), true
	case errors.As(err, &size):
		return lang.T("shorten %s, or move it away", size.Name), true
	case errors.As(err, &many):
		return lang.T("move away from %s what does not belong there", many.Name), true
	}
	return lang.Text{}, false
}

// From returns err as an *Error. An error without a code becomes a Storage error if it is
// OfDisk, a Conflict if the call was cancelled or timed out, and Unexpected otherwise.
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
		return New(Conflict, "the call was cancelled before it was done: %w", err).
			WithHint("call status to see where the run is, then repeat the call")
	case !OfDisk(err):
		return Unexpected(err)
	}
	return New(Storage, "%w", err).
		WithHint("nothing was changed; check the free space and the permissions of the project folder, then repeat the action")
}

// Is reports whether err has the code.
func Is(err error, code Code) bool {
	return err != nil && From(err).Code == code
}
