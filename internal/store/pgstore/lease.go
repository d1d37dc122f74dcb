package pgstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// heldBy is the condition for the lease of a worker at work. After a fail-over that has lost a claim, two leases can
	// have one number, but not the text of one call.
	heldBy = `tenant_id = $1 and session_id = $2 and lease_no = $3 and call = $4 and state = 'working'`
	// leaseCount is the number of leases that have not ended.
	leaseCount = `(select count(*) from queue_entry n where n.tenant_id = $1 and n.state = 'working' and n.lease_until > ` + serverTime + `)`
	// inOrder has the entries read in their order, by the index, until one fits. The planner would sort them all, as it
	// takes the conditions for rare.
	inOrder = `select set_config('enable_sort', 'off', true)`
	// lockWorker holds up other claims of a worker until the transaction ends: the server may still be at work on one
	// whose connection was lost.
	lockWorker = `select pg_advisory_xact_lock(hashtextextended('bmad-mcp worker ' || $1::bigint || ' ' || $2::text, 0))`
	// lockLimits holds up other claims until the transaction ends, unless the condition added to it finds no row.
	lockLimits = `select pg_advisory_xact_lock(hashtextextended('bmad-mcp queue ' || $1::bigint, 0)) `
)

// claimUntil is the end of the lease of a claim: its length, and the time in which the rest of the entry is read.
var claimUntil = `clock_timestamp() + ($4::bigint + ` + strconv.FormatInt(transferTime(1).Microseconds(), 10) + ` * ` + claimSize + `::bigint) * interval '1 microsecond'`

// The statements of a claim. An attempt after one whose answer was lost first looks for the entry that it may have.
var (
	claimNext     = claimStatement(``)
	claimNextOnce = claimStatement(` and not exists (select from queue_entry n where n.tenant_id = $1 and n.state = 'working' and n.worker = $5 and n.call = $6)`)
	// claimAgain gives the lease of the entry that was claimed another end, from a time that this machine has seen.
	claimAgain = `update queue_entry e set lease_until = ` + claimUntil + ` from session s, project p
		where e.tenant_id = $1 and e.state = 'working' and e.worker = $2 and e.call = $3
		and s.tenant_id = $1 and s.project_id = e.project_id and s.session_id = e.session_id and p.tenant_id = $1 and p.project_id = e.project_id returning ` + claimColumns
)

// claimStatement returns a statement which claims the next entry, with one more condition.
func claimStatement(condition string) string {
	return `with most as (
		select least(nullif($7::bigint, 0), nullif(greatest(max(max_workers), 0), 0)) as workers,
			least(nullif($8::bigint, 0), nullif(greatest(max(max_cost_per_day), 0), 0)) as cost from queue_limit where tenant_id = $1
	), picked as (
		select e.session_id, e.state from queue_entry e where e.tenant_id = $1 and e.state in ('ready', 'working')
		and case when e.state = 'ready' then e.not_before else e.lease_until end <= ` + serverTime + `
		and e.project_id = any(array(select p.project_id from project p where p.tenant_id = $1 and p.key = any($2))) and e.labels <@ $3 and ` + readable + `
		and (select (workers is null or workers > ` + leaseCount + `)
			and (cost is null or cost > coalesce((select d.spent from queue_day d where d.tenant_id = $1 and d.day = ` + serverDay + `), 0)) from most)` + condition + `
		order by e.queued_at, e.session_id limit 1 for update of e skip locked
	) update queue_entry e set state = 'working', worker = $5, call = $6, lease_no = e.lease_no + 1, changed_at = clock_timestamp(),
		lease_until = ` + claimUntil + `, why = '',
		workers_lost = e.workers_lost + case when picked.state = 'working' and e.workers_lost < 1000000 then 1 else 0 end
		from picked, session s, project p where e.tenant_id = $1 and e.session_id = picked.session_id
		and s.tenant_id = $1 and s.project_id = e.project_id and s.session_id = e.session_id and p.tenant_id = $1 and p.project_id = e.project_id returning ` + claimColumns
}

