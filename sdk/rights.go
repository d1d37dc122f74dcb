package sdk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	// MaxTokens and Rounds are those of [SessionOptions].
	MaxTokens, Rounds int
}

// admit puts the rights of the record, and without one the least, in place of those that the file of
// a session claims. Of these, only lower ones count. warning names the others.
func (c *Client) admit(ctx context.Context, s *state, o OpenOptions) (warning string) {
	file, counted := s.Options, price.Most(s.Models, nil)
	record, recorded := c.record(ctx, s.ID)
	newest := recorded && record.Seq >= s.RightsSeq
	s.Models, s.RightsSeq = price.Most(record.Models, counted), max(s.RightsSeq, record.Seq)
	spent := price.NewBudget(c.o.Prices, 0, s.Models...).Report().Spent
	if s.Options = record.Options; !newest {
		s.Options = file.least(c.o.CostLimit)
		// A session whose limit was lost, or taken out of the file, looks as one that had none. If the
		// price of the model is not known, there was none.
		_, priced := c.o.Prices.Find(s.Provider.Model, c.o.Clock())
		if priced && c.o.Rights != nil && c.o.CostLimit == 0 {
			s.Options.CostLimit = max(spent, 1)
		}
	}
	says := file.differ(s.Options)
	s.Options.CostLimit = cmp.Or(s.Options.CostLimit, c.o.CostLimit)
	if newest && !slices.EqualFunc(counted, s.Models, price.Line.Same) {
		says = append(says, "other costs")
	}
	s.Options.allow(o, spent)
	text := fmt.Sprintf("%.400s", strings.Join(says, ", "))
	switch {
	case c.o.Rights == nil || len(says) == 0:
		return ""
	case newest:
		return fmt.Sprintf("The file of this session was changed: it says %s. What this machine has recorded counts instead.", text)
	}
	return fmt.Sprintf("This machine has no record of what this session may do. Its file says %s, which does not count "+
		"unless you allow it again; a limit replaces that of the session.", text)
}

// record returns what Rights has kept of a session.
func (c *Client) record(ctx context.Context, id string) (r rightsState, ok bool) {
	if c.o.Rights == nil || json.Unmarshal(c.o.Rights.Kept(ctx, id), &r) != nil {
		return rightsState{}, false
	}
	return r, true
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
