package pgstore

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// Queue is the queue of runs of a tenant, over all of its projects. It is safe for concurrent use. A database whose
// schema has no queue refuses each call, with what its owner has to do.
type Queue struct{ db *Database }

// Queue returns the queue.
func (d *Database) Queue() *Queue { return &Queue{d} }

// Enqueuing returns a store whose Create puts the new session into the queue, Ready, in the same transaction.
func (s *Store) Enqueuing(o queue.Order) *Store {
	out := *s
	out.order = &o
	return &out
}

// checkOrder refuses an order that cannot be kept.
func (s *Store) checkOrder(ctx context.Context) error {
	if s.order == nil {
		return nil
	}
	if err := s.order.Check(); err != nil {
		return err
	}
	return s.db.Queue().checkSchema(ctx)
}

// checkSchema refuses a database without a queue.
func (q *Queue) checkSchema(ctx context.Context) error {
	if q.db.hasQueue() {
		return ctx.Err()
	}
	return q.db.explainError(q.db.onConn(ctx, false, func(conn *pgx.Conn) error { return q.db.requireQueue(ctx, conn) }))
}

// sendBatch sends statements as one transaction. If the connection is lost, they are made and sent again: again is
// true then, and what was sent before may have been done. A caller that has gone does not stop what was sent.
func (q *Queue) sendBatch(ctx context.Context, fill func(b *pgx.Batch, again bool)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	again := false
	err := q.db.onConn(ctx, false, func(conn *pgx.Conn) error {
		b := &pgx.Batch{}
		q.db.beginTransaction(b)
		fill(b, again)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience+transferTime(sizeOf(b)))
		defer cancel()
		if err := q.db.requireQueue(ctx, conn); err != nil {
			return err
		}
		again = true
		return conn.SendBatch(ctx, b).Close()
	})
	if again && err != nil && !isDefinite(err) {
		return unknownOutcome(q.db, err)
	}
	return q.db.explainError(err)
}

// sizeOf returns the number of bytes in the arguments of a batch that can be large.
func sizeOf(b *pgx.Batch) (n int) {
	for _, query := range b.QueuedQueries {
		for _, arg := range query.Arguments {
			if data, ok := arg.([]byte); ok {
				n += len(data)
			}
		}
	}
	return n
}

// transferTime returns the time that so many bytes take over a slow connection, of 2 Mbit/s.
func transferTime(bytes int) time.Duration { return time.Duration(bytes) * 4 * time.Microsecond }

// insertEntry takes the values of orderValues.
const insertEntry = `insert into queue_entry (tenant_id, project_id, session_id, state, labels, run, queued_by, base, remote, call)
	values ($1, $2, $3, 'ready', $4, $5, $6, $7, $8, $9)`

// orderValues returns the columns of a new entry. call is a text that no other call has.
func (d *Database) orderValues(project int64, id, call string, o queue.Order) []any {
	return []any{d.tenant, project, id, listOf(o.Labels), bytesOf(o.Run), o.By, o.Commit, o.Remote, call}
}

// listOf returns a list that is not nil, and bytesOf bytes that are not: nil would be NULL.
func listOf(list []string) []string { return append([]string{}, list...) }

func bytesOf(data []byte) []byte { return append([]byte{}, data...) }

// entryRow is the part of an entry that decides whether it may be changed.
type entryRow struct {
	found                bool
	project, no, givenUp int64
	state                queue.State
	call                 string
}

