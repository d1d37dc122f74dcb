package pgstore

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

const (
	// maxEntries bounds a list of the queue.
	maxEntries = 10_000
	// maxLeaseNo bounds the numbers of leases: somebody can write any number into a row.
	maxLeaseNo = `1000000000000000`
	// maxSum bounds a sum for the same reason.
	maxSum = `9000000000000000000`
	// serverTime is the time of the server, once for a statement, and serverDay the day, in UTC.
	serverTime = `(select clock_timestamp())`
	serverDay  = `(` + serverTime + ` at time zone 'UTC')::date`
)

// secondsOf returns the expression for a time as seconds. Somebody can write any time into a row, also an infinite one.
func secondsOf(column string) string {
	const most = `100000000000`
	return `least(greatest(coalesce(extract(epoch from ` + column + `), 0), -` + most + `), ` + most + `)::float8`
}

// namesOf returns the expression for a list of names: no more than fit, none of them too long, whatever the row has.
func namesOf(column string) string {
	return `array(select ` + boundedColumn("l", queue.MaxName) + ` from unnest(` + column + `) l where l is not null limit ` + strconv.Itoa(queue.MaxLabels) + `)`
}

// The columns of an entry e with its session s and project p.
var (
	entryColumns = `e.session_id::text, ` + boundedColumn("p.key", 8*queue.MaxName) + `, ` + boundedColumn("s.task_name", queue.MaxName) + `, ` +
		boundedColumn("s.stage", queue.MaxName) + `, ` + boundedColumn("s.state", queue.MaxName) + `, ` + boundedColumn("e.state", queue.MaxName) + `, ` +
		namesOf("e.labels") + `, ` + boundedColumn("e.queued_by", queue.MaxName) + `, ` + boundedColumn("e.base", queue.MaxName) + `, ` +
		boundedColumn("e.remote", queue.MaxName) + `, ` + secondsOf("e.queued_at") + `, ` + secondsOf("e.changed_at") + `, ` +
		secondsOf("clock_timestamp()") + `, ` + secondsOf("e.lease_until") + `, ` + boundedColumn("e.worker", queue.MaxName) +
		`, e.lease_no, e.asking, e.calls, e.repeated, e.workers_lost, e.spent, ` + boundedColumn("e.why", queue.MaxWords) + `, ` + readable
	// readable is true for an entry that workers can get.
	readable = `(e.lease_no < ` + maxLeaseNo + ` and octet_length(e.run) <= ` + strconv.Itoa(queue.MaxRun) +
		` and coalesce(octet_length(e.kept), 0) <= ` + strconv.Itoa(queue.MaxKept) + ` and coalesce(octet_length(e.work), 0) <= ` + strconv.Itoa(queue.MaxWork) + `)`
	// claimSize is the number of bytes that follow a claim.
	claimSize    = `(octet_length(e.run) + coalesce(octet_length(e.kept), 0) + coalesce(octet_length(e.work), 0))`
	claimColumns = entryColumns + `, ` + boundedColumn("e.head", queue.MaxName) + `, ` + claimSize
	fromEntries  = ` from queue_entry e join project p on p.tenant_id = e.tenant_id and p.project_id = e.project_id
		join session s on s.tenant_id = e.tenant_id and s.project_id = e.project_id and s.session_id = e.session_id where e.tenant_id = $1 `
)

