//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"text/tabwriter"
)

// figure is what was measured of a row.
type figure struct {
	row                      row
	value, beside, yardstick float64
	skipped                  string
}

// ratio is what is compared with the baseline: beside the yardstick if that was measured.
func (f figure) ratio() float64 {
	if f.yardstick > 0 {
		return f.value / f.yardstick
	}
	return f.value
}

// baseline has a ratio for each row, and the reason if it was raised.
type baseline map[string]kept

type kept struct {
	Ratio float64 `json:"ratio"`
	// Why says why the ratio is higher than it was before.
	Why string `json:"why,omitempty"`
}

// tolerance is how much worse a ratio may be than the baseline.
const tolerance = 1.1

func readBaseline(name string) (baseline, error) {
	b := baseline{}
	if name == "" {
		return b, nil
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// worse returns an error if a figure is worse than the baseline allows.
func (b baseline) worse(f figure) error {
	k, ok := b[f.row.name]
	if !ok || f.skipped != "" || f.ratio() <= k.Ratio*tolerance {
		return nil
	}
	return fmt.Errorf("%s: the ratio is %s, and was %s: make it better, or say in .ci/figures.json why it is worse", f.row.name, number(f.ratio()), number(k.Ratio))
}

// with returns the baseline with the figures that are better, or new. One that is worse is raised by hand,
// with its reason.
func (b baseline) with(figures []figure) baseline {
	for _, f := range figures {
		if k, ok := b[f.row.name]; f.skipped == "" && (!ok || f.ratio() < k.Ratio) {
			b[f.row.name] = kept{Ratio: f.ratio()}
		}
	}
	return b
}

func (b baseline) write(name string) error {
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}

// number has three digits, and no more than two behind the point.
func number(x float64) string {
	switch {
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// measured is a value with its unit, "" if there is none.
func (f figure) measured(x float64) string {
	if x == 0 {
		return ""
	}
	if f.row.unit == "" {
		return number(x)
	}
	return number(x) + " " + f.row.unit
}

// goal is the most that the row should be, with its unit.
func (f figure) goal() string {
	if f.row.bare {
		return number(f.row.goal) + " times"
	}
	return f.measured(f.row.goal)
}

// met reports whether the row is within its goal.
func (f figure) met() bool {
	if f.row.bare {
		return f.ratio() <= f.row.goal
	}
	return f.value <= f.row.goal
}

// show prints the figures as a table for a terminal, as one of Markdown, or as JSON.
func show(out io.Writer, format string, figures []figure) error {
	switch format {
	case "json":
		return showJSON(out, figures)
	case "markdown":
		_, err := fmt.Fprint(out, "| | now | goal | the yardstick |\n|---|---|---|---|\n")
		for _, f := range figures {
			now := f.measured(f.value)
			switch {
			case f.skipped != "":
				now = "not measured: " + f.skipped
			case f.row.bare:
				now += ", " + number(f.ratio()) + " times"
			}
			if err == nil {
				_, err = fmt.Fprintf(out, "| %s | %s | ≤ %s | %s |\n", f.row.about, now, f.goal(), f.measured(f.yardstick))
			}
		}
		return err
	case "text":
	default:
		return fmt.Errorf("format %q is not known: use text, markdown or json", format)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "row\tnow\tgoal\t\tbeside\tyardstick\tratio\t") // an error comes with Flush
	for _, f := range figures {
		if f.skipped != "" {
			_, _ = fmt.Fprintf(w, "%s\tskipped: %s\n", f.row.name, f.skipped)
			continue
		}
		mark := "missed"
		if f.met() {
			mark = "met"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.row.name, f.measured(f.value), f.goal(), mark,
			f.measured(f.beside), f.measured(f.yardstick), number(f.ratio()), f.row.about)
	}
	return w.Flush()
}

func showJSON(out io.Writer, figures []figure) error {
	type entry struct {
		Name      string  `json:"name"`
		About     string  `json:"about"`
		Unit      string  `json:"unit,omitempty"`
		Value     float64 `json:"value,omitempty"`
		Goal      float64 `json:"goal"`
		Beside    float64 `json:"beside,omitempty"`
		Yardstick float64 `json:"yardstick,omitempty"`
		Ratio     float64 `json:"ratio,omitempty"`
		Skipped   string  `json:"skipped,omitempty"`
	}
	all := []entry{}
	for _, f := range figures {
		all = append(all, entry{f.row.name, f.row.about, f.row.unit, f.value, f.row.goal, f.beside, f.yardstick, f.ratio(), f.skipped})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}
