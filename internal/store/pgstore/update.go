package pgstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
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
	var refused error
	session, hash, err := s.updateRow(ctx, project, canonical, func(t store.Tx, session *workflow.Session) error {
		refused = change(t, session)
		return refused
	})
	if refused != nil {
		return nil, refused
	}
	if hash != "" && err != nil && !isDefinite(err) {
		err = s.findOutcome(ctx, project, canonical, session.Revision, hash, err)
	}
	if constraintOf(err) == "session_name" { // the row was changed by hand, and so was the other one
		return nil, nameTaken(session.TaskName)
	}
	if err != nil {
		return nil, s.db.explainError(err)
	}
	s.db.sendNoticeSoon(project)
	return session, nil
}

// updateRow changes a session in one transaction. The hash of the new state is "" if no commit was sent.
func (s *Store) updateRow(ctx context.Context, project int64, id string, change store.Change) (session *workflow.Session, hash string, err error) {
	conn, err := s.db.acquireConn(ctx)
	if err != nil {
		return nil, "", err
	}
	defer conn.Release() // which closes it if a transaction is open
	t := &tx{Store: s, conn: conn.Conn(), project: project, id: id}
	data, err := t.lockSession(ctx)
	if err == nil && data == nil {
		err = store.NotFound(id)
	}
	if err == nil {
		session, err = decodeSession(id, data)
	}
	if err == nil {
		err = change(t, session)
	}
	if err == nil {
		session.Revision++
		data, err = store.Encode(session)
	}
	if err == nil {
		err = ctx.Err()
	}
	// From here on it is done or not done, even if the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err != nil {
		if !conn.Conn().IsClosed() {
			_, _ = conn.Exec(ctx, `rollback`) // otherwise the connection ends, which does the same
		}
		return nil, "", err
	}
	return session, workflow.Hash(data), t.commitChange(ctx, session, data)
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
	b.Queue(`select path from content where tenant_id = $1 and project_id = $2 and session_id = $3`, t.db.tenant, t.project, t.id).
		Query(func(rows pgx.Rows) (err error) {
			t.stored, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	return data, t.conn.SendBatch(ctx, b).Close()
}

// commitChange stores the texts and the session.
func (t *tx) commitChange(ctx context.Context, session *workflow.Session, data []byte) error {
	b := &pgx.Batch{}
	for _, text := range t.put {
		t.db.queueText(b, t.project, t.id, text)
	}
	b.Queue(updateSession, t.columnValues(t.project, t.id, session, data)...)
	b.Queue(`commit`)
	err := t.conn.SendBatch(ctx, b).Close()
	if err != nil && isDefinite(err) {
		if !t.conn.IsClosed() {
			_, _ = t.conn.Exec(ctx, `rollback`)
		}
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
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return foundText(ref, body, t.db.explainError(err))
}

// findOutcome finds out the result of a commit whose answer was lost. The server may still be working on it with
// the row locked, so the query takes the same lock.
func (s *Store) findOutcome(ctx context.Context, project int64, id string, revision int, hash string, lost error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		have, sum := 0, []byte(nil)
		err := s.db.runStatement(ctx, func(row pgx.Row) error { return row.Scan(&have, &sum) },
			`select revision, sha256(body) from session where tenant_id = $1 and project_id = $2 and session_id = $3 for update`, s.db.tenant, project, id)
		switch {
		case err == nil && have == revision && hex.EncodeToString(sum) == hash:
			return nil
		case err == nil && have > 0 && have <= revision:
			return s.db.refusalOf(lost) // nothing was stored: at most another was faster
		case err == nil:
			// A missing new session may come yet; a newer state may have come from this one.
			return unknownOutcome(s.db, lost)
		}
		select {
		case <-ctx.Done():
			return unknownOutcome(s.db, lost)
		case <-time.After(wait):
		}
	}
}

// unknownOutcome is the error for a commit of which nobody knows whether it was stored.
func unknownOutcome(d *Database, cause error) error {
	return fault.New(fault.Storage, "the store %s has not said whether the change was stored: %w", d, cause).
		WithHint("call status to see where the run stands before anything is repeated")
}
