//go:build linux

package fleettest_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// figures are the lines that a run of all scenarios prints at its end.
var figures struct {
	sync.Mutex
	lines []string
}

// note adds a figure.
func note(format string, values ...any) {
	figures.Lock()
	defer figures.Unlock()
	figures.lines = append(figures.lines, fmt.Sprintf(format, values...))
}

// printFigures prints the figures, each as a line that begins with "figure: ".
func printFigures() {
	figures.Lock()
	defer figures.Unlock()
	for _, line := range figures.lines {
		fmt.Fprintln(os.Stdout, "figure:", line)
	}
}

// spread describes durations: their median, 99th percentile and maximum.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100].Round(time.Millisecond) }
	return fmt.Sprintf("p50 %s, p99 %s, most %s, of %d", at(50), at(99), at(100), len(all))
}

// takeovers returns, for each call that a lost worker did not end, the time from the loss to the next call for that run.
func (b bill) takeovers(lost map[string]time.Time) (out []time.Duration) {
	for i, e := range b {
		at, isLost := lost[e.Worker]
		if !isLost || e.What != "begin" || b[i:].hasEnd(e) {
			continue
		}
		for _, next := range b[i+1:] {
			if next.What == "begin" && next.Task == e.Task {
				out = append(out, next.At.Sub(at))
				break
			}
		}
	}
	return out
}

// hasEnd reports whether a call ended.
func (b bill) hasEnd(begun entry) bool {
	return slices.ContainsFunc(b, func(e entry) bool { return e.What == "end" && e.PID == begun.PID && e.Task == begun.Task })
}
