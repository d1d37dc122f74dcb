package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// newestSchema is the version of the last migration. A program uses this schema and the one before: the members of a
// team change to the next program one by one, and then it migrates.
const newestSchema = 2

// queueSchema is the first schema with the queue.
const queueSchema = 2

// checkSchema refuses a schema made for an incompatible program.
func checkSchema(have, newest int64) error {
	switch {
	case have < 1:
		return withMigrateHint(fault.New(fault.Storage, "the store has no tables of bmad-mcp"))
	case have < newest-1:
		return withMigrateHint(fault.New(fault.Storage, "the store has schema %d; this bmad-mcp uses %d and later", have, newest-1))
	case have > newest:
		return fault.New(fault.Storage, "the store has schema %d; this bmad-mcp uses up to %d", have, newest).WithHint("use a newer bmad-mcp; nothing was changed")
	}
	return nil
}

// withMigrateHint adds the remedy to the error for a schema in need of migration.
func withMigrateHint(e *fault.Error) error {
	return e.WithHint("its owner runs: bmad-mcp store migrate; nothing was changed")
}

const readSchema = `select coalesce(max(version_id), 0) from goose_db_version where is_applied`

// schemaOf returns the version of a database's schema; 0 if it has none.
func schemaOf(ctx context.Context, conn *pgx.Conn) (version int64, err error) {
	err = conn.QueryRow(ctx, readSchema).Scan(&version)
	if codeOf(err) == missingTable {
		return 0, nil
	}
	return version, err
}

// hasQueue reports whether the schema, as it was found last, has the queue.
func (d *Database) hasQueue() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.schema >= queueSchema
}

// queueSchemaCheck looks, in a batch, whether the owner has migrated the database meanwhile, and refuses a schema made for
// an incompatible program.
func (d *Database) queueSchemaCheck(b *pgx.Batch) {
	b.Queue(readSchema).QueryRow(func(row pgx.Row) error {
		var have int64
		err := row.Scan(&have)
		if err == nil {
			err = checkSchema(have, newestSchema)
		}
		if err == nil {
			d.mu.Lock()
			d.schema = have
			d.mu.Unlock()
		}
		return err
	})
}

// requireQueue refuses a database without a queue.
func (d *Database) requireQueue(ctx context.Context, conn *pgx.Conn) error {
	if d.hasQueue() {
		return nil
	}
	b := &pgx.Batch{}
	d.queueSchemaCheck(b)
	if err := conn.SendBatch(ctx, b).Close(); err != nil || d.hasQueue() {
		return err
	}
	return withMigrateHint(fault.New(fault.Storage, "the store has no queue of runs yet: that needs schema %d", queueSchema))
}
