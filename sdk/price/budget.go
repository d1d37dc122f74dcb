package price

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// LimitError is a call beyond the rest of a limit, or work after the limit is spent.
type LimitError struct{ Spent, Limit Money }

// Error names both amounts.
func (e *LimitError) Error() string {
	if e.Spent == 0 {
		return fmt.Sprintf("the limit of %s is too small for a call", e.Limit)
	}
	return fmt.Sprintf("the limit of %s is reached: %s are spent", e.Limit, e.Spent)
}

// UnknownError is a model without a price, for which no limit can hold.
type UnknownError struct{ Model string }

// Error names the model.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("the price of the model %q is not known, so that no limit can hold for it", e.Model)
}

// RetiredError is a model refused by its server.
type RetiredError struct {
	Model, Successor string
	Since            time.Time
}

// Error names the model to take instead.
func (e *RetiredError) Error() string {
	return fmt.Sprintf("the model %q was retired on %s; take %s", e.Model, e.Since.Format(time.DateOnly), e.Successor)
}

// Budget adds up the costs of calls, and keeps them within a limit. Sub-agents spend the Budget of the work
// they are for. Methods may be called at the same time.
type Budget struct {
	table *Table
	limit Money

	mu      sync.Mutex
	models  map[string]Line
	spent   Money
	unknown bool
	warned  int
}

// Warnings are the parts of a limit, in percent, reported once they are spent.
var Warnings = []int{50, 80, 90}

// NewBudget returns a budget of which the lines are spent. limit 0 sets none. Negative numbers of a
// line count as 0.
func NewBudget(t *Table, limit Money, lines ...Line) *Budget {
	b := &Budget{table: t, limit: limit, models: map[string]Line{}}
	for _, l := range Most(lines, nil) {
		b.models[l.Model] = l
		if l.Spent != nil {
			b.spent = b.spent.Plus(*l.Spent)
		} else {
			b.unknown = true
		}
	}
	_ = b.newWarning(0) // a warning is given once, restarts included
	return b
}

// Admit refuses a model if the limit cannot hold for it, or if it is retired.
func (b *Budget) Admit(model string, at time.Time) error {
	r, known := b.table.Find(model, at)
	switch {
	case known && !r.Retired.IsZero() && !at.Before(r.Retired):
		return &RetiredError{Model: model, Successor: r.Successor, Since: r.Retired}
	case !known && b.limit > 0:
		return &UnknownError{Model: model}
	}
	return nil
}

// leastOutput is the shortest answer worth a call, in tokens.
const leastOutput = 1000

// Room returns how many tokens of an answer, at most want, fit into the rest of the limit after a prompt.
func (b *Budget) Room(model string, at time.Time, prompt int64, want int) (int, error) {
	if b.limit == 0 {
		return want, nil
	}
	r, known := b.table.Find(model, at)
	if !known {
		return 0, &UnknownError{Model: model}
	}
	b.mu.Lock()
	left, spent := b.limit-b.spent, b.spent
	b.mu.Unlock()
	// Whether the prompt comes from the cache is not known before: it counts as written to it.
	used := provider.Usage{CacheWrite5m: prompt}
	output := r.Output
	if r.Tokens > 0 && prompt > r.Tokens {
		output = r.Long.Output
	}
	left -= r.Of(used)
	if left >= 0 && output == 0 {
		return want, nil
	}
	fits := int64(0)
	if left > 0 {
		fits = int64(left / output)
	}
	if fits < min(leastOutput, int64(want)) {
		return 0, &LimitError{Spent: spent, Limit: b.limit}
	}
	return int(min(fits, int64(want))), nil
}

// Charge is the cost of a call as the budget has counted it.
type Charge struct {
	Usage provider.Usage
	Cost  Money
	// Known is false if the price is not known, and the cost 0.
	Known bool
	// Percent is the highest part of the limit reached for the first time, one of [Warnings], else 0.
	Percent int
}

// Spend adds a call of u by the server's count. An impossible number counts as in the estimate.
func (b *Budget) Spend(model string, at time.Time, u provider.Usage, e Estimate) Charge {
	c := Charge{Usage: e.countTokens(u)}
	c.Cost, c.Known = b.table.Cost(model, at, c.Usage)
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.models[model]
	l.Model, l.Usage = model, l.Usage.Plus(c.Usage)
	l.Calls++
	switch {
	case !c.Known:
		l.Spent, b.unknown = nil, true
	case l.Calls == 1 || l.Spent != nil:
		sum := c.Cost
		if l.Spent != nil {
			sum = sum.Plus(*l.Spent)
		}
		l.Spent = &sum
	}
	b.models[model] = l
	b.spent = b.spent.Plus(c.Cost)
	c.Percent = b.newWarning(0)
	return c
}

// AddSaved counts an amount saved by the choice of a model that has been called.
func (b *Budget) AddSaved(model string, saved Money) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.models[model]
	l.Saved += saved
	b.models[model] = l
}

// Warn is the Percent of [Charge] for work under way, with the uncounted cost until now.
func (b *Budget) Warn(until Money) (percent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newWarning(until)
}

// newWarning returns the highest part of the limit spent, more included, and not reported yet.
func (b *Budget) newWarning(more Money) (percent int) {
	for b.limit > 0 && b.warned < len(Warnings) && b.spent.Plus(more) >= b.limit/100*Money(Warnings[b.warned]) {
		percent = Warnings[b.warned]
		b.warned++
	}
	return percent
}

// Check returns a *LimitError if more than the limit is spent.
func (b *Budget) Check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && b.spent > b.limit {
		return &LimitError{Spent: b.spent, Limit: b.limit}
	}
	return nil
}

// Left returns the rest of the limit; ok is false if there is no limit.
func (b *Budget) Left() (left Money, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.limit-b.spent, 0), b.limit > 0
}

// Report has the costs so far.
type Report struct {
	Limit Money `json:"limit_nano_usd,omitempty"`
	Spent Money `json:"spent_nano_usd"`
	// Unknown is true if models without a price were used besides.
	Unknown bool `json:"unknown,omitempty"`
	// Saved is how much more the calls of chosen models would have cost by the default model.
	Saved  Money          `json:"saved_nano_usd,omitempty"`
	Usage  provider.Usage `json:"usage"`
	Models []Line         `json:"models"`
}

// Report returns the costs so far, by model.
func (b *Budget) Report() Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := Report{Limit: b.limit, Spent: b.spent, Unknown: b.unknown, Models: []Line{}}
	for _, name := range slices.Sorted(maps.Keys(b.models)) {
		l := b.models[name]
		r.Usage = r.Usage.Plus(l.Usage)
		r.Models, r.Saved = append(r.Models, l), r.Saved+l.Saved
	}
	return r
}
