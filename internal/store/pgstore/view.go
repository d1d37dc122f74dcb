package pgstore

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// View returns the queue for a page, in one exchange with the server: at most [queue.MaxView] of the entries that are
// not Done, the entry of a session if that is not "", and the workers.
func (q *Queue) View(ctx context.Context, sessionID string) (v queue.View, err error) {
	if err := q.checkSchema(ctx); err != nil {
		return v, err
	}
	id, _ := store.ParseID(sessionID)
	err = q.db.onConn(ctx, false, func(conn *pgx.Conn) error {
		v = queue.View{}
		b := &pgx.Batch{}
		q.db.beginTransaction(b)
		b.Queue(`select `+entryColumns+fromEntries+`and (e.state <> 'done' or e.session_id = nullif($2, '')::uuid)
			order by e.session_id = nullif($2, '')::uuid desc nulls last, e.state = 'working' desc, e.state = 'ready' desc, e.changed_at desc, e.session_id limit `+
			strconv.Itoa(queue.MaxView+1), q.db.tenant, id).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				e, err := scanEntry(rows)
				if err != nil {
					return err
				}
				v.Entries = append(v.Entries, e)
			}
			return rows.Err()
		})
		b.Queue(selectWorkers, q.db.tenant).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				w, err := scanWorker(rows)
				if err != nil {
					return err
				}
				v.Workers = append(v.Workers, w)
			}
			return rows.Err()
		})
		return conn.SendBatch(ctx, b).Close()
	})
	if v.More = len(v.Entries) > queue.MaxView; v.More {
		v.Entries = v.Entries[:queue.MaxView]
	}
	return v, q.db.explainError(err)
}

// AtWorkers implements [store.Queued].
func (s *Store) AtWorkers(ctx context.Context, sessionID string) (at bool, err error) {
	id, ok := store.ParseID(sessionID)
	if !ok || s.db.heldLease(id) != nil {
		return false, ctx.Err()
	}
	number, err := s.projectID(ctx, false)
	if err != nil || number == 0 || !s.db.hasQueue() {
		return false, err
	}
	err = s.db.runStatement(ctx, func(pgx.Row) error { at = true; return nil },
		`select 1 from queue_entry where tenant_id = $1 and project_id = $2 and session_id = $3 and state in ('ready', 'working')`, s.db.tenant, number, id)
	return at, err
}

// sumOf returns the expression for the sum of a column of entries.
func sumOf(column string) string {
	return `least(greatest(coalesce(sum(e.` + column + `), 0), 0), ` + maxSum + `)::bigint`
}

// countOf returns the expression for the number of rows that meet a condition.
func countOf(condition string) string { return `count(*) filter (where ` + condition + `)` }

var selectCounts = `select r.*, w.*,
	coalesce((select least(greatest(d.spent, 0), ` + maxSum + `)::bigint from queue_day d where d.tenant_id = $1 and d.day = ` + serverDay + `), 0)
	from (select ` + countOf(`e.state = 'ready'`) + `, ` + countOf(`e.state = 'working' and e.lease_until > n.at`) + `, ` +
	countOf(`e.state = 'working' and e.lease_until <= n.at`) + `, ` + countOf(`e.state = 'waiting'`) + `, ` + countOf(`e.state = 'spent'`) + `, ` +
	countOf(`e.state = 'done'`) + `, ` + countOf(`e.state = 'failed'`) + `, ` + countOf(`e.state = 'cancelled'`) + `,
		coalesce(max(` + secondsOf("n.at") + ` - ` + secondsOf("greatest(e.changed_at, e.not_before)") + `) filter (where e.state = 'ready'), 0), ` +
	sumOf("calls") + `, ` + sumOf("repeated") + `, ` + sumOf("workers_lost") + `
		from queue_entry e, (select ` + serverTime + ` as at) n where e.tenant_id = $1) r,
	(select ` + countOf(`a.works`) + `, ` + countOf(`not a.works and not a.away`) + `, ` + countOf(`not a.works and a.away`) + ` from (select
		exists (select from queue_entry e where e.tenant_id = $1 and e.state = 'working' and e.worker = w.worker_id and e.lease_until > ` + serverTime + `) as works,
		w.seen_at < ` + serverTime + ` - interval '` + strconv.Itoa(int(queue.AwayAfter.Seconds())) + ` seconds' as away
		from queue_worker w where w.tenant_id = $1) a) w`

// Counts returns the sums over the queue, in one statement.
func (q *Queue) Counts(ctx context.Context) (c queue.Counts, err error) {
	if err := q.checkSchema(ctx); err != nil {
		return c, err
	}
	var ready, working, waiting, spent, done, failed, cancelled int
	var oldest float64
	err = q.db.runStatement(ctx, func(row pgx.Row) error {
		return row.Scan(&ready, &working, &c.Lost, &waiting, &spent, &done, &failed, &cancelled, &oldest, &c.Calls, &c.Repeated, &c.WorkersLost,
			&c.AtWork, &c.Idle, &c.Gone, &c.SpentToday)
	}, selectCounts, q.db.tenant)
	c.Runs = map[queue.State]int{
		queue.Ready: ready, queue.Working: working, queue.Waiting: waiting, queue.Spent: spent, queue.Done: done, queue.Failed: failed, queue.Cancelled: cancelled,
	}
	c.OldestReady = lengthOf(oldest)
	return c, err
}
