package pgstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// isText reports whether a column of text can hold a value.
func isText(v string) bool { return utf8.ValidString(v) && !strings.ContainsRune(v, 0) }

// Create stores a new session under the first free task name.
func (s *Store) Create(ctx context.Context, session *workflow.Session, names store.Names) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	id, ok := store.ParseID(session.SessionID)
	if !ok {
		return fault.New(fault.InvalidArgument, "%q is not a session id", session.SessionID)
	}
	if err := s.checkOrder(ctx); err != nil {
		return err
	}
	project, err := s.projectID(ctx, true)
	for err == nil {
		n := store.FirstFree(func(n int) bool {
			name := names.Candidate(n)
			isTaken := err == nil && names.Taken != nil && names.Taken(name)
			if err == nil && !isTaken {
				err = s.db.runStatement(ctx, func(row pgx.Row) error { return row.Scan(&isTaken) },
					`select exists (select from session where tenant_id = $1 and project_id = $2 and task_name = $3)`, s.db.tenant, project, name)
			}
			return isTaken
		})
		if err != nil {
			break
		}
		if err = names.Give(session, names.Candidate(n)); err != nil {
			break
		}
		var data []byte
		if data, err = store.Encode(session); err != nil {
			break
		}
		err = s.insertSession(ctx, project, id, session, data)
		switch constraintOf(err) {
		case "session_name": // another was faster
			err = nil
			continue
		case "session_pkey":
			return fault.New(fault.Conflict, "run %q exists already", id)
		case "queue_entry_pkey":
			return queuedElsewhere(id)
		}
		if err == nil {
			s.db.sendNoticeSoon(project)
			return nil
		}
	}
	return s.db.explainError(err)
}

// insertSession stores a new session, with its entry in the queue if there is an order. If the connection is lost, it is inserted again, unless it is there.
func (s *Store) insertSession(ctx context.Context, project int64, id string, session *workflow.Session, data []byte) error {
	sent, call := false, rand.Text()
	err := s.db.onConn(ctx, false, func(conn *pgx.Conn) error {
		again := sent
		sent = true
		b := &pgx.Batch{}
		s.db.beginTransaction(b)
		b.Queue(insertSession, s.columnValues(project, id, session, data)...)
		if s.order != nil {
			b.Queue(insertEntry, s.db.orderValues(project, id, call, *s.order)...)
		}
		err := conn.SendBatch(ctx, b).Close()
		if again && constraintOf(err) != "" {
			var have []byte
			if found := s.db.runStatementOn(ctx, conn, func(row pgx.Row) error { return row.Scan(&have) },
				`select body from session where tenant_id = $1 and project_id = $2 and session_id = $3`, s.db.tenant, project, id); found == nil && bytes.Equal(have, data) {
				return nil
			}
		}
		return err
	})
	if sent && err != nil && !isDefinite(err) {
		return unknownOutcome(s.db, err)
	}
	return err
}

