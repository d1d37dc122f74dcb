//go:build linux

// Command measure measures the program beside yardsticks, in one go: what a start, a run and a
// list cost in processor time, memory, system calls and bytes. .ci/figures builds the programs and calls
// it; see there for the flags.
//
// A row is measured in several rounds, the programs in turn, and its least value counts: other work on the
// machine only adds. Times and sizes are compared as ratios to those of the yardstick, which differ less
// between machines, counts and bytes of replies as they are.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// options say what is measured, and how the outcome is shown.
type options struct {
	program, beside  string
	yardstick, bare  string
	samples          string // the folder with the documents of the run
	module           string // the module's folder, for the row of the build
	baseline, update string // a file to compare with, a file to write
	format           string
	rows             string // the names of rows, with commas; "" for all but the large ones
	rounds           int
	large            bool
}

func main() {
	var o options
	flag.StringVar(&o.program, "program", "", "the program to measure")
	flag.StringVar(&o.beside, "beside", "", "another program to measure in the same rounds, for example an earlier one")
	flag.StringVar(&o.yardstick, "yardstick", "", "the program of ./yardstick")
	flag.StringVar(&o.bare, "bare", "", "the program of ./bareserver")
	flag.StringVar(&o.samples, "samples", "testdata/submissions/webhook-relay", "the folder with the documents of a run")
	flag.StringVar(&o.module, "module", ".", "the module's folder")
	flag.StringVar(&o.baseline, "baseline", "", "a file of ratios: fail for a row that is worse by more than a tenth")
	flag.StringVar(&o.update, "update", "", "write the ratios to this file, where they are lower")
	flag.StringVar(&o.format, "format", "text", "text, markdown or json")
	flag.StringVar(&o.rows, "rows", "", "only these rows, with commas between them")
	flag.IntVar(&o.rounds, "rounds", 8, "how often each row is measured")
	flag.BoolVar(&o.large, "large", false, "also the rows that take minutes")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run measures the rows, prints them and compares them with the baseline.
func run(o options, out io.Writer) error {
	chosen, err := choose(o)
	if err != nil {
		return err
	}
	before, err := readBaseline(o.baseline)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "figures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // a temporary folder
	b := &bench{o: o, work: work}
	var figures []figure
	for _, r := range chosen {
		f := figure{row: r}
		// Other work on the machine makes a row look worse, never better: look again before saying so.
		for range 3 {
			if err := b.measure(&f); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if f.skipped != "" || before.worse(f) == nil {
				break
			}
		}
		figures = append(figures, f)
	}
	if err := show(out, o.format, figures); err != nil {
		return err
	}
	if o.update != "" {
		return before.with(figures).write(o.update)
	}
	var worse []error
	for _, f := range figures {
		worse = append(worse, before.worse(f))
	}
	return errors.Join(worse...)
}

// choose returns the rows that are asked for.
func choose(o options) ([]row, error) {
	if o.rows == "" {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.large && !o.large }), nil
	}
	var out []row
	for name := range strings.SplitSeq(o.rows, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			var names []string
			for _, r := range rows {
				names = append(names, r.name)
			}
			return nil, fmt.Errorf("unknown row %q: choose from %s", name, strings.Join(names, ","))
		}
		out = append(out, rows[i])
	}
	return out, nil
}

// bench has the programs, and a folder for their projects.
type bench struct {
	o    options
	work string
	made int
}

// measure takes the least value of a row for each program, over the rounds of the row.
func (b *bench) measure(f *figure) error {
	rounds := b.o.rounds
	if f.row.once {
		rounds = 1
	}
	yardstick := b.o.yardstick
	if f.row.bare {
		yardstick = b.o.bare
	}
	for range rounds {
		for _, side := range []struct {
			program string
			value   *float64
		}{{yardstick, &f.yardstick}, {b.o.program, &f.value}, {b.o.beside, &f.beside}} {
			if side.program == "" {
				continue
			}
			measure := f.row.measure
			if side.value == &f.yardstick {
				if f.row.yardstick == nil {
					continue
				}
				measure = f.row.yardstick
			}
			value, err := measure(b, side.program)
			var skip skipped
			if errors.As(err, &skip) {
				f.skipped = string(skip)
				return nil
			}
			if err != nil {
				return err
			}
			if *side.value == 0 || value < *side.value {
				*side.value = value
			}
		}
	}
	return nil
}

// skipped says why a row cannot be measured here.
type skipped string

func (s skipped) Error() string { return string(s) }

// folder makes an empty folder.
func (b *bench) folder() (string, error) {
	b.made++
	dir := filepath.Join(b.work, fmt.Sprint(b.made), "project")
	return dir, os.MkdirAll(dir, 0o700)
}