// readClock returns the time of this machine, from which the local end of a lease follows.
func readClock() time.Time {
	return time.Now() //nolint:forbidigo // a deadline, by the monotonic clock
}

// Claim gives a worker the oldest entry which is Ready, or whose worker is lost, of the worker's projects, and with no
// label that the worker does not have. It returns nil if there is none, or if a limit is reached: l or that of the team,
// the stricter one. The worker counts as seen. The lease lasts until the claim's Until.
func (q *Queue) Claim(ctx context.Context, w queue.Worker, length time.Duration, l queue.Limits) (*queue.Claim, error) {
	for _, err := range []error{w.Check(), queue.CheckLease(length), l.Check()} {
		if err != nil {
			return nil, err
		}
	}
	call := rand.Text()
	var out *queue.Claim
	size := 0
	err := q.sendBatch(ctx, func(b *pgx.Batch, again bool) {
		out = nil
		begun := readClock()
		read := func(rows pgx.Rows) error {
			for rows.Next() {
				var c queue.Claim
				var err error
				if c, size, err = scanClaim(rows); err != nil {
					return err
				}
				c.Until = begun.Add(length + transferTime(size))
				out = &c
			}
			return rows.Err()
		}
		b.Queue(inOrder)
		b.Queue(lockWorker, q.db.tenant, w.ID)
		b.Queue(lockLimits+`where $2 or exists (select from queue_limit where tenant_id = $1 and max_workers > 0)`, q.db.tenant, l.MaxWorkers > 0)
		statement := claimNext
		if again {
			b.Queue(claimAgain, q.db.tenant, w.ID, call, length.Microseconds()).Query(read)
			statement = claimNextOnce
		}
		b.Queue(statement, q.db.tenant, listOf(w.Projects), listOf(w.Labels), length.Microseconds(), w.ID, call, l.MaxWorkers, l.MaxCostPerDay).Query(read)
		q.queueSeen(b, w)
	})
	if err != nil || out == nil {
		return nil, err
	}
	held := lease{out.LeaseNo, call}
	q.db.mu.Lock()
	q.db.claims[out.SessionID] = held
	q.db.mu.Unlock()
	if found, err := q.readClaimed(ctx, out, held, size); err != nil || !found {
		return nil, err
	}
	return out, nil
}

// readClaimed reads the run, the record and the work of a claimed entry, of so many bytes. Claims under a limit wait for each
// other, so that the claim must not hold them up for as long as that takes. found is false if the lease was lost meanwhile.
func (q *Queue) readClaimed(ctx context.Context, c *queue.Claim, l lease, size int) (found bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience+transferTime(size))
	defer cancel()
	err = q.db.onConn(ctx, false, func(conn *pgx.Conn) error {
		found = false
		return q.db.runStatementOn(ctx, conn, func(row pgx.Row) error { found = true; return row.Scan(&c.Run, &c.Kept, &c.Work) },
			`select run, kept, work from queue_entry where `+heldBy, q.db.tenant, c.SessionID, l.no, l.call)
	})
	return found, q.db.explainError(err)
}

// refuseUnless returns the error for a lease that does not count any more.
func (row *entryRow) refuseUnless(id string, l lease) error {
	isLast := row.no == l.no && row.call == l.call
	switch {
	case isLast && row.state == queue.Cancelled:
		return queue.CancelledError(id)
	case !row.found, !isLast, row.state != queue.Working: // an entry goes with its session
		return queue.LeaseLost(id, l.no)
	}
	return nil
}

