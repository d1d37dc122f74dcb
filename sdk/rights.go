package sdk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// Rights keeps the rights and costs of sessions out of reach of their agents and of all else in a project.
// Methods may be called at the same time for different sessions.
type Rights interface {
	// Keep replaces the record of a session, a JSON value.
	Keep(ctx context.Context, id string, data []byte) error
	// Kept returns the latest record; nil if there is none, or none to trust.
	Kept(ctx context.Context, id string) []byte
}

// rightsState is the kept form.
type rightsState struct {
	// Seq counts the changes. The state has it too, which shows an older record.
	Seq     int          `json:"seq"`
	Options optionState  `json:"options"`
	Models  []price.Line `json:"costs,omitempty"`
}

// OpenOptions are the options that a saved session cannot hold, and its rights. The file can be written by
// others, the agent perhaps among them, so it never gives a session more than the caller: the record of
// [Options.Rights] counts, and without a record no command, the limit of the client or the file, whichever is
// lower, and the defaults of MaxTokens and Rounds. A session without a record spends nothing before a limit is
// named, unless the model has no price. A field with a value replaces all of the record's.
type OpenOptions struct {
	// FS are the files of a session started with files of the caller's.
	FS vfs.FS
	// CostLimit, if not 0, is the limit from the beginning of the session. CostLeft, if not 0, is the amount to
	// spend from now on.
	CostLimit, CostLeft price.Money
	// Commands are the command lines for the agent to run, by Run; nil leaves the commands in the record of
	// Rights.
	Commands []string
	Run      func(ctx context.Context, command string) (output string, failed bool)
	// ReadOnly leaves out the tools for writing.
	ReadOnly bool
	// Tools and OnQuestion are as in [SessionOptions]. A session goes on without missing tools, with a warning.
	Tools      []AnyTool
	OnQuestion func(ctx context.Context, q Question) (string, error)
	// MaxTokens and Rounds are as in [SessionOptions].
	MaxTokens, Rounds int
}

// applyOverrides replaces options by the caller's.
func (o *optionState) applyOverrides(by OpenOptions, spent price.Money) {
	switch {
	case by.CostLimit != 0:
		o.CostLimit = by.CostLimit
	case by.CostLeft != 0:
		o.CostLimit = spent.Plus(by.CostLeft)
	}
	if by.Commands != nil {
		o.Commands = by.Commands
	}
	o.ReadOnly = o.ReadOnly || by.ReadOnly
	o.MaxTokens, o.Rounds = cmp.Or(by.MaxTokens, o.MaxTokens), cmp.Or(by.Rounds, o.Rounds)
}

// leastOptions returns the part of a file's options that counts without a record, with the limit of the client.
func (o optionState) leastOptions(limit price.Money) optionState {
	o.Commands = nil
	o.MaxTokens, o.Rounds = min(o.MaxTokens, defaultMaxTokens), min(o.Rounds, defaultRounds)
	if limit > 0 && (o.CostLimit <= 0 || o.CostLimit > limit) {
		o.CostLimit = limit
	}
	return o
}

// describeDifference names the options of a file that do not count.
func (o optionState) describeDifference(from optionState) (says []string) {
	for _, part := range []struct {
		differs bool
		words   string
	}{
		{o.CostLimit != from.CostLimit && o.CostLimit == 0, "no limit of costs"},
		{o.CostLimit != from.CostLimit && o.CostLimit != 0, fmt.Sprintf("a limit of %s", o.CostLimit)},
		{!slices.Equal(o.Commands, from.Commands), fmt.Sprintf("the commands %q", o.Commands)},
		{o.MaxTokens != from.MaxTokens, fmt.Sprintf("answers of %d tokens", o.MaxTokens)},
		{o.Rounds != from.Rounds, fmt.Sprintf("%d calls in a turn", o.Rounds)},
		{o.ReadOnly != from.ReadOnly, fmt.Sprintf("read only: %t", o.ReadOnly)},
	} {
		if part.differs {
			says = append(says, part.words)
		}
	}
	return says
}

// The defaults of sessions.
const (
	defaultPause     = 30 * time.Minute
	defaultMaxTokens = 16_000
	defaultRounds    = 50
)
