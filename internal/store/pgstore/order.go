package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// Run returns the flags of a session's order, as [queue.Order] had them.
func (q *Queue) Run(ctx context.Context, sessionID string) (run []byte, err error) {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return nil, notQueued(sessionID)
	}
	if err := q.checkSchema(ctx); err != nil {
		return nil, err
	}
	found := false
	err = q.db.runStatement(ctx, func(row pgx.Row) error { found = true; return row.Scan(&run) },
		`select run from queue_entry where tenant_id = $1 and session_id = $2 and octet_length(run) <= $3`, q.db.tenant, id, queue.MaxRun)
	if err == nil && !found {
		return nil, notQueued(sessionID)
	}
	return run, err
}