// Renew prolongs a lease, and returns its end by this machine's monotonic clock. It refuses with an error that matches
// [queue.ErrLeaseLost], and [queue.ErrCancelled] if somebody has cancelled the entry. A lease that has ended begins
// again if no other worker has the entry yet, and the team's limit of workers allows it. A lease counts only for the
// Database that has claimed it.
func (q *Queue) Renew(ctx context.Context, sessionID string, no int64, length time.Duration) (until time.Time, err error) {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return time.Time{}, notQueued(sessionID)
	}
	if err := queue.CheckLease(length); err != nil {
		return time.Time{}, err
	}
	l := q.db.claimedLease(id, no)
	var row entryRow
	var renewed bool
	err = q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		until, renewed = readClock().Add(length), false
		b.Queue(lockLimits+`from queue_entry where `+heldBy+` and lease_until <= clock_timestamp()
			and exists (select from queue_limit m where m.tenant_id = $1 and m.max_workers > 0)`, q.db.tenant, id, no, l.call)
		q.queueLock(b, id, &row)
		b.Queue(`update queue_entry set lease_until = clock_timestamp() + $5::bigint * interval '1 microsecond' where `+heldBy+`
			and (lease_until > clock_timestamp() or not exists (select from queue_limit m where m.tenant_id = $1 and m.max_workers between 1 and `+leaseCount+`)) returning 1`,
			q.db.tenant, id, no, l.call, length.Microseconds()).Query(isFilled(&renewed))
		b.Queue(`update queue_worker w set seen_at = clock_timestamp() from queue_entry e where e.tenant_id = $1 and e.session_id = $2 and e.lease_no = $3
			and w.tenant_id = $1 and w.worker_id = e.worker and w.seen_at < clock_timestamp() - interval '10 seconds'`, q.db.tenant, id, no)
	})
	if err == nil && !renewed {
		if err = row.refuseUnless(id, l); err == nil {
			err = queue.LeaseLost(id, no)
		}
	}
	if err != nil {
		return time.Time{}, err
	}
	return until, nil
}

// Save stores how far the worker with a lease has come. What the run has cost more than before counts for the day. The
// errors are those of Renew.
func (q *Queue) Save(ctx context.Context, sessionID string, no int64, p queue.Progress) error {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return notQueued(sessionID)
	}
	if err := p.Check(); err != nil {
		return err
	}
	l := q.db.claimedLease(id, no)
	var row entryRow
	err := q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		// The record and the work are on the server before the first statement locks the entry: renewals wait for the lock.
		b.Queue(`update queue_entry set kept = coalesce($5, kept), asking = $6, calls = $7, repeated = $8, head = coalesce(nullif($9, ''), head),
			work = coalesce($10, work) where `+heldBy, q.db.tenant, id, no, l.call, p.Kept, p.Asking, p.Calls, p.Repeated, p.Head, p.Work)
		q.queueLock(b, id, &row)
		b.Queue(`insert into queue_day (tenant_id, day, spent) select $1, `+serverDay+`, $5::bigint - greatest(spent, 0)
			from queue_entry where `+heldBy+` and greatest(spent, 0) < $5::bigint
			on conflict (tenant_id, day) do update set spent = queue_day.spent + excluded.spent`, q.db.tenant, id, no, l.call, p.Spent)
		b.Queue(`update queue_entry set spent = $5 where `+heldBy+` and spent < $5`, q.db.tenant, id, no, l.call, p.Spent)
	})
	if err != nil {
		return err
	}
	return row.refuseUnless(id, l)
}

