package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// GetWhole returns the entry of a session with everything that a worker gets with it, and gives it to nobody. An entry whose
// row is too large for workers counts as none.
func (q *Queue) GetWhole(ctx context.Context, sessionID string) (c queue.Claim, err error) {
	id, ok := store.ParseID(sessionID)
	if !ok {
		return c, notQueued(sessionID)
	}
	if err := q.checkSchema(ctx); err != nil {
		return c, err
	}
	found := false
	err = q.db.runStatement(ctx, func(row pgx.Row) (err error) {
		found = true
		c.Entry, err = scanEntry(row, &c.Head, &c.Run, &c.Kept, &c.Work)
		c.Head = visible.Line(c.Head)
		return err
	}, `select `+entryColumns+`, `+boundedColumn("e.head", queue.MaxName)+`, e.run, e.kept, e.work`+fromEntries+`and e.session_id = $2 and `+readable, q.db.tenant, id)
	if err == nil && !found {
		return c, notQueued(sessionID)
	}
	return c, err
}
