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
	p, room := store.Parcel{ID: id, Session: data, Texts: map[string][]byte{}}, maxParcel
	return p, s.db.runStatement(ctx, func(row pgx.Row) error {
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
	conn, err := s.db.acquireConn(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	t := &tx{Store: s, conn: conn.Conn(), project: project, id: p.ID}
	have, err := t.lockSession(ctx)
	if now := hashOf(have); err == nil && now != over {
		err = fault.New(fault.Conflict, "run %q exists already", p.ID)
	}
	if err != nil {
		_, _ = conn.Exec(context.WithoutCancel(ctx), `rollback`)
		return s.db.explainError(err)
	}
	b := &pgx.Batch{}
	if have == nil {
		b.Queue(insertSession, s.columnValues(project, p.ID, session, p.Session)...)
	} else {
		b.Queue(updateSession, s.columnValues(project, p.ID, session, p.Session)...)
	}
	for _, path := range slices.Sorted(maps.Keys(p.Texts)) {
		if !slices.Contains(t.stored, path) {
			s.db.queueText(b, project, p.ID, kept{path, sha256.Sum256(p.Texts[path]), string(p.Texts[path])})
		}
	}
	b.Queue(`commit`)
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		if !conn.Conn().IsClosed() {
			_, _ = conn.Exec(context.WithoutCancel(ctx), `rollback`)
		}
		if constraintOf(err) == "session_name" {
			err = nameTaken(session.TaskName)
		}
		return s.db.explainError(err)
	}
	s.db.sendNoticeSoon(project)
	return nil
}

func hashOf(data []byte) string {
	if data == nil {
		return ""
	}
	return workflow.Hash(data)
}
