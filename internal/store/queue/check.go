package queue

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// isName reports whether a text can be a name: one line, not too long.
func isName(text string) bool {
	return len(text) <= MaxName && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// checkNames refuses texts of a kind if one cannot be a name.
func checkNames(what string, names ...string) error {
	for _, name := range names {
		if !isName(name) {
			return fault.New(fault.InvalidArgument, "%s is not one line of at most %d bytes: %q", what, MaxName, name[:min(len(name), MaxName)])
		}
	}
	return nil
}

// checkList refuses a list that is too long, or has a text that cannot be a name.
func checkList(what string, names []string) error {
	if len(names) > MaxLabels {
		return fault.New(fault.InvalidArgument, "there are more than %d %s", MaxLabels, what)
	}
	if slices.Contains(names, "") {
		return fault.New(fault.InvalidArgument, "one of the %s is empty", what)
	}
	return checkNames(what, names...)
}

// checkSize refuses bytes beyond a limit.
func checkSize(what string, data []byte, limit int) error {
	if len(data) > limit {
		return fault.New(fault.InvalidArgument, "%s has %d bytes; the queue keeps up to %d", what, len(data), limit).
			WithHint("nothing was changed")
	}
	return nil
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Check refuses an order that a queue cannot keep.
func (o Order) Check() error {
	return first(checkList("labels", o.Labels), checkNames("name of the order", o.By, o.Commit, o.Remote), checkSize("run", o.Run, MaxRun))
}

// Check refuses a worker that a queue cannot keep. It needs an id.
func (w Worker) Check() error {
	if w.ID == "" {
		return fault.New(fault.InvalidArgument, "the worker has no id")
	}
	return first(checkNames("name of the worker", w.ID, w.Host, w.Version), checkList("labels", w.Labels), checkList("projects", w.Projects))
}

// Check refuses limits that are negative or too large.
func (l Limits) Check() error {
	const most = 1 << 30
	workers := l.MaxWorkers >= 0 && l.MaxWorkers <= most
	cost := l.MaxCostPerDay >= 0 && l.MaxCostPerDay <= MaxMoney
	if !workers || !cost {
		return fault.New(fault.InvalidArgument, "a limit of the queue is negative or too large")
	}
	return nil
}

// Check refuses progress that a queue cannot keep.
func (p Progress) Check() error {
	const most = 1 << 30
	counts := min(p.Asking, p.Calls, p.Repeated) >= 0 && max(p.Asking, p.Calls, p.Repeated) <= most
	money := p.Spent >= 0 && p.Spent <= MaxMoney
	if !counts || !money {
		return fault.New(fault.InvalidArgument, "a number of the run is negative or too large")
	}
	return first(checkNames("head of the run", p.Head), checkSize("the record of the run", p.Kept, MaxKept), checkSize("the work of the run", p.Work, MaxWork))
}

// maxWait bounds [Release].NotBefore.
const maxWait = 366 * 24 * time.Hour

// Check refuses a release to Working, and times beyond a year.
func (r Release) Check() error {
	if !r.To.IsKnown() || r.To == Working {
		return fault.New(fault.InvalidArgument, "a run cannot be released as %q", string(r.To))
	}
	if r.NotBefore < 0 || r.NotBefore > maxWait {
		return fault.New(fault.InvalidArgument, "a released run cannot wait for %s", r.NotBefore)
	}
	return nil
}

// maxLease bounds a lease: the work of a lost worker waits for as long.
const maxLease = 24 * time.Hour

// CheckLease refuses a lease that is not between a millisecond and a day.
func CheckLease(lease time.Duration) error {
	if lease < time.Millisecond || lease > maxLease {
		return fault.New(fault.InvalidArgument, "a lease of %s is not between a millisecond and a day", lease)
	}
	return nil
}

// CutWords returns a reason as a queue keeps it: valid, without NUL, and at most [MaxWords] bytes.
func CutWords(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) <= MaxWords {
		return text
	}
	end := MaxWords
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