// queueLock locks an entry for the rest of a batch, and reads it into row.
func (q *Queue) queueLock(b *pgx.Batch, id string, row *entryRow) {
	*row = entryRow{}
	b.Queue(`select project_id, lease_no, released_no, `+boundedColumn("state", queue.MaxName)+`, `+boundedColumn("call", queue.MaxName)+`
		from queue_entry where tenant_id = $1 and session_id = $2 for update`, q.db.tenant, id).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			row.found = true
			if err := rows.Scan(&row.project, &row.no, &row.givenUp, &row.state, &row.call); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Add puts a session of a project, named by its key, into the queue. An entry that has stopped or ended is put back as
// a new order, with its record, its work and its costs so far: the record goes on counting them. One that is Ready or
// Working is refused.
func (q *Queue) Add(ctx context.Context, project, sessionID string, o queue.Order) error {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return store.NotFound(sessionID)
	}
	if err := o.Check(); err != nil {
		return err
	}
	if err := q.checkSchema(ctx); err != nil {
		return err
	}
	number, err := q.db.Store(store.Place{Key: project}).projectID(ctx, false)
	if err != nil {
		return err
	}
	var found, added bool
	var row entryRow
	call := rand.Text()
	err = q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		found, added = false, false
		b.Queue(`select 1 from session where tenant_id = $1 and project_id = $2 and session_id = $3 for update`, q.db.tenant, number, id).
			Query(isFilled(&found))
		q.queueLock(b, id, &row)
		b.Queue(`insert into queue_entry (tenant_id, project_id, session_id, state, labels, run, queued_by, base, remote, call)
			select tenant_id, project_id, session_id, 'ready', $4, $5, $6, $7, $8, $9 from session where tenant_id = $1 and project_id = $2 and session_id = $3
			on conflict (tenant_id, session_id) do update set state = 'ready', labels = excluded.labels, run = excluded.run, queued_by = excluded.queued_by,
			base = excluded.base, remote = excluded.remote, call = excluded.call, queued_at = clock_timestamp(), changed_at = clock_timestamp(),
			not_before = '-infinity', asking = 0, workers_lost = 0, why = ''
			where queue_entry.project_id = $2 and queue_entry.state not in ('ready', 'working') returning 1`, q.db.orderValues(number, id, call, o)...).
			Query(isFilled(&added))
	})
	switch {
	case err != nil || added || row.call == call: // done, or done before its answer was lost
		return err
	case !found:
		return store.NotFound(sessionID)
	case row.found && row.project != number:
		return queuedElsewhere(id)
	}
	return fault.New(fault.NotAllowed, "run %s is in the queue already", id).WithHint("wait until a worker has done it, or cancel its entry first")
}

// queuedElsewhere returns the error for an id that is queued for another project.
func queuedElsewhere(id string) error {
	return fault.New(fault.Conflict, "another project has run %s in the queue", id).
		WithHint("it was imported there: cancel and remove one of them; nothing was changed")
}

// isFilled notes whether a statement has returned rows.
func isFilled(found *bool) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			*found = true
		}
		return rows.Err()
	}
}

// Cancel takes an entry from the queue, in any state but Done. A worker at work on it learns that at its next call; the
// session stays as it is. An entry that is Cancelled stays so.
func (q *Queue) Cancel(ctx context.Context, sessionID string) error {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return notQueued(sessionID)
	}
	var row entryRow
	err := q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		q.queueLock(b, id, &row)
		b.Queue(`update queue_entry set state = 'cancelled', changed_at = clock_timestamp(), why = '' where tenant_id = $1 and session_id = $2
			and state not in ('done', 'cancelled')`, q.db.tenant, id)
	})
	switch {
	case err != nil:
		return err
	case !row.found:
		return notQueued(sessionID)
	case row.state == queue.Done:
		return fault.New(fault.NotAllowed, "run %s is done: it cannot be taken from the queue", id).WithHint("nothing was changed")
	}
	return nil
}

// Retry makes an entry Ready that is Failed, Spent, Cancelled or Waiting. It goes on from its record; run are the new
// flags, nil keeps those of the order. The count of lost workers is 0 again.
func (q *Queue) Retry(ctx context.Context, sessionID string, run []byte) error {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return notQueued(sessionID)
	}
	if err := (queue.Order{Run: run}).Check(); err != nil {
		return err
	}
	var row entryRow
	var done bool
	call := rand.Text()
	err := q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		done = false
		q.queueLock(b, id, &row)
		b.Queue(`update queue_entry set state = 'ready', run = coalesce($3, run), call = $4, changed_at = clock_timestamp(), not_before = '-infinity',
			workers_lost = 0, why = '' where tenant_id = $1 and session_id = $2 and state in ('failed', 'spent', 'cancelled', 'waiting') returning 1`,
			q.db.tenant, id, run, call).Query(isFilled(&done))
	})
	switch {
	case err != nil || done || row.call == call:
		return err
	case !row.found:
		return notQueued(sessionID)
	}
	return fault.New(fault.NotAllowed, "run %s cannot be tried again: it is %s", id, string(row.state)).
		WithHint("retry is for a run that has failed, was cancelled or has stopped; one that is done goes on by: bmad-mcp run --queue --resume RUN")
}

// notQueued returns the error for an id or task name that the queue does not have.
func notQueued(ref string) error {
	return fault.New(fault.NotFound, "no run in the queue has the id or task name %q", ref).
		WithHint("list the queue to see its runs, or put this one into it")
}