// Release gives an entry back. If it is to be Waiting, and the session has been changed meanwhile, it becomes Ready: the
// session's row is locked first, so that no decision is missed. The errors are those of Renew; a release whose answer
// was lost can be repeated.
func (q *Queue) Release(ctx context.Context, sessionID string, no int64, r queue.Release) error {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return notQueued(sessionID)
	}
	if err := r.Check(); err != nil {
		return err
	}
	l := q.db.claimedLease(id, no)
	var row entryRow
	err := q.sendBatch(ctx, func(b *pgx.Batch, _ bool) {
		const ofSession = `session s where s.tenant_id = $1 and s.session_id = $2
			and s.project_id = (select n.project_id from queue_entry n where n.tenant_id = $1 and n.session_id = $2)`
		b.Queue(`select 1 from `+ofSession+` for no key update of s`, q.db.tenant, id)
		q.queueLock(b, id, &row)
		b.Queue(`with changed as (select $5 = 'waiting' and exists (select from `+ofSession+` and s.revision <> $6) as meanwhile)
			update queue_entry set state = case when meanwhile then 'ready' else $5 end, why = case when meanwhile then '' else $7 end,
			not_before = case when meanwhile then '-infinity' else clock_timestamp() + $8::bigint * interval '1 microsecond' end,
			worker = '', lease_until = '-infinity', released_no = lease_no, changed_at = clock_timestamp() from changed where `+heldBy,
			q.db.tenant, id, no, l.call, string(r.To), r.Revision, queue.CutWords(r.Why), r.NotBefore.Microseconds())
	})
	if isRepeated := no > 0 && row.givenUp == no; err != nil || isRepeated {
		return err
	}
	return row.refuseUnless(id, l)
}

// Hold has every change of a session by this process depend on a lease, for good: if it does not count any more, nothing is
// stored, and the error matches [queue.ErrLeaseLost].
func (d *Database) Hold(sessionID string, no int64) {
	id := keyOf(sessionID)
	l := d.claimedLease(id, no)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fences[id] = l
}

// keyOf returns the one form of an id.
func keyOf(sessionID string) string {
	if id, ok := store.ParseID(sessionID); ok {
		return id
	}
	return sessionID
}

// claimedLease returns the lease of an entry with a number. If this Database has not claimed it, it counts nowhere.
func (d *Database) claimedLease(id string, no int64) lease {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.claims[id]; l.no == no {
		return l
	}
	return lease{no: no}
}

// heldLease returns the lease that changes of a session depend on, nil if there is none.
func (d *Database) heldLease(sessionID string) *lease {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.fences[keyOf(sessionID)]; ok {
		return &l
	}
	return nil
}

// checkLease refuses a change under a lease that does not count any more. The lock follows: with one, the lease counts
// until the transaction ends.
func (t *tx) checkLease(ctx context.Context, lock string) error {
	if t.fence == nil {
		return nil
	}
	var row entryRow
	if !t.db.hasQueue() {
		return queue.LeaseLost(t.id, t.fence.no)
	}
	err := t.conn.QueryRow(ctx, `select lease_no, `+boundedColumn("state", queue.MaxName)+`, `+boundedColumn("call", queue.MaxName)+` from queue_entry
		where tenant_id = $1 and project_id = $2 and session_id = $3`+lock,
		t.db.tenant, t.project, t.id).Scan(&row.no, &row.state, &row.call)
	if row.found = err == nil; err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return row.refuseUnless(t.id, *t.fence)
}

// wakeEntry has the entry of a session follow a change of it: one that waits is Ready, one that is spent too if a person
// has decided, and that of a cancelled run is Cancelled. No worker joins in when somebody goes on with a spent run elsewhere,
// where a flag may say yes at the gates.
func (t *tx) wakeEntry(b *pgx.Batch, session *workflow.Session) {
	if !t.db.hasQueue() {
		return
	}
	isDecided := false
	if n := len(session.History); n > 0 {
		grant := session.History[n-1].Grant
		isDecided = grant != nil && grant.Channel != workflow.ChannelScript
	}
	b.Queue(`update queue_entry set state = case when $4 then 'cancelled' else 'ready' end, changed_at = clock_timestamp(), not_before = '-infinity', why = ''
		where tenant_id = $1 and project_id = $2 and session_id = $3
		and case when $4 then state not in ('done', 'cancelled') else state = 'waiting' or state = 'spent' and $5 end`,
		t.db.tenant, t.project, t.id, session.CurrentState == workflow.Cancelled, isDecided)
}
