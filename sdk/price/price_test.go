package price_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestMoney(t *testing.T) {
	for text, want := range map[string]price.Money{"2": 2 * price.Dollar, "$0.50": price.Dollar / 2, "0.000525": 525_000, "0.000000001": 1} {
		got, err := price.ParseMoney(text)
		if err != nil || got != want {
			t.Errorf("ParseMoney(%q) = %d, %v; want %d", text, got, err, want)
		}
		again, err := price.ParseMoney(got.String())
		if err != nil || again != got {
			t.Errorf("%q is read back as %d, %v; want %d", got, again, err, got)
		}
	}
	for _, text := range []string{"", "-1", "1.", ".5", "1e3", "$", "1,5", "0.0000000001", "99999999999"} {
		if got, err := price.ParseMoney(text); err == nil {
			t.Errorf("ParseMoney(%q) = %d; want an error", text, got)
		}
	}
	for m, want := range map[price.Money]string{0: "$0.00", 527_000: "$0.00053", price.Dollar / 100: "$0.01", 1_234_567_890: "$1.23", -527_000: "-$0.00053"} {
		if got := m.Short(); got != want {
			t.Errorf("Short(%d) = %s; want %s", m, got, want)
		}
	}
}

func TestCost(t *testing.T) {
	long := provider.Usage{Input: 100_001, Output: 10}
	for _, c := range []struct {
		model string
		at    time.Time
		usage provider.Usage
		want  price.Money // -1: unknown
	}{
		{"claude-sonnet-5-5", now, provider.Usage{Input: 50, Output: 25}, 350_000},
		{"claude-sonnet-5-5", now, provider.Usage{Input: 1, CacheWrite5m: 1, CacheWrite1h: 1, CacheRead: 1, Output: 1}, 2000 + 2500 + 4000 + 100 + 10000},
		{"claude-sonnet-5-5", time.Date(2026, 10, 6, 23, 59, 59, 0, time.UTC), provider.Usage{CacheRead: 1}, 200},
		{"claude-sonnet-5-5", time.Date(2026, 10, 7, 0, 0, 0, 0, time.UTC), provider.Usage{CacheRead: 1}, 100},
		{"claude-haiku-5-5", now, provider.Usage{Input: 100_000}, 100_000 * 100},
		{"claude-haiku-5-5", now, long, 100_001*500 + 10*2500},
		{"claude-haiku-5-5", now, provider.Usage{CacheRead: 100_000, Input: 1}, 100_000*50 + 500},
		{"claude-haiku-4-5-20251001", now, provider.Usage{Input: 1}, 1000},
		{"gpt-6.1-sol", now, provider.Usage{Input: 1, CacheRead: 1, Output: 1}, 2000 + 100 + 10000},
		{"gpt-6.1-sol", now, provider.Usage{Input: 272_001, Output: 1}, 272_001*4000 + 15000},
		{"gpt-6-luna", now, provider.Usage{Input: 1, CacheRead: 1}, 100 + 10},
		{"gpt-5-mini-2025-08-07", now, provider.Usage{Input: 1}, 250},
		{"gpt-4o-2024-05-13", now, provider.Usage{Input: 1}, 5000},
		{"gpt-5-2025-13-07", now, provider.Usage{Input: 1}, -1},
		{"gpt-6-nova", now, provider.Usage{Input: 1}, -1},
		{"openai/gpt-5", now, provider.Usage{Input: 1}, -1},
		{"claude-haiku-4", now, provider.Usage{Input: 1}, -1},
		{"llama3", now, provider.Usage{Input: 1}, -1},
		{"claude-haiku-4-5-20259999", now, provider.Usage{Input: 1}, -1},
		{"", now, provider.Usage{Input: 1}, -1},
	} {
		got, known := price.Default().Cost(c.model, c.at, c.usage)
		if !known {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s at %s, %+v: %d; want %d", c.model, c.at.Format(time.DateOnly), c.usage, got, c.want)
		}
	}
}

func TestEveryPriceHasASource(t *testing.T) {
	for _, r := range price.Default().All() {
		if !strings.HasPrefix(r.Source, "https://") {
			t.Errorf("%s: source %q", r.Model, r.Source)
		}
		if r.Input <= 0 || r.Output < r.Input || r.CacheRead > r.Input || r.CacheWrite1h < r.CacheWrite5m {
			t.Errorf("%s: implausible prices %+v", r.Model, r.Prices)
		}
		if !r.Retired.IsZero() && r.Successor == "" {
			t.Errorf("%s is retired without a successor", r.Model)
		}
		if _, known := price.Default().Find(r.Successor, now); r.Successor != "" && !known {
			t.Errorf("%s: no price of its successor %s", r.Model, r.Successor)
		}
	}
}