// scanEntry reads entryColumns, and more columns after them.
func scanEntry(row pgx.Row, more ...any) (e queue.Entry, err error) {
	var queued, changed, now, until float64
	var fits bool
	into := []any{&e.SessionID, &e.Project, &e.TaskName, &e.Stage, &e.SessionState, &e.State, &e.Labels, &e.By, &e.Commit, &e.Remote, &queued, &changed, &now, &until,
		&e.Worker, &e.LeaseNo, &e.Asking, &e.Calls, &e.Repeated, &e.WorkersLost, &e.Spent, &e.Why, &fits}
	if err := row.Scan(append(into, more...)...); err != nil {
		return e, err
	}
	for _, text := range []*string{&e.Stage, &e.SessionState, &e.By, &e.Commit, &e.Remote, &e.Worker, &e.Why, (*string)(&e.State)} {
		*text = visible.Line(*text)
	}
	for i := range e.Labels {
		e.Labels[i] = visible.Line(e.Labels[i])
	}
	e.QueuedAt, e.ChangedAt = timeAt(queued), timeAt(changed)
	e.Age, e.InState = lengthOf(now-queued), lengthOf(now-changed)
	if e.State == queue.Working {
		e.LeaseLeft = lengthOf(until - now)
		e.Lost = e.LeaseLeft == 0
	}
	switch {
	case !fits:
		e.Note = lang.T("its row has values that are too large: no worker gets it").String()
	case !e.State.IsKnown():
		e.Note = lang.T("its row has a state that is not known: no worker gets it").String()
	case !artifact.IsName(e.TaskName):
		e.Note = lang.T("its row has a task name that cannot be one").String()
		e.TaskName = visible.Line(e.TaskName)
	}
	return e, nil
}

// timeAt returns the time for seconds, and lengthOf a length of time, 0 for a negative one.
func timeAt(seconds float64) time.Time {
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64((seconds-whole)*1e9)).UTC()
}

func lengthOf(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), 1e9) * float64(time.Second))
}

// scanClaim reads claimColumns. size is the number of bytes of the run, the record and the work.
func scanClaim(row pgx.Row) (c queue.Claim, size int, err error) {
	c.Entry, err = scanEntry(row, &c.Head, &size)
	c.Head = visible.Line(c.Head)
	return c, size, err
}

// readEntries reads entries; rest follows the condition on the tenant, whose argument is the first.
func (q *Queue) readEntries(ctx context.Context, rest string, args ...any) (out []queue.Entry, err error) {
	if err := q.checkSchema(ctx); err != nil {
		return nil, err
	}
	err = q.db.readRows(ctx, func() { out = nil }, func(row pgx.Row) error {
		e, err := scanEntry(row)
		out = append(out, e)
		return err
	}, `select `+entryColumns+fromEntries+rest, append([]any{q.db.tenant}, args...)...)
	return out, err
}

// List returns the entries in some states, nil for all, of all projects, the oldest first. Of more than 10,000 those
// are left out that have ended first.
func (q *Queue) List(ctx context.Context, states []queue.State) ([]queue.Entry, error) {
	var names []string // nil selects all
	if states != nil {
		names = []string{}
		for _, state := range states {
			names = append(names, string(state))
		}
	}
	out, err := q.readEntries(ctx, `and ($2::text[] is null or e.state = any($2))
		order by e.state in ('done', 'failed', 'cancelled'), e.queued_at desc, e.session_id limit `+strconv.Itoa(maxEntries), names)
	slices.SortStableFunc(out, func(a, b queue.Entry) int { return a.QueuedAt.Compare(b.QueuedAt) })
	return out, err
}

// Get returns the entry of a session, by its id, or by a task name that no other project has in the queue.
func (q *Queue) Get(ctx context.Context, ref string) (queue.Entry, error) {
	if ref == "" || !isText(ref) {
		return queue.Entry{}, notQueued(ref)
	}
	id, _ := store.ParseID(ref)
	found, err := q.readEntries(ctx, `and (e.session_id = nullif($2, '')::uuid or s.task_name = $3) order by e.session_id = nullif($2, '')::uuid nulls last limit 2`, id, ref)
	switch {
	case err != nil:
		return queue.Entry{}, err
	case len(found) == 0:
		return queue.Entry{}, notQueued(ref)
	case len(found) > 1 && found[0].SessionID != id:
		return queue.Entry{}, fault.New(fault.Conflict, "several projects have a run with the task name %q in the queue", ref).
			WithHint("name the run by its id")
	}
	return found[0], nil
}
