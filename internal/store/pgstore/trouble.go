package pgstore

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// The codes of PostgreSQL with a meaning of their own here.
const (
	lockTimedOut  = "55P03"
	idleTimedOut  = "25P03"
	readOnly      = "25006"
	unique        = "23505"
	missingTable  = "42P01"
	notPermitted  = "42501"
	diskIsFull    = "53100"
	wrongPassword = "28P01"
	noText        = "22021"
)

// explainError adds a code and a remedy to an error of the database. Errors with a code, and the context's own,
// are returned unchanged.
func (d *Database) explainError(err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !isConnectError(err) {
		return err
	}
	return d.refusalOf(err)
}

// refusalOf is trouble for an error not caused by the caller.
func (d *Database) refusalOf(err error) error {
	code := codeOf(err)
	switch code {
	case lockTimedOut, "40001", "40P01":
		return fault.New(fault.Conflict, "it is in use: another call holds it in the store").
			WithHint("wait for the other call to end, then repeat this one")
	case noText:
		return fault.New(fault.InvalidArgument, "a name holds NUL or invalid UTF-8, which the store cannot keep")
	case missingTable:
		return withMigrateHint(fault.New(fault.Storage, "the store has no tables of bmad-mcp"))
	}
	e := fault.New(fault.Storage, "the store %s cannot be used: %s", d, inOneLine(err))
	e.Err = err
	switch code {
	case idleTimedOut:
		return e.WithHint("the call was held up for too long: repeat it; nothing was changed")
	case readOnly:
		return e.WithHint("it is read-only: name a primary, or all hosts and target_session_attrs=read-write; nothing was changed")
	case notPermitted:
		return e.WithHint("give this account the rights of the role that ran bmad-mcp store migrate; nothing was changed")
	case diskIsFull:
		return e.WithHint("its disk is full: free some space there, then repeat the action; nothing was changed")
	case wrongPassword, "28000":
		return e.WithHint("check the account, and its password in PGPASSFILE or in the address; nothing was changed")
	}
	return e.WithHint("check that it runs and can be reached (bmad-mcp store), then repeat the action; nothing was changed, and no files are used in its place")
}

// inOneLine returns an error's text. Two attempts to connect, with and without TLS, are named once.
func inOneLine(err error) string {
	var said []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if !slices.ContainsFunc(said, func(earlier string) bool { return strings.Contains(earlier, line) }) {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

// isConnectError reports whether an error comes from a failed attempt to connect.
func isConnectError(err error) bool {
	var failed *pgconn.ConnectError
	return errors.As(err, &failed)
}

func codeOf(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}

// constraintOf returns the violated constraint named in an error.
func constraintOf(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == unique {
		return said.ConstraintName
	}
	return ""
}

// isRefusal reports whether an error after a sent commit means that the transaction was not stored.
func isRefusal(err error) bool { return isDefinite(err) || errors.Is(err, queue.ErrLeaseLost) }

// isDefinite reports whether an error after a sent commit means that the transaction was not stored: the
// server has answered, and not because it was being shut down.
func isDefinite(err error) bool {
	code := codeOf(err)
	return code != "" && !strings.HasPrefix(code, "08") && !slices.Contains([]string{"57P01", "57P02", "57P03"}, code)
}
