package queue_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// TestCheck: what a queue cannot keep is refused before it is sent.
func TestCheck(t *testing.T) {
	long := strings.Repeat("x", queue.MaxName+1)
	many := strings.Split(strings.Repeat("x,", queue.MaxLabels)+"x", ",")
	fits := map[string]error{
		"an order":      queue.Order{Labels: []string{"gpu", "界"}, Run: make([]byte, queue.MaxRun), By: "anna", Commit: "abc", Remote: "r"}.Check(),
		"an empty one":  queue.Order{}.Check(),
		"a worker":      queue.Worker{ID: "w", Labels: []string{"gpu"}, Projects: []string{"host/owner/name"}}.Check(),
		"limits":        queue.Limits{MaxWorkers: 3, MaxCostPerDay: queue.MaxMoney}.Check(),
		"progress":      queue.Progress{Calls: 1, Spent: 5, Head: "abc", Work: []byte("x")}.Check(),
		"a release":     queue.Release{To: queue.Waiting, NotBefore: time.Hour}.Check(),
		"a short lease": queue.CheckLease(time.Second),
	}
	for name, err := range fits {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused := map[string]error{
		"an empty label":       queue.Order{Labels: []string{""}}.Check(),
		"a long label":         queue.Order{Labels: []string{long}}.Check(),
		"many labels":          queue.Order{Labels: many}.Check(),
		"a label of two lines": queue.Order{Labels: []string{"a\nb"}}.Check(),
		"bytes that are none":  queue.Order{By: "\xff"}.Check(),
		"NUL":                  queue.Order{Commit: "a\x00"}.Check(),
		"a large run":          queue.Order{Run: make([]byte, queue.MaxRun+1)}.Check(),
		"no id":                queue.Worker{}.Check(),
		"a long host":          queue.Worker{ID: "w", Host: long}.Check(),
		"many projects":        queue.Worker{ID: "w", Projects: many}.Check(),
		"a negative limit":     queue.Limits{MaxWorkers: -1}.Check(),
		"a huge limit":         queue.Limits{MaxCostPerDay: queue.MaxMoney + 1}.Check(),
		"negative calls":       queue.Progress{Calls: -1}.Check(),
		"huge money":           queue.Progress{Spent: queue.MaxMoney + 1}.Check(),
		"large work":           queue.Progress{Work: make([]byte, queue.MaxWork+1)}.Check(),
		"a large record":       queue.Progress{Kept: make([]byte, queue.MaxKept+1)}.Check(),
		"working":              queue.Release{To: queue.Working}.Check(),
		"no state":             queue.Release{}.Check(),
		"a wait back":          queue.Release{To: queue.Ready, NotBefore: -1}.Check(),
		"no lease":             queue.CheckLease(0),
		"a lease for ever":     queue.CheckLease(25 * time.Hour),
	}
	for name, err := range refused {
		if !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStates: each state is known, and no other.
func TestStates(t *testing.T) {
	for _, state := range queue.States() {
		if !state.IsKnown() {
			t.Errorf("%s is not known", state)
		}
	}
	if queue.State("x").IsKnown() {
		t.Error("x is known")
	}
}

// TestErrors: a worker tells a cancelled run from a lost lease, and stops in both cases; so does one that is told in
// another language.
func TestErrors(t *testing.T) {
	lost, cancelled := queue.LeaseLost("id", 3), queue.CancelledError("id")
	for _, tt := range []struct {
		err             error
		lost, cancelled bool
	}{{lost, true, false}, {cancelled, true, true}, {fault.From(cancelled).Translated("zh"), true, true}} {
		isSame := errors.Is(tt.err, queue.ErrLeaseLost) == tt.lost && errors.Is(tt.err, queue.ErrCancelled) == tt.cancelled
		if !isSame || !fault.Is(tt.err, fault.Conflict) || fault.From(tt.err).Hint == "" {
			t.Errorf("%v", tt.err)
		}
	}
}

// FuzzCutWords: whatever a reason is, the store can keep it.
func FuzzCutWords(f *testing.F) {
	f.Add("a\x00b\xff")
	f.Add(strings.Repeat("界", queue.MaxWords))
	f.Fuzz(func(t *testing.T, text string) {
		got := queue.CutWords(text)
		if len(got) > queue.MaxWords || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q became %q", text, got)
		}
		if valid := utf8.ValidString(text) && !strings.ContainsRune(text, 0) && len(text) <= queue.MaxWords; valid && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// TestFindLack: an entry that no worker takes says whether the project or a label is missing.
func TestFindLack(t *testing.T) {
	of := func(seen time.Duration, project string, labels ...string) queue.Worker {
		return queue.Worker{ID: "w", Projects: []string{project}, Labels: labels, SeenAgo: seen}
	}
	for _, tt := range []struct {
		name    string
		labels  []string
		workers []queue.Worker
		want    queue.Lack
	}{
		{"nobody", nil, nil, queue.LacksProject},
		{"one of another project", nil, []queue.Worker{of(0, "b")}, queue.LacksProject},
		{"one that is gone", nil, []queue.Worker{of(queue.AwayAfter+1, "a")}, queue.LacksProject},
		{"one without the label", []string{"gpu"}, []queue.Worker{of(0, "a", "arm"), of(0, "b", "gpu")}, queue.LacksLabels},
		{"one with more labels", []string{"gpu"}, []queue.Worker{of(0, "a"), of(queue.AwayAfter, "a", "arm", "gpu")}, queue.LacksNothing},
	} {
		if got := queue.FindLack(&queue.Entry{Project: "a", Labels: tt.labels}, tt.workers); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestReached: a limit is reached by the runs that a worker has, not by the lost ones; 0 is none.
func TestReached(t *testing.T) {
	c := queue.Counts{Runs: map[queue.State]int{queue.Working: 2}, Lost: 3, SpentToday: 50}
	for _, tt := range []struct {
		limits        queue.Limits
		workers, cost bool
	}{
		{queue.Limits{}, false, false},
		{queue.Limits{MaxWorkers: 3, MaxCostPerDay: 51}, false, false},
		{queue.Limits{MaxWorkers: 2, MaxCostPerDay: 60}, true, false},
		{queue.Limits{MaxWorkers: 5, MaxCostPerDay: 50}, false, true},
	} {
		if workers, cost := c.Reached(tt.limits); workers != tt.workers || cost != tt.cost {
			t.Errorf("%+v: workers %v, cost %v", tt.limits, workers, cost)
		}
	}
}
