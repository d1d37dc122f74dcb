package price

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

//go:embed prices.json
var listed []byte

// Prices are the prices of one token, by how the server counted it.
type Prices struct {
	Input, CacheWrite5m, CacheWrite1h, CacheRead, Output Money
}

// Rate has the prices of a model from a day on.
type Rate struct {
	Model string
	// From is the first day, in UTC; an earlier call is not counted by it.
	From time.Time
	Prices
	// Tokens is the length of the prompt above which Long is in force for the whole call; 0 if
	// the length makes no difference.
	Tokens int64
	Long   Prices
	// Retired is the day from which the server refuses the model; zero if none is known.
	// Successor is the model to take instead.
	Retired   time.Time
	Successor string
	// Source is the page with the prices.
	Source string
}

// Table is a list of prices. It does not change.
type Table struct{ rates []Rate }

// Default returns the list of this package.
var Default = sync.OnceValue(func() *Table {
	t, err := Parse(listed)
	if err != nil {
		panic(err) // the list is part of the program, and tested
	}
	return t
})

// The form of a list as JSON, in dollars for a million tokens.
type (
	listForm struct {
		Unit   string     `json:"unit"`
		Prices []rateForm `json:"prices"`
	}
	rateForm struct {
		Model string `json:"model"`
		From  string `json:"from"`
		pricesForm
		Above *struct {
			Tokens int64 `json:"tokens"`
			pricesForm
		} `json:"above"`
		Retired   string `json:"retired"`
		Successor string `json:"successor"`
		Source    string `json:"source"`
	}
	pricesForm struct {
		Input        *float64 `json:"input"`
		CacheWrite5m *float64 `json:"cache_write_5m"`
		CacheWrite1h *float64 `json:"cache_write_1h"`
		CacheRead    *float64 `json:"cache_read"`
		Output       *float64 `json:"output"`
	}
)

// Parse reads a list in the form of prices.json of this package: dollars for a million tokens. The price of the
// input counts for a missing price of the cache.
func Parse(data []byte) (*Table, error) {
	var form listForm
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&form); err != nil {
		return nil, fmt.Errorf("the list of prices cannot be read: %w", err)
	}
	t := &Table{}
	for i, f := range form.Prices {
		r, err := f.toRate()
		if err != nil {
			return nil, fmt.Errorf("price %d of the list, model %q: %w", i+1, f.Model, err)
		}
		t.rates = append(t.rates, r)
	}
	return t, nil
}

func (f rateForm) toRate() (r Rate, err error) {
	r = Rate{Model: f.Model, Successor: f.Successor, Source: f.Source}
	if f.Model == "" {
		return r, fmt.Errorf("the name of the model is missing")
	}
	if r.From, err = parseDay(f.From); err != nil {
		return r, err
	}
	if r.Retired, err = parseDay(f.Retired); err != nil {
		return r, err
	}
	if r.Prices, err = f.toPrices(); err != nil || f.Above == nil {
		return r, err
	}
	if r.Tokens = f.Above.Tokens; r.Tokens <= 0 {
		return r, fmt.Errorf("above.tokens must be more than 0")
	}
	r.Long, err = f.Above.toPrices()
	return r, err
}

func parseDay(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.DateOnly, text)
}

func (f pricesForm) toPrices() (p Prices, err error) {
	if f.Input == nil || f.Output == nil {
		return p, fmt.Errorf("input or output is missing")
	}
	money := func(usd *float64) Money {
		if usd == nil {
			usd = f.Input
		}
		nano := *usd * 1000 // of a token
		if *usd < 0 || *usd > 1e6 || math.Abs(nano-math.Round(nano)) > 1e-6 {
			err = fmt.Errorf("%v is not a price between 0 and 1,000,000 dollars in steps of 0.001", *usd)
		}
		return Money(math.Round(nano))
	}
	p = Prices{Input: money(f.Input), CacheWrite5m: money(f.CacheWrite5m), CacheWrite1h: money(f.CacheWrite1h),
		CacheRead: money(f.CacheRead), Output: money(f.Output)}
	return p, err
}

// Over returns a list in which the prices of this one replace all prices of the same models in
// another.
func (t *Table) Over(other *Table) *Table {
	merged := slices.Clone(t.rates)
	for _, r := range other.rates {
		if !slices.ContainsFunc(t.rates, func(own Rate) bool { return own.Model == r.Model }) {
			merged = append(merged, r)
		}
	}
	return &Table{rates: merged}
}

// All returns the list, sorted by model and day.
func (t *Table) All() []Rate {
	return slices.SortedFunc(slices.Values(t.rates), func(a, b Rate) int {
		return cmp.Or(strings.Compare(a.Model, b.Model), a.From.Compare(b.From))
	})
}

// Find returns the prices of a model at a time. Of a dated name, for example
// claude-sonnet-4-20250514, or claude-sonnet-5-5-latest with a version, the model is found by the name without it.
func (t *Table) Find(model string, at time.Time) (found Rate, ok bool) {
	for _, name := range []string{model, trimDate(model), strings.TrimSuffix(model, "-latest")} {
		for _, r := range t.rates {
			if r.Model == name && !r.From.After(at) && (!ok || r.From.After(found.From)) {
				found, ok = r, true
			}
		}
		if ok {
			break
		}
	}
	return found, ok
}

// trimDate returns a model's name without its date, -20260701 or -2026-07-01.
func trimDate(model string) string {
	for _, form := range []string{"-20060102", "-2006-01-02"} {
		if at := len(model) - len(form); at > 0 {
			if _, err := time.Parse(form, model[at:]); err == nil {
				return model[:at]
			}
		}
	}
	return model
}

// Of returns the cost of a call.
func (r Rate) Of(u provider.Usage) Money {
	p := r.Prices
	if r.Tokens > 0 && u.Prompt() > r.Tokens {
		p = r.Long
	}
	return Money(u.Input)*p.Input + Money(u.CacheWrite5m)*p.CacheWrite5m + Money(u.CacheWrite1h)*p.CacheWrite1h +
		Money(u.CacheRead)*p.CacheRead + Money(u.Output)*p.Output
}

// Cost returns the cost of a call; known is false if the list does not have the model.
func (t *Table) Cost(model string, at time.Time, u provider.Usage) (cost Money, known bool) {
	r, known := t.Find(model, at)
	return r.Of(u), known
}
