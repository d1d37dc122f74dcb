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
func (f *figures) print(out io.Writer, gauges []gauge) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%s\t"+format+"\n", append([]any{name}, args...)...)
	}
	row("lines of production", "%d", f.production)
	row("lines of tests", "%d (%.2f), and of test support %d", f.test, ratio(f.test, f.production), f.support)
	row("file lines, median / p90 / max", "%s", spread(f.files, 50, 90, 100))
	row("function lines, median / p90 / p95 / max", "%s", spread(f.functions, 50, 90, 95, 100))
	row("cyclomatic complexity, median / p95 / max", "%s", spread(f.cyclo, 50, 95, 100))
	row("parameters, median / p95 / max", "%s", spread(f.parameters, 50, 95, 100))
	row("nesting, median / p95 / max", "%s", spread(f.nesting, 50, 95, 100))
	row("interface methods, median / max", "%s, %d interfaces", spread(f.interfaces, 50, 100), len(f.interfaces))
	row("exported names with a comment", "%d of %d", f.documented, f.exported)
	row("comment lines", "%.0f %%", 100*ratio(f.comments, f.production))
	row(fmt.Sprintf("lines over %d columns", wide), "%.1f %% (%d)", 100*ratio(f.wide, f.production), f.wide)
	row("methods of a type", "%s", largest(f.methods))
	row("fields of a struct, wire formats apart", "%s", largest(f.fields))
	row("arrows back up between the files of a package", "%s, %d of %d in all", largest(f.up), total(f.up), f.arrows)
	for _, g := range gauges {
		row(g.name, "%s", g)
	}
	lines := linesOf(f.files)
	for _, wing := range slices.SortedFunc(maps.Keys(lines), func(a, b string) int { return lines[b] - lines[a] }) {
		row("lines of "+wing, "%d", lines[wing])
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

// largest renders the eight largest, with their names.
func largest(all []sized) string {
	all = slices.SortedFunc(slices.Values(all), bySize)
	slices.Reverse(all)
	var out []string
	for _, s := range all[:min(8, len(all))] {
		out = append(out, fmt.Sprintf("%s %d", s.name, s.size))
	}
	return strings.Join(out, ", ")
}

func total(all []sized) (sum int) {
	for _, s := range all {
		sum += s.size
	}
	return sum
}
