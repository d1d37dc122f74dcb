package price

import (
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Line is the use of one model.
//
// Lines come back from files, which anything may have changed: see [NewBudget].
type Line struct {
	Model string         `json:"model"`
	Calls int            `json:"calls"`
	Usage provider.Usage `json:"usage"`
	// Spent is in nano-dollars; nil if the price of the model is not known.
	Spent *Money `json:"spent_nano_usd"`
	// Saved is how much more the default model would have cost, less than 0 if it is the cheaper one.
	Saved Money `json:"saved_nano_usd,omitempty"`
}

// Same reports whether two lines say the same of one model, except for the number of calls.
func (l Line) Same(other Line) bool {
	sameSpent := l.Spent == other.Spent
	if l.Spent != nil && other.Spent != nil {
		sameSpent = *l.Spent == *other.Spent
	}
	return l.Model == other.Model && l.Usage == other.Usage && sameSpent
}

// mostMoney bounds the sum of a line from a file.
const mostMoney = 1_000_000 * Dollar

// Most combines two accounts of the same work, by model: it takes the higher of each number. A
// model without a price in the first has none.
func Most(a, b []Line) []Line {
	by := map[string]Line{}
	for _, l := range slices.Concat(a, b) {
		v, known := by[l.Model]
		most := Line{Model: l.Model, Calls: max(l.Calls, v.Calls), Saved: min(max(l.Saved, -mostMoney), mostMoney)}
		if known && l.Saved == 0 {
			most.Saved = v.Saved
		}
		most.Usage = l.Usage.Combine(v.Usage, func(a, b int64) int64 {
			return min(max(a, b, 0), mostTokens*1000) // which can be added
		})
		if most.Spent = v.Spent; l.Spent != nil && (!known || v.Spent != nil) {
			sum := min(max(*l.Spent, 0), mostMoney)
			if v.Spent != nil {
				sum = max(sum, *v.Spent)
			}
			most.Spent = &sum
		}
		by[l.Model] = most
	}
	var out []Line
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[name])
	}
	return out
}
