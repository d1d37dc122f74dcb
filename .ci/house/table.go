package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// print writes the table. An error of the writer comes with the last flush.
func (f *figures) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { _, _ = fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("production / test lines", "%d / %d (%.2f)", f.production, f.test, ratio(f.test, f.production))
	row("file lines, median / p90 / max", "%s", spread(f.files, 50, 90, 100))
	row("function lines, median / p90 / p95 / max", "%s", spread(f.functions, 50, 90, 95, 100))
	row("cyclomatic complexity, median / p95 / max", "%s", spread(f.cyclo, 50, 95, 100))
	row("parameters, median / p95 / max", "%s", spread(f.parameters, 50, 95, 100))
	row("nesting, median / p95 / max", "%s", spread(f.nesting, 50, 95, 100))
	row("interface methods, median / max", "%s, %d interfaces", spread(f.interfaces, 50, 100), len(f.interfaces))
	row("exported names with a comment", "%d of %d", f.documented, f.exported)
	row("comment lines", "%.0f %%", 100*ratio(f.comments, f.production))
	row(fmt.Sprintf("lines over %d columns", widest), "%.1f %% (%d)", 100*ratio(f.wide, f.production), f.wide)
	row("types with the most methods", "%s", strings.Join(largest(f.methods, 5), ", "))
	for _, name := range slices.Sorted(maps.Keys(f.packages)) {
		if a := f.packages[name]; a.count() > 0 {
			row("arrows in "+name, "%d, %d back up", a.count(), len(a.upward()))
		}
	}
	return w.Flush()
}

func ratio(a, b int) float64 {
	return float64(a) / float64(max(b, 1))
}

// spread renders percentiles, the largest with its name.
func spread(all []sized, percentiles ...int) string {
	if len(all) == 0 {
		return "none"
	}
	all = slices.SortedFunc(slices.Values(all), bySize)
	var out []string
	for _, p := range percentiles {
		out = append(out, fmt.Sprint(all[(len(all)-1)*p/100].size))
	}
	return strings.Join(out, " / ") + " (" + all[len(all)-1].name + ")"
}

func bySize(a, b sized) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(b.name, a.name))
}

// largest renders the n largest, with their names.
func largest(all []sized, n int) []string {
	all = slices.SortedFunc(slices.Values(all), bySize)
	slices.Reverse(all)
	var out []string
	for _, s := range all[:min(n, len(all))] {
		out = append(out, fmt.Sprintf("%s %d", s.name, s.size))
	}
	return out
}