// The statements to store a session take the columns of row.
const (
	insertSession = `insert into session
		(tenant_id, project_id, session_id, task_name, objective, stage, state, active, created_at, updated_at, version, revision, body)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
	updateSession = `update session set task_name = $4, objective = $5, stage = $6, state = $7, active = $8, created_at = $9, updated_at = $10,
		version = $11, revision = $12, body = $13 where tenant_id = $1 and project_id = $2 and session_id = $3`
)

// columnValues returns the columns of a session.
func (s *Store) columnValues(project int64, id string, session *workflow.Session, data []byte) []any {
	sum := session.Summary()
	c := columnsOf(&sum)
	return []any{s.db.tenant, project, id, c.name, c.objective, c.stage, c.state, c.active, c.created, c.updated, session.Version, c.revision, data}
}

// Get returns a session by id.
func (s *Store) Get(ctx context.Context, id string) (*workflow.Session, error) {
	data, err := s.Stored(ctx, id)
	if err != nil {
		return nil, err
	}
	return decodeSession(id, data)
}

func decodeSession(id string, data []byte) (*workflow.Session, error) {
	id = strings.ToLower(id)
	if len(data) == 0 {
		return nil, fault.New(fault.Storage, "the row of run %s is empty, or too large to be read", id).
			WithHint("somebody has changed the row: restore it from a backup of the database; other runs are not affected")
	}
	session, err := store.Decode(data, store.SessionPath(id))
	if err == nil {
		err = checkSessionID(session.SessionID, id)
	}
	if err != nil {
		return nil, err
	}
	return session, nil
}

// readRow reads one row of a session; a missing row is an error.
func (s *Store) readRow(ctx context.Context, id, columns string, into ...any) error {
	canonical, ok := store.ParseID(id)
	if !ok {
		return store.NotFound(id)
	}
	project, err := s.projectID(ctx, false)
	if err != nil {
		return err
	}
	found := false
	err = s.db.runStatement(ctx, func(row pgx.Row) error { found = true; return row.Scan(into...) },
		`select `+columns+` from session where tenant_id = $1 and project_id = $2 and session_id = $3`, s.db.tenant, project, canonical)
	if err == nil && !found {
		return store.NotFound(id)
	}
	return err
}

// Stored returns the stored form of a session.
func (s *Store) Stored(ctx context.Context, id string) (data []byte, err error) {
	err = s.readRow(ctx, id, readBody, &data)
	return data, err
}

// StoredHash returns the hash of the stored form.
func (s *Store) StoredHash(ctx context.Context, id string) (string, error) {
	var sum []byte
	err := s.readRow(ctx, id, `sha256(body)`, &sum)
	return hex.EncodeToString(sum), err
}

// Confirm has nothing to do: a change is durable before anyone sees it.
func (s *Store) Confirm(ctx context.Context, _ string) error { return ctx.Err() }

// Find returns the id for an id or a task name.
func (s *Store) Find(ctx context.Context, ref string) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if ref == "" || !isText(ref) {
		return "", store.NotFound(ref)
	}
	project, err := s.projectID(ctx, false)
	if err != nil {
		return "", err
	}
	canonical, _ := store.ParseID(ref)
	var body []byte
	err = s.db.runStatement(ctx, func(row pgx.Row) error { return row.Scan(&id, &body) }, `select session_id::text,
		case when session_id = nullif($3, '')::uuid then null else `+readBody+` end
		from session where tenant_id = $1 and project_id = $2 and (session_id = nullif($3, '')::uuid or task_name = $4)
		order by session_id = nullif($3, '')::uuid nulls last limit 1`, s.db.tenant, project, canonical, ref)
	if body != nil && err == nil { // found by name, by the column, which nobody signs
		err = checkTaskName(body, id, ref)
	}
	if err != nil || id != "" {
		return id, err
	}
	names, err := s.TaskNames(ctx)
	if err != nil {
		return "", err
	}
	return "", store.NotFound(ref, names...)
}

// checkTaskName refuses a session found by a name if it has another name itself. An unreadable session has
// none: the caller learns why.
func checkTaskName(body []byte, id, name string) error {
	sum, err := store.DecodeSummary(body, store.SessionPath(id))
	if err != nil || sum.TaskName == name {
		return nil
	}
	return fault.New(fault.Conflict, "the store lists run %s under the task name %q, and its own is %q", id, name, sum.TaskName).
		WithHint("somebody has changed its row: name the run that is meant by its id; bmad-mcp store --check finds all such rows")
}

// Read returns the text behind a reference.
func (s *Store) Read(ctx context.Context, ref workflow.ContentRef) (string, error) {
	project, err := s.projectID(ctx, false)
	if err != nil {
		return "", err
	}
	var body *string
	if isText(ref.FilePath) {
		err = s.db.runStatement(ctx, scanText(&body), readText, s.db.tenant, project, ref.FilePath)
	}
	return foundText(ref, body, err)
}

var readText = `select ` + readBody + ` from content where tenant_id = $1 and project_id = $2 and path = $3`

func scanText(into **string) func(pgx.Row) error {
	return func(row pgx.Row) error {
		var data []byte
		err := row.Scan(&data)
		text := string(data)
		*into = &text
		return err
	}
}

// foundText returns the text found, or the error of the search.
func foundText(ref workflow.ContentRef, body *string, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case body == nil:
		return "", store.MissingContent(ref, fs.ErrNotExist)
	}
	return *body, nil
}
