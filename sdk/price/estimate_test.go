package price_test

import (
	"math"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// TestCounted: a number that cannot be right counts as the estimate, each half by itself; one that can be right
// counts as it was said.
func TestCounted(t *testing.T) {
	const model = "claude-sonnet-5-5"
	one, many := price.Estimate{Prompt: 3_000, Output: 16_000}, price.Estimate{Prompt: 3_000, Output: 500, Many: true}
	prompt := func(output int64) provider.Usage {
		return provider.Usage{CacheWrite5m: 3_000, Output: output, Estimated: true}
	}
	for name, c := range map[string]struct {
		e          price.Estimate
		said, want provider.Usage
	}{
		"as said":                     {one, provider.Usage{Input: 5, CacheRead: 2_900, Output: 70}, provider.Usage{Input: 5, CacheRead: 2_900, Output: 70}},
		"a server's own instructions": {one, provider.Usage{Input: 13_000, Output: 70}, provider.Usage{Input: 13_000, Output: 70}},
		"thoughts beside the answer":  {one, provider.Usage{Input: 3_000, Output: 60_000}, provider.Usage{Input: 3_000, Output: 60_000}},
		"nothing":                     {one, provider.Usage{}, prompt(16_000)},
		"nothing, of an answer":       {price.Estimate{Prompt: 3_000, Output: 16_000, Answer: 9}, provider.Usage{}, provider.Usage{Input: 3_000, Output: 9, Estimated: true}},
		"thoughts, of an answer":      {price.Estimate{Prompt: 3_000, Output: 16_000, Answer: 9}, provider.Usage{Input: 3_000, Output: 900}, provider.Usage{Input: 3_000, Output: 900}},
		"no prompt":                   {one, provider.Usage{Output: 70}, prompt(70)},
		"no answer":                   {one, provider.Usage{Input: 3_000}, provider.Usage{Input: 3_000, Output: 16_000, Estimated: true}},
		"an empty answer":             {price.Estimate{Prompt: 3_000}, provider.Usage{Input: 3_000}, provider.Usage{Input: 3_000}},
		"a negative prompt":           {one, provider.Usage{Input: -40_000_000, Output: 70}, prompt(70)},
		"a negative answer":           {one, provider.Usage{Input: 3_000, Output: -1}, provider.Usage{Input: 3_000, Output: 16_000, Estimated: true}},
		"a negative cache":            {one, provider.Usage{Input: 3_500, CacheRead: -3_400, Output: 70}, provider.Usage{Input: 3_500, Output: 70}},
		"halves that cancel out":      {one, provider.Usage{Input: 3_000, CacheRead: -3_000, Output: 70}, provider.Usage{Input: 3_000, Output: 70}},
		"an impossible prompt":        {one, provider.Usage{Input: 900_000_000, Output: 70}, prompt(70)},
		"an impossible sum":           {one, provider.Usage{Input: 20_000, CacheRead: 20_000, Output: 70}, prompt(70)},
		"an impossible answer":        {one, provider.Usage{Input: 3_000, Output: 64_001}, provider.Usage{Input: 3_000, Output: 16_000, Estimated: true}},
		"the largest numbers":         {one, provider.Usage{Input: math.MaxInt64, CacheWrite5m: math.MaxInt64, CacheWrite1h: math.MaxInt64, CacheRead: math.MaxInt64, Output: math.MaxInt64}, prompt(16_000)},
		"the smallest numbers":        {one, provider.Usage{Input: math.MinInt64, CacheRead: math.MinInt64, Output: math.MinInt64}, prompt(16_000)},
		"many calls":                  {many, provider.Usage{Input: 7, CacheRead: 80_000_000, Output: 900_000}, provider.Usage{Input: 7, CacheRead: 80_000_000, Output: 900_000}},
		"many calls, nothing":         {many, provider.Usage{}, prompt(500)},
		"many calls, negative":        {many, provider.Usage{Input: -40_000_000, CacheRead: 5, Output: -9}, prompt(500)},
		"many calls, impossible":      {many, provider.Usage{Input: 5_000, CacheRead: math.MaxInt64, Output: math.MaxInt64}, provider.Usage{Input: 5_000, Output: 500, Estimated: true}},
	} {
		got := price.NewBudget(price.Default(), 0).Spend(model, now, c.said, c.e)
		if want, _ := price.Default().Cost(model, now, c.want); got.Usage != c.want || got.Cost != want {
			t.Errorf("%s: %+v\nwant %+v", name, got, c.want)
		}
	}
}

// TestMost: neither of two accounts of the costs can take from the other.
func TestMost(t *testing.T) {
	money := func(n price.Money) *price.Money { return &n }
	kept := []price.Line{{Model: "a", Calls: 3, Usage: provider.Usage{Input: 9, Output: 4}, Spent: money(50)}, {Model: "b", Calls: 1, Spent: nil}}
	for name, c := range map[string]struct {
		file []price.Line
		a    price.Money
	}{
		"nothing":       {nil, 50},
		"less":          {[]price.Line{{Model: "a", Calls: 1, Usage: provider.Usage{Input: 1}, Spent: money(1)}}, 50},
		"negative":      {[]price.Line{{Model: "a", Calls: -7, Usage: provider.Usage{Input: -9, Output: math.MinInt64}, Spent: money(-1_000)}}, 50},
		"without":       {[]price.Line{{Model: "a", Spent: nil}}, 50},
		"twice":         {[]price.Line{{Model: "a", Spent: money(60)}, {Model: "a", Spent: money(0)}}, 60},
		"more":          {[]price.Line{{Model: "a", Calls: 4, Usage: provider.Usage{Input: 10, Output: 4}, Spent: money(60)}}, 60},
		"overrun":       {[]price.Line{{Model: "a", Spent: money(math.MaxInt64)}}, 1_000_000 * price.Dollar},
		"a price for b": {[]price.Line{{Model: "b", Spent: money(0)}}, 50},
		"another name":  {[]price.Line{{Model: "z", Spent: money(-50)}}, 50},
	} {
		r := price.NewBudget(price.Default(), 100, price.Most(kept, c.file)...).Report()
		if got := r.Models[0]; *got.Spent != c.a || got.Calls < 3 || got.Usage.Input < 9 || got.Usage.Output < 4 || r.Spent < c.a || !r.Unknown {
			t.Errorf("%s: %+v of %+v", name, got, r)
		}
	}
}

// FuzzSpend: no count of a server gives a budget back, and a limit is reached in the end.
func FuzzSpend(f *testing.F) {
	f.Add(int64(-40_000_000), int64(0), int64(0), int64(0), int64(0), int64(100), int64(1000), false)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(1), int64(-1), int64(math.MinInt64), int64(0), int64(0), true)
	f.Fuzz(func(t *testing.T, input, short, long, read, output, prompt, answer int64, many bool) {
		const limit = 100_000_000
		said := provider.Usage{Input: input, CacheWrite5m: short, CacheWrite1h: long, CacheRead: read, Output: output}
		e := price.Estimate{Prompt: max(prompt, 0), Output: max(answer, 0), Many: many}
		b := price.NewBudget(price.Default(), limit)
		before := price.Money(0)
		for range 3 {
			c := b.Spend("claude-sonnet-5-5", now, said, e)
			spent := b.Report().Spent
			for _, n := range []int64{c.Usage.Input, c.Usage.CacheWrite5m, c.Usage.CacheWrite1h, c.Usage.CacheRead, c.Usage.Output} {
				if n < 0 || n > 1_000_000_000 {
					t.Fatalf("%+v counts as %+v", said, c.Usage)
				}
			}
			if c.Cost < 0 || spent < before || e.Prompt > 0 && spent == before {
				t.Fatalf("%+v costs %s: %s are spent after %s", said, c.Cost, spent, before)
			}
			before = spent
		}
		if left, _ := b.Left(); left < 0 || left > limit {
			t.Fatalf("%s are left of %s", left, price.Money(limit))
		}
	})
}
