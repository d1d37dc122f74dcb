package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Texts calls found with the session, the path and the size of each text.
func (s *Store) Texts(ctx context.Context, found func(id, path string, size int64)) error {
	project, err := s.id(ctx, false)
	if err != nil {
		return err
	}
	return s.db.ask(ctx, func(row pgx.Row) error {
		var id, path string
		var size int64
		if err := row.Scan(&id, &path, &size); err != nil {
			return err
		}
		found(id, path, size)
		return nil
	}, `select session_id::text, path, length(body) from content where tenant_id = $1 and project_id = $2 order by path`, s.db.tenant, project)
}

// Discard removes those texts of a session that unused names when its row is locked.
func (s *Store) Discard(ctx context.Context, id string, unused func(*workflow.Session) []string) error {
	project, err := s.id(ctx, false)
	if err != nil {
		return err
	}
	conn, err := s.db.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes it if a transaction is open
	t := &tx{Store: s, conn: conn.Conn(), project: project, id: id}
	data, err := t.lock(ctx)
	if err == nil && data == nil {
		err = store.NotFound(id)
	}
	var session *workflow.Session
	if err == nil {
		session, err = decode(id, data)
	}
	if err != nil {
		return s.db.trouble(err)
	}
	b := &pgx.Batch{}
	b.Queue(`delete from content where tenant_id = $1 and project_id = $2 and session_id = $3 and path = any($4)`, s.db.tenant, project, id, unused(session))
	b.Queue(`commit`)
	return s.db.trouble(t.conn.SendBatch(ctx, b).Close())
}