func TestOver(t *testing.T) {
	own, err := price.Parse([]byte(`{"prices":[{"model":"claude-sonnet-5-5","input":1,"output":3},{"model":"llama3","input":0,"output":0}]}`))
	if err != nil {
		t.Fatal(err)
	}
	table := own.Over(price.Default())
	for model, want := range map[string]price.Money{"claude-sonnet-5-5": 1000, "llama3": 0, "claude-opus-5-5": 4000} {
		if got, known := table.Cost(model, now, provider.Usage{CacheRead: 0, Input: 1}); got != want || !known {
			t.Errorf("%s: %d, %v; want %d", model, got, known, want)
		}
	}
	if got, _ := table.Cost("claude-sonnet-5-5", now, provider.Usage{CacheRead: 1}); got != 1000 {
		t.Errorf("cache read without a price of its own costs %d; want that of the input", got)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{"prices":[{"model":"m","input":1}]}`, `{"prices":[{"input":1,"output":1}]}`, `{"prices":[{"model":"m","input":-1,"output":1}]}`,
		`{"prices":[{"model":"m","input":0.0001,"output":1}]}`, `{"prices":[{"model":"m","from":"yesterday","input":1,"output":1}]}`,
		`{"prices":[{"model":"m","input":1,"output":1,"above":{"tokens":0,"input":1,"output":1}}]}`, `{"prices":[{"model":"m","inputs":1,"output":1}]}`,
	} {
		if _, err := price.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%s): no error", text)
		}
	}
}

func TestBudget(t *testing.T) {
	const model = "claude-sonnet-5-5" // 2,000 for a token in, 10,000 for one out
	b := price.NewBudget(price.Default(), 100_000_000)
	if err := b.Admit(model, now); err != nil {
		t.Fatal(err)
	}
	// 20,000 tokens of a prompt are 50 million if they are written to the cache: half is left.
	if room, err := b.Room(model, now, 20_000, 16_000); err != nil || room != 5_000 {
		t.Errorf("Room = %d, %v; want 5000", room, err)
	}
	if room, err := b.Room(model, now, 100, 3_000); err != nil || room != 3_000 {
		t.Errorf("Room = %d, %v; want all of 3000", room, err)
	}
	var limit *price.LimitError
	if _, err := b.Room(model, now, 37_000, 16_000); !errors.As(err, &limit) {
		t.Errorf("Room for 750 tokens: %v; want a *LimitError", err)
	}
	if err := (&price.LimitError{Limit: price.Dollar / 1000}).Error(); err != "the limit of $0.001 is too small for a call" {
		t.Errorf("a limit for no call: %s", err)
	}
	under := price.NewBudget(price.Default(), 100_000_000)
	if got := under.Warn(49_999_999); got != 0 {
		t.Errorf("below a half, the warning is of %d percent", got)
	}
	if first, again := under.Warn(80_000_000), under.Warn(80_000_000); first != 80 || again != 0 {
		t.Errorf("with 80 percent under way, the warnings are of %d and %d percent; want 80 once", first, again)
	}
	var percents []int
	for range 11 {
		if c := b.Spend(model, now, provider.Usage{Output: 1_000}, price.Estimate{Output: 1_000}); c.Percent != 0 {
			percents = append(percents, c.Percent)
		}
	}
	if len(percents) != 3 || percents[0] != 50 || percents[1] != 80 || percents[2] != 90 {
		t.Errorf("warnings at %v; want 50, 80, 90", percents)
	}
	if err := b.Check(); !errors.As(err, &limit) || limit.Spent != 110_000_000 {
		t.Errorf("Check = %v; want a *LimitError with what was spent", err)
	}
	if left, limited := b.Left(); left != 0 || !limited {
		t.Errorf("Left = %d, %v; want 0 of a limit", left, limited)
	}
	again := price.NewBudget(price.Default(), 100_000_000, b.Report().Models...)
	if got, want := again.Report(), b.Report(); got.Spent != want.Spent || got.Usage != want.Usage {
		t.Errorf("restored as %+v; want %+v", got, want)
	}
	if c := again.Spend(model, now, provider.Usage{Output: 1}, price.Estimate{Output: 1}); c.Percent != 0 {
		t.Errorf("a restored budget repeats the warning of %d percent", c.Percent)
	}
}

func TestBudgetExactLimit(t *testing.T) {
	b := price.NewBudget(price.Default(), 10_000)
	b.Spend("claude-sonnet-5-5", now, provider.Usage{Output: 1}, price.Estimate{Output: 1})
	if err := b.Check(); err != nil {
		t.Errorf("the limit to the last nano-dollar: %v; want none", err)
	}
}

func TestUnknownAndRetired(t *testing.T) {
	var unknown *price.UnknownError
	var retired *price.RetiredError
	limited, free := price.NewBudget(price.Default(), 1), price.NewBudget(price.Default(), 0)
	if err := limited.Admit("llama3", now); !errors.As(err, &unknown) {
		t.Errorf("a limit for a model without a price: %v", err)
	}
	if err := free.Admit("llama3", now); err != nil {
		t.Errorf("no limit, a model without a price: %v", err)
	}
	if err := free.Admit("claude-sonnet-4-20250514", now); !errors.As(err, &retired) || retired.Successor != "claude-sonnet-5-5" {
		t.Errorf("a retired model: %v", err)
	}
	if free.Spend("llama3", now, provider.Usage{Input: 7}, price.Estimate{Prompt: 7}).Known {
		t.Error("the price of llama3 is known")
	}
	if r := free.Report(); !r.Unknown || r.Models[0].Spent != nil || r.Usage.Input != 7 {
		t.Errorf("report %+v; want the tokens without a price", r)
	}
}
