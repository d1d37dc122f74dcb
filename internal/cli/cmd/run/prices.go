package run

import (
	"strconv"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// priceRow is a price in the JSON of `run --prices`, in dollars for a million tokens.
type priceRow struct {
	Model        string     `json:"model"`
	From         string     `json:"from,omitempty"`
	Input        float64    `json:"input"`
	CacheWrite5m float64    `json:"cache_write_5m"`
	CacheWrite1h float64    `json:"cache_write_1h"`
	CacheRead    float64    `json:"cache_read"`
	Output       float64    `json:"output"`
	Above        *abovePart `json:"above,omitempty"`
	Retired      string     `json:"retired,omitempty"`
	Successor    string     `json:"successor,omitempty"`
	Source       string     `json:"source,omitempty"`
}

// abovePart is the price of long prompts.
type abovePart struct {
	Tokens int64   `json:"tokens"`
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// perMillion returns the price of a million tokens in dollars.
func perMillion(m price.Money) float64 { return (m * 1_000_000).USD() }

func priceRowOf(r price.Rate) priceRow {
	row := priceRow{
		Model: r.Model, Input: perMillion(r.Input), CacheWrite5m: perMillion(r.CacheWrite5m), CacheWrite1h: perMillion(r.CacheWrite1h),
		CacheRead: perMillion(r.CacheRead), Output: perMillion(r.Output), Successor: r.Successor, Source: r.Source,
	}
	if !r.From.IsZero() {
		row.From = r.From.Format(time.DateOnly)
	}
	if !r.Retired.IsZero() {
		row.Retired = r.Retired.Format(time.DateOnly)
	}
	if r.Tokens > 0 {
		row.Above = &abovePart{r.Tokens, perMillion(r.Long.Input), perMillion(r.Long.Output)}
	}
	return row
}

// showPrices lists the prices of all models, or of one.
func showPrices(term *terminal.Terminal, model string) error {
	t, own, err := app.PriceTable()
	if err != nil {
		return err
	}
	rates := t.All()
	if model != "" {
		r, ok := t.Find(model, term.Now())
		if !ok {
			return fault.New(fault.NotFound, "the price of the model %q is not known", model).WithHint("write it into %s", app.PricesFile())
		}
		rates = []price.Rate{r}
	}
	rows, table := []priceRow{}, [][]string{}
	text := func(m price.Money) string { return strconv.FormatFloat(perMillion(m), 'f', -1, 64) }
	for _, r := range rates {
		row := priceRowOf(r)
		rows = append(rows, row)
		note := row.From
		if row.Retired != "" {
			note = term.Lang.Say("retired %s, take %s", row.Retired, row.Successor)
		}
		table = append(table, []string{r.Model, text(r.Input), text(r.Output), text(r.CacheWrite5m), text(r.CacheRead), note})
	}
	if term.JSON {
		out := map[string]any{"unit": "US dollars per million tokens", "prices": rows}
		if own {
			out["file"] = app.PricesFile()
		}
		return term.PrintJSON(out)
	}
	term.Say("US dollars for a million tokens; %s takes precedence over the built-in prices.", app.PricesFile())
	return term.Table(term.Header("MODEL\tINPUT\tOUTPUT\tCACHE WRITE\tCACHE READ\tFROM"), table)
}
