package terminal

import (
	"cmp"
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// Exit ends the program with a code promised to scripts. The reason was printed already.
type Exit struct {
	Code int
	why  string
}

// Error implements error.
func (e *Exit) Error() string { return e.why }

// The ends of a command with a printed reason.
var (
	// ErrReported: the error itself was printed.
	ErrReported = &Exit{1, "reported"}
	// ErrUnvouched: the signatures for a proof are missing or unknown.
	ErrUnvouched = &Exit{3, "unvouched"}
	// ErrPending: a decision was needed and not given.
	ErrPending = &Exit{6, "pending"}
	// ErrSpent and ErrEngine are the ends of a model's work.
	ErrSpent  = &Exit{8, "spent"}
	ErrEngine = &Exit{9, "engine"}
	// ErrCancelled, ErrLost and ErrQueued are the states of a queued run: taken from the queue, without its worker, and
	// in the hands of the workers.
	ErrCancelled = &Exit{10, "cancelled"}
	ErrLost      = &Exit{11, "lost"}
	ErrQueued    = &Exit{12, "queued"}
	// ErrStopped: the person stopped the work, and the remaining work was printed. Shells use this code for
	// SIGINT.
	ErrStopped = &Exit{130, "stopped"}
)

// ExitStorage is the exit code for errors of the disk, and for all faults not in exitCodes.
const ExitStorage = 1

// exitCodes are the exit codes of faults.
var exitCodes = map[fault.Code]int{
	fault.InvalidArgument: 2, fault.NotFound: 3, fault.Conflict: 4,
	fault.WrongStage: 5, fault.NotAllowed: 5, fault.GatePending: 6, fault.Internal: 7,
}

// ExitCode returns the exit code of a fault.
func ExitCode(f *fault.Error) int { return cmp.Or(exitCodes[f.Code], ExitStorage) }

// Refuse prints a fault with the ways out.
func (t *Terminal) Refuse(f *fault.Error) {
	t.Warnf("%s", f.Message)
	if f.Hint != "" {
		fmt.Fprintln(t.Err, t.Lang.Say("  what to do: %s", joinLines(f.Hint)))
	}
	if len(f.Allowed) > 0 {
		fmt.Fprintln(t.Err, t.Lang.Say("  possible now: %s", joinLines(JoinWords(f.Allowed))))
	}
}
