package pgstore

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxParcel bounds the texts of a session taken at a time, in bytes.
const maxParcel = 128 << 20

// Take returns a session with its texts.
func (s *Store) Take(ctx context.Context, id string) (store.Parcel, error) {
	data, err := s.Stored(ctx, id)
	if err != nil {
		return store.Parcel{}, err
	}
	project, err := s.projectID(ctx, false)
	if err != nil {
		return store.Parcel{}, err
	}
	p, room := store.Parcel{ID: id, Session: data}, 0
	err = s.db.readRows(ctx, func() { p.Texts, room = map[string][]byte{}, maxParcel }, func(row pgx.Row) error {
		var path string
		var body []byte
		err := row.Scan(&path, &body)
		if room -= len(body); err == nil && room < 0 {
			return fault.New(fault.Storage, "the texts of run %s have more than %d bytes together", id, maxParcel).
				WithHint("somebody has changed the rows: restore them from a backup of the database")
		}
		p.Texts[path] = body
		return err
	}, `select path, `+readBody+` from content where tenant_id = $1 and project_id = $2 and session_id = $3`, s.db.tenant, project, id)
	return p, err
}

// Bring stores a session unchanged, with all texts in one transaction.
func (s *Store) Bring(ctx context.Context, p store.Parcel, over string) error {
	session, err := decodeSession(p.ID, p.Session)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return err
	}
	project, err := s.projectID(ctx, true)
	if err != nil {
		return err
	}
	attempts := 0
	err = s.db.onConn(ctx, false, func(conn *pgx.Conn) error {
		attempts++
		t := &tx{Store: s, conn: conn, project: project, id: p.ID, fence: s.db.heldLease(p.ID)}
		have, err := t.lockSession(ctx)
		now := hashOf(have)
		if err == nil && now == over {
			return t.bring(ctx, session, p, have == nil)
		}
		rollBack(ctx, conn)
		if err == nil && (attempts == 1 || now != workflow.Hash(p.Session)) { // else the answer to the commit was lost
			err = fault.New(fault.Conflict, "run %q exists already", p.ID)
		}
		return err
	})
	if constraintOf(err) == "session_name" {
		err = nameTaken(session.TaskName)
	}
	if err != nil {
		return s.db.explainError(err)
	}
	s.db.sendNoticeSoon(project)
	return nil
}

// bring stores a session that is locked, or new, with its texts.
func (t *tx) bring(ctx context.Context, session *workflow.Session, p store.Parcel, isNew bool) error {
	if err := t.checkLease(ctx, ` for share`); err != nil {
		rollBack(ctx, t.conn)
		return err
	}
	b, statement := &pgx.Batch{}, updateSession
	if isNew {
		statement = insertSession
	}
	b.Queue(statement, t.columnValues(t.project, p.ID, session, p.Session)...)
	for _, path := range slices.Sorted(maps.Keys(p.Texts)) {
		if !slices.Contains(t.stored, path) {
			t.db.queueText(b, t.project, p.ID, kept{path, sha256.Sum256(p.Texts[path]), string(p.Texts[path])})
		}
	}
	t.wakeEntry(b, session)
	b.Queue(`commit`)
	err := t.conn.SendBatch(ctx, b).Close()
	if err != nil {
		rollBack(ctx, t.conn)
	}
	return err
}

func hashOf(data []byte) string {
	if data == nil {
		return ""
	}
	return workflow.Hash(data)
}
