package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// queueSeen notes, in a batch, that a worker was seen, unless that was noted in the last 10 seconds. Then it forgets those
// that nobody has seen for a day: a container that is killed comes back under another name.
func (q *Queue) queueSeen(b *pgx.Batch, w queue.Worker) {
	b.Queue(`with seen as (
			insert into queue_worker (tenant_id, worker_id, host, version, labels, projects, seen_at) select $1, $2, $3, $4, $5, $6, clock_timestamp()
			where not exists (select from queue_worker n where n.tenant_id = $1 and n.worker_id = $2 and n.host = $3 and n.version = $4 and n.labels = $5
			and n.projects = $6 and n.seen_at between clock_timestamp() - interval '10 seconds' and clock_timestamp())
			on conflict (tenant_id, worker_id) do update set host = $3, version = $4, labels = $5, projects = $6, seen_at = excluded.seen_at returning 1
		) delete from queue_worker where tenant_id = $1 and exists (select from seen) and worker_id in (select n.worker_id from queue_worker n
			where n.tenant_id = $1 and n.worker_id <> $2 and n.seen_at < clock_timestamp() - interval '1 day' for update skip locked)`,
		q.db.tenant, w.ID, w.Host, w.Version, listOf(w.Labels), listOf(w.Projects))
}

// RemoveWorker forgets a worker. Its lease, if it has one, ends by itself.
func (q *Queue) RemoveWorker(ctx context.Context, id string) error {
	if !isText(id) {
		return nil // nobody has seen it
	}
	return q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		b.Queue(`delete from queue_worker where tenant_id = $1 and worker_id = $2`, q.db.tenant, id)
	})
}

// selectWorkers selects the workers of a tenant, for scanWorker.
var selectWorkers = `select ` + boundedColumn("w.worker_id", queue.MaxName) + `, ` + boundedColumn("w.host", queue.MaxName) + `, ` +
	boundedColumn("w.version", queue.MaxName) + `, ` +
	namesOf("w.labels") + `, ` + namesOf("w.projects") + `, ` + secondsOf("clock_timestamp()") + ` - ` + secondsOf("w.seen_at") + `,
		coalesce(at.session_id::text, ''), coalesce(at.task_name, '')
		from queue_worker w left join lateral (select e.session_id, ` + boundedColumn("s.task_name", queue.MaxName) + ` as task_name from queue_entry e
			join session s on s.tenant_id = e.tenant_id and s.project_id = e.project_id and s.session_id = e.session_id
			where e.tenant_id = $1 and e.state = 'working' and e.worker = w.worker_id and e.lease_until > clock_timestamp() order by e.changed_at desc limit 1) at on true
		where w.tenant_id = $1 order by w.seen_at desc, w.worker_id limit 1000`

// scanWorker reads a row of selectWorkers.
func scanWorker(row pgx.Row) (w queue.Worker, err error) {
	var seen float64
	if err := row.Scan(&w.ID, &w.Host, &w.Version, &w.Labels, &w.Projects, &seen, &w.SessionID, &w.TaskName); err != nil {
		return w, err
	}
	for _, text := range []*string{&w.ID, &w.Host, &w.Version, &w.TaskName} {
		*text = visible.Line(*text)
	}
	for _, list := range [][]string{w.Labels, w.Projects} {
		for i := range list {
			list[i] = visible.Line(list[i])
		}
	}
	w.SeenAgo = lengthOf(seen)
	return w, nil
}

// Workers returns the workers seen, the one seen last first, with the run that each is at work on.
func (q *Queue) Workers(ctx context.Context) (out []queue.Worker, err error) {
	if err := q.checkSchema(ctx); err != nil {
		return nil, err
	}
	err = q.db.readRows(ctx, func() { out = nil }, func(row pgx.Row) error {
		w, err := scanWorker(row)
		out = append(out, w)
		return err
	}, selectWorkers, q.db.tenant)
	return out, err
}

// Limits returns the limits of the team.
func (q *Queue) Limits(ctx context.Context) (l queue.Limits, err error) {
	if err := q.checkSchema(ctx); err != nil {
		return l, err
	}
	err = q.db.runStatement(ctx, func(row pgx.Row) error { return row.Scan(&l.MaxWorkers, &l.MaxCostPerDay) },
		`select least(greatest(max_workers, 0), 1 << 30), greatest(max_cost_per_day, 0) from queue_limit where tenant_id = $1`, q.db.tenant)
	return l, err
}

// SetLimits sets the limits of the team. Work under way goes on.
func (q *Queue) SetLimits(ctx context.Context, l queue.Limits) error {
	if err := l.Check(); err != nil {
		return err
	}
	return q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		b.Queue(`insert into queue_limit (tenant_id, max_workers, max_cost_per_day) values ($1, $2, $3)
			on conflict (tenant_id) do update set max_workers = excluded.max_workers, max_cost_per_day = excluded.max_cost_per_day`,
			q.db.tenant, l.MaxWorkers, l.MaxCostPerDay)
	})
}

// SpentToday returns the cost of the tenant's runs on this day (UTC), in nano-dollars.
func (q *Queue) SpentToday(ctx context.Context) (spent int64, err error) {
	if err := q.checkSchema(ctx); err != nil {
		return 0, err
	}
	err = q.db.runStatement(ctx, func(row pgx.Row) error { return row.Scan(&spent) },
		`select least(greatest(spent, 0), `+maxSum+`)::bigint from queue_day where tenant_id = $1 and day = `+serverDay, q.db.tenant)
	return spent, err
}
