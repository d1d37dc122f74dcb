package pgstore_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// hostileColumns are values that somebody who knows the password of the store can write into an entry.
var hostileColumns = map[string][]string{
	"state": {`'none'`, `''`, `repeat('x', 200000)`, `E'\x1b[2J'`},
	"labels": {`array[null]::text[]`, `array['a', null]`, `'{{a,b},{c,d}}'`, `array[repeat('x', 200000)]`, `array_fill('x'::text, array[200000])`,
		`array[E'a\nb\x1b[2J']`, `'[-5:-4]={a,b}'`},
	"run":          {`'\x00'`, `convert_to(repeat('x', 2000000), 'UTF8')`},
	"queued_by":    {`repeat('x', 200000)`, `E'anna\n\x1b[2Jben'`, `U&'\202E'`},
	"base":         {`repeat('x', 200000)`, `E'a\nb'`},
	"remote":       {`repeat('x', 200000)`, `E'a\rb'`},
	"queued_at":    {`'infinity'`, `'-infinity'`, `'4713-01-01 BC'`, `'294276-12-31'`},
	"changed_at":   {`'infinity'`, `'-infinity'`},
	"not_before":   {`'infinity'`, `'-infinity'`},
	"lease_until":  {`'infinity'`, `'-infinity'`},
	"worker":       {`repeat('x', 200000)`, `E'w\n'`},
	"lease_no":     {`9223372036854775807`, `-9223372036854775808`, `-1`},
	"released_no":  {`1`, `-9223372036854775808`},
	"call":         {`repeat('x', 200000)`, `''`},
	"asking":       {`2147483647`, `-2147483648`},
	"calls":        {`2147483647`, `-1`},
	"repeated":     {`2147483647`},
	"workers_lost": {`2147483647`, `-2147483648`},
	"spent":        {`9223372036854775807`, `-9223372036854775808`},
	"why":          {`repeat('x', 200000)`, `E'\x1b[2J\n\n'`},
	"head":         {`repeat('x', 200000)`, `E'a\nb'`},
	"kept":         {`convert_to(repeat('x', 6200000), 'UTF8') || convert_to(repeat('x', 6200000), 'UTF8')`},
	"work":         {`convert_to(repeat('x', 40000000), 'UTF8')`},
}

// TestHostileEntries: whatever somebody writes into one entry, ready or at work, the others are listed and worked on, and
// what is shown of it is short and plain.
func TestHostileEntries(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	q := d.Queue()
	for column, values := range hostileColumns {
		for _, value := range values {
			for _, state := range []string{"ready", "working"} {
				if state == "working" && !slices.Contains([]string{"state", "worker", "lease_no", "lease_until", "workers_lost", "labels"}, column) {
					continue // a claim does not look at them in another way then
				}
				s := enqueue(t, d, queue.Order{})
				rewrite(t, address, `update queue_entry set state = $2, lease_no = 1, worker = 'w0' where session_id = $1`, s.SessionID, state)
				rewrite(t, address, `update queue_entry set `+column+` = `+value+` where session_id = $1`, s.SessionID)
				name := state + ", with " + column + " = " + value
				sane := enqueue(t, d, queue.Order{})
				all, err := q.List(ctx, nil)
				if err != nil || len(all) != 2 {
					t.Fatalf("%s: listed %d, %v", name, len(all), err)
				}
				e := get(t, q, s.SessionID)
				shown := append([]string{string(e.State), e.By, e.Commit, e.Remote, e.Worker, e.Why, e.Note}, e.Labels...)
				if text := strings.Join(shown, " "); len(text) > 100_000 || visible.Hides(text) || strings.ContainsAny(text, "\n\r\x1b") {
					t.Errorf("%s: it is shown with %d bytes: %.300q", name, len(text), text)
				}
				if e.Age < 0 || e.InState < 0 || e.LeaseLeft < 0 {
					t.Errorf("%s: it is %s old, %s in its state, with %s left", name, e.Age, e.InState, e.LeaseLeft)
				}
				isGiven := false
				for range 3 { // the hostile one may be given too, and then be written
					c, err := q.Claim(ctx, worker, whole, queue.Limits{})
					if err != nil {
						t.Fatalf("%s: the claim: %v", name, err)
					}
					if c != nil {
						isGiven = isGiven || c.SessionID == sane.SessionID
						must(t, q.Save(ctx, c.SessionID, c.LeaseNo, queue.Progress{Calls: 1, Spent: 5}))
					}
				}
				if !isGiven {
					t.Errorf("%s: another entry is given to nobody", name)
				}
				for _, id := range []string{s.SessionID, sane.SessionID} {
					rewrite(t, address, `delete from queue_entry where session_id = $1`, id)
				}
			}
		}
	}
}

// TestHostileTables: other tables of the queue are read with any values, too.
func TestHostileTables(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	d := open(t, address)
	q := d.Queue()
	claimNothing(t, q, worker, queue.Limits{})
	for _, set := range []string{
		`host = repeat('x', 200000)`, `host = E'h\n\x1b[2J'`, `labels = array[null]::text[]`, `labels = '{{a,b},{c,d}}'`, `projects = array_fill('x'::text, array[200000])`,
		`seen_at = 'infinity'`, `seen_at = '-infinity'`, `version = repeat('x', 200000)`,
	} {
		rewrite(t, address, `update queue_worker set `+set)
		workers, err := q.Workers(ctx)
		if err != nil || len(workers) != 1 ||
			len(workers[0].Host) > queue.MaxName || len(workers[0].Projects) > queue.MaxLabels || visible.Hides(workers[0].Host) || workers[0].SeenAgo < 0 {
			t.Errorf("%s: %.300v, %v", set, workers, err)
		}
		claimNothing(t, q, worker, queue.Limits{})
		if workers, err := q.Workers(ctx); err != nil || len(workers) != 1 || workers[0].Host != worker.Host {
			t.Errorf("%s: it was seen as %.300v, %v", set, workers, err)
		}
	}
	must(t, q.SetLimits(ctx, queue.Limits{MaxWorkers: 1}))
	for _, set := range []string{`max_workers = 9223372036854775807`, `max_workers = -9223372036854775808`, `max_cost_per_day = -1`, `max_cost_per_day = 9223372036854775807`} {
		rewrite(t, address, `update queue_limit set `+set)
		if l, err := q.Limits(ctx); err != nil || l.MaxWorkers < 0 || l.MaxCostPerDay < 0 {
			t.Errorf("%s: %+v, %v", set, l, err)
		}
		claimNothing(t, q, worker, queue.Limits{})
	}
	enqueue(t, d, queue.Order{})
	c := claim(t, q, worker, whole)
	must(t, q.Save(ctx, c.SessionID, c.LeaseNo, queue.Progress{Spent: 1}))
	for n, value := range []string{`'NaN'`, `1e100`, `-1e100`} {
		rewrite(t, address, `update queue_day set spent = `+value)
		if spent, err := q.SpentToday(ctx); err != nil || spent < 0 {
			t.Errorf("%s: %d, %v", value, spent, err)
		}
		must(t, q.Save(ctx, c.SessionID, c.LeaseNo, queue.Progress{Spent: int64(n + 2)}))
		claimNothing(t, q, worker, queue.Limits{MaxCostPerDay: 5})
	}
}
