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

// Rights keeps the rights and costs of sessions in a place where neither their agents nor
// anything else in a project can change it. Its methods may be called at the same time for
// different sessions.
type Rights interface {
	// Keep replaces the record of a session, a JSON value.
	Keep(ctx context.Context, id string, data []byte) error
	// Kept returns the record that was kept last; nil if there is none, or none that can be trusted.
	Kept(ctx context.Context, id string) []byte
}

// rightsState is the kept form.
type rightsState struct {
	// Seq counts the changes. The state has it too, so that an older record shows.
	Seq     int          `json:"seq"`
	Options optionState  `json:"options"`
	Models  []price.Line `json:"costs,omitempty"`
}

// OpenOptions are the options that a saved session cannot hold, and its rights. The file can be written
// by others, its agent perhaps among them, so that it never gives a session more than the caller:
// the record of [Options.Rights] counts, and without that no command, the limit of the client or the
// file, whichever is lower, and the defaults of MaxTokens and Rounds. A session of which Rights has
// kept nothing spends nothing before a limit is named, unless its model has no price. Fields that
// are set replace all of that.
type OpenOptions struct {
	// FS are the files of a session that was started with files of the caller's.
	FS vfs.FS
	// CostLimit, if not 0, is the limit from the beginning of the session. CostLeft, if not 0, is
	// the amount that may be spent from now on.
	CostLimit, CostLeft price.Money
	// Commands are the command lines that the agent may run, by Run; nil leaves those that Rights
	// has kept.
	Commands []string
	Run      func(ctx context.Context, command string) (output string, failed bool)
	// ReadOnly leaves out the tools that write.
	ReadOnly bool
	// Tools and OnQuestion are those of [SessionOptions]. A session whose tools are missing goes on
	// without them, with a warning.
	Tools      []AnyTool
	OnQuestion func(ctx context.Context, q Question) (string, error)
	// MaxTokens and Rounds are those of [SessionOptions].
	MaxTokens, Rounds int
}

// allow replaces options by those that a caller names.
func (o *optionState) allow(by OpenOptions, spent price.Money) {
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

// least returns the part of a file's options that counts if there is no record, with the limit of the client.
func (o optionState) least(limit price.Money) optionState {
	o.Commands = nil
	o.MaxTokens, o.Rounds = min(o.MaxTokens, defaultMaxTokens), min(o.Rounds, defaultRounds)
	if limit > 0 && (o.CostLimit <= 0 || o.CostLimit > limit) {
		o.CostLimit = limit
	}
	return o
}

// differ names the options of a file that are not those that count.
func (o optionState) differ(from optionState) (says []string) {
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
