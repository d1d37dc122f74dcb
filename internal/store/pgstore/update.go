package pgstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// maxIdle bounds, on the server, the time between two statements of a change: a hanging client loses
	// the lock.
	maxIdle = "60s"
	// patience bounds the wait for the answer to a commit, and then the search for what became of it.
	patience = 30 * time.Second
)

// tx is an update in progress.
type tx struct {
	*Store
	conn    *pgx.Conn
	project int64
	id      string
	// fence is the lease that the change depends on, nil if there is none.
	fence *lease
	// stored are the paths of the existing texts, put the texts of the change, in order.
	stored []string
	put    []kept
}

// kept is a text to be stored.
type kept struct {
	path string
	sum  [sha256.Size]byte
	body string
}

// Update changes a session under the row's lock.
func (s *Store) Update(ctx context.Context, id string, change store.Change) (*workflow.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	canonical, ok := store.ParseID(id)
	if !ok {
		return nil, store.NotFound(id)
	}
	project, err := s.projectID(ctx, false)
	if err != nil {
		return nil, err
	}
	c := &changing{Store: s, project: project, id: canonical, fence: s.db.heldLease(canonical)}
	err = s.db.onConn(ctx, false, func(conn *pgx.Conn) error { return c.runTransaction(ctx, conn, change) })
	if c.refused != nil {
		return nil, c.refused
	}
	if c.data != nil && err != nil && !isRefusal(err) {
		err = c.resolveCommit(ctx, err)
	}
	if constraintOf(err) == "session_name" { // the row was changed by hand, and so was the other one
		return nil, nameTaken(c.session.TaskName)
	}
	if err != nil {
		return nil, s.db.explainError(err)
	}
	s.db.sendNoticeSoon(project)
	return c.session, nil
}

// changing is a change of a session, from one state to another, over one connection or several.
type changing struct {
	*Store
	project int64
	id      string
	fence   *lease
	// base is the state before, data the one afterwards; nil until the change has run, which it does once.
	base, data []byte
	session    *workflow.Session
	put        []kept
	refused    error
}

// runTransaction changes the session in one transaction.
func (c *changing) runTransaction(ctx context.Context, conn *pgx.Conn, change store.Change) error {
	t := &tx{Store: c.Store, conn: conn, project: c.project, id: c.id, fence: c.fence}
	have, err := t.lockSession(ctx)
	if err == nil && have == nil {
		err = store.NotFound(c.id)
	}
	if err == nil {
		err = t.checkLease(ctx, ``)
	}
	if err == nil {
		c.session, err = decodeSession(c.id, have)
	}
	var data []byte
	if err == nil {
		if err = change(t, c.session); err != nil {
			c.refused = err
		} else {
			c.session.Revision++
			data, err = store.Encode(c.session)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			err = &finalError{err}
		}
	}
	// From here on it is done or not done, even if the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err != nil {
		rollBack(ctx, conn)
		return err
	}
	c.base, c.data, c.put = have, data, t.put
	if err = t.commitChange(ctx, c.session, data); err != nil {
		return &finalError{err} // the change does not run again
	}
	return nil
}

// resolveCommit finds out what became of a commit whose answer was lost, and repeats it if the state is still the one before.
// The server may still be working on it with the row locked, so that it waits for the same lock.
func (c *changing) resolveCommit(ctx context.Context, lost error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	outcome := unknownOutcome(c.db, lost)
	err := c.db.onConn(ctx, true, func(conn *pgx.Conn) error {
		t := &tx{Store: c.Store, conn: conn, project: c.project, id: c.id, fence: c.fence, put: c.put}
		have, err := t.lockSession(ctx)
		if err == nil && bytes.Equal(have, c.base) {
			outcome = unknownOutcome(c.db, lost)
			return t.commitChange(ctx, c.session, c.data)
		}
		rollBack(ctx, conn)
		if err == nil && !bytes.Equal(have, c.data) {
			// A newer state may have come from this one; at the same revision another was faster.
			if now, err := decodeSession(c.id, have); err == nil && now.Revision <= c.session.Revision {
				outcome = c.db.refusalOf(lost)
			}
			return &finalError{outcome}
		}
		return err
	})
	if err != nil && constraintOf(err) == "" && !errors.Is(err, queue.ErrLeaseLost) {
		return outcome
	}
	return err
}

