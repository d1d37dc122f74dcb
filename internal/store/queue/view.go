package queue

import (
	"slices"
	"time"
)

// View is the queue as a page shows it.
type View struct {
	// Entries are all that are not Done, and the one that was asked for: first the runs with a worker, then the Ready
	// ones, then the others, the one changed last first.
	Entries []Entry
	// More is true if entries were left out.
	More bool
	// Workers are the workers seen, the one seen last first.
	Workers []Worker
}

// MaxView bounds the entries of a View.
const MaxView = 500

// AwayAfter is the time after which a worker that was not seen is taken to be gone.
const AwayAfter = time.Minute

// IsGone reports whether a worker was not seen for longer than [AwayAfter].
func (w *Worker) IsGone() bool { return w.SeenAgo > AwayAfter }

// Lack is the reason for which no worker takes an entry.
type Lack string

// The reasons: no worker that was seen lately works on the project, or none of them has the labels.
const (
	LacksNothing Lack = ""
	LacksProject Lack = "project"
	LacksLabels  Lack = "labels"
)

// FindLack says for which reason none of some workers takes an entry, LacksNothing if one does.
func FindLack(e *Entry, workers []Worker) Lack {
	out := LacksProject
	for i := range workers {
		w := &workers[i]
		if w.IsGone() || !slices.Contains(w.Projects, e.Project) {
			continue
		}
		if !slices.ContainsFunc(e.Labels, func(l string) bool { return !slices.Contains(w.Labels, l) }) {
			return LacksNothing
		}
		out = LacksLabels
	}
	return out
}

// Counts are sums over the queue.
type Counts struct {
	// Runs are the entries by state. Working has the ones with a worker, Lost the ones whose worker is lost.
	Runs map[State]int
	Lost int
	// AtWork, Idle and Gone are the workers with a lease that has not ended, the others, and the ones that were not
	// seen for longer than [AwayAfter].
	AtWork, Idle, Gone int
	// OldestReady is the longest time for which an entry has been Ready, 0 if none is.
	OldestReady time.Duration
	// Calls, Repeated and WorkersLost are the sums over the entries.
	Calls, Repeated, WorkersLost int64
	// SpentToday is the cost of this day (UTC), in nano-dollars.
	SpentToday int64
}

// Reached reports which limits keep runs from workers.
func (c *Counts) Reached(l Limits) (workers, cost bool) {
	return l.MaxWorkers > 0 && c.Runs[Working] >= l.MaxWorkers, l.MaxCostPerDay > 0 && c.SpentToday >= l.MaxCostPerDay
}
