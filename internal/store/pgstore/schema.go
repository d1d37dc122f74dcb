package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// newestSchema is the version of the last migration. A program uses this schema and the one before: the members of a
// team change to the next program one by one, and then it migrates.
const newestSchema = 1

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

// schemaOf returns the version of a database's schema; 0 if it has none.
func schemaOf(ctx context.Context, conn *pgx.Conn) (version int64, err error) {
	err = conn.QueryRow(ctx, `select coalesce(max(version_id), 0) from goose_db_version where is_applied`).Scan(&version)
	if codeOf(err) == missingTable {
		return 0, nil
	}
	return version, err
}