// rollBack ends a transaction, unless the connection has ended, which does the same.
func rollBack(ctx context.Context, conn *pgx.Conn) {
	if !conn.IsClosed() {
		_, _ = conn.Exec(context.WithoutCancel(ctx), `rollback`)
	}
}

// lockSession begins the transaction, and returns the locked session; nil if there is none.
func (t *tx) lockSession(ctx context.Context) (data []byte, err error) {
	wait := durable.LockTimeout
	if t.dir != nil && t.dir.LockTimeout > 0 {
		wait = t.dir.LockTimeout
	}
	b := &pgx.Batch{}
	b.Queue(`begin`)
	t.db.beginTransaction(b)
	b.Queue(`select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)`,
		strconv.FormatInt(wait.Milliseconds(), 10), maxIdle)
	b.Queue(`select `+readBody+` from session where tenant_id = $1 and project_id = $2 and session_id = $3 for update`, t.db.tenant, t.project, t.id).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := rows.Scan(&data); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	t.db.queueSchemaCheck(b)
	b.Queue(`select path from content where tenant_id = $1 and project_id = $2 and session_id = $3`, t.db.tenant, t.project, t.id).
		Query(func(rows pgx.Rows) (err error) {
			t.stored, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	return data, t.conn.SendBatch(ctx, b).Close()
}

// commitChange stores the texts and the session, if the lease counts.
func (t *tx) commitChange(ctx context.Context, session *workflow.Session, data []byte) error {
	if err := t.checkLease(ctx, ` for share`); err != nil {
		rollBack(ctx, t.conn)
		return err
	}
	b := &pgx.Batch{}
	for _, text := range t.put {
		t.db.queueText(b, t.project, t.id, text)
	}
	b.Queue(updateSession, t.columnValues(t.project, t.id, session, data)...)
	t.wakeEntry(b, session)
	b.Queue(`commit`)
	err := t.conn.SendBatch(ctx, b).Close()
	if err != nil && isDefinite(err) {
		rollBack(ctx, t.conn)
	}
	return err
}

// queueText stores a text.
func (d *Database) queueText(b *pgx.Batch, project int64, id string, text kept) {
	b.Queue(`insert into content (tenant_id, project_id, path, session_id, sha256, body) values ($1, $2, $3, $4, $5, $6)`,
		d.tenant, project, text.path, id, text.sum[:], []byte(text.body))
}

// Put keeps texts for the commit.
func (t *tx) Put(ctx context.Context, texts []store.Text) ([]workflow.ContentRef, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	refs := make([]workflow.ContentRef, 0, len(texts))
	for _, text := range texts {
		path := store.ContentPath(t.id, text, 0)
		for n := 1; slices.Contains(t.stored, path); n++ {
			path = store.ContentPath(t.id, text, n)
		}
		if !isText(path) {
			return nil, fault.New(fault.InvalidArgument, "a text of the kind %q cannot be stored", text.Kind)
		}
		t.stored = append(t.stored, path)
		t.put = append(t.put, kept{path, sha256.Sum256([]byte(text.Body)), text.Body})
		refs = append(refs, store.NewRef(path, text))
	}
	return refs, nil
}

// Read returns a text of the change, or a stored one, over the connection of the change.
func (t *tx) Read(ctx context.Context, ref workflow.ContentRef) (string, error) {
	for i := range t.put {
		if t.put[i].path == ref.FilePath {
			return t.put[i].body, ctx.Err()
		}
	}
	var body *string
	if err := ctx.Err(); err != nil || !isText(ref.FilePath) {
		return foundText(ref, nil, err)
	}
	var data []byte
	err := t.conn.QueryRow(ctx, readText, t.db.tenant, t.project, ref.FilePath).Scan(&data)
	if text := string(data); err == nil {
		body = &text
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = nil
	case err != nil && t.conn.IsClosed(): // the commit gets another connection, too
		ctx, cancel := context.WithTimeout(ctx, failover)
		defer cancel()
		return t.Store.Read(ctx, ref)
	}
	return foundText(ref, body, t.db.explainError(err))
}

// unknownOutcome is the error for a commit of which nobody knows whether it was stored.
func unknownOutcome(d *Database, cause error) error {
	return fault.New(fault.Storage, "the store %s has not said whether the change was stored: %w", d, cause).
		WithHint("call status to see where the run stands before anything is repeated")
}
