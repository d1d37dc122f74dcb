package pgstore

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// Judge judges a schema.
var Judge = checkSchema

// NewestSchema is the version of the last migration.
const NewestSchema = newestSchema

// Setting returns a setting of the server, as it is for a change.
func Setting(t store.Tx, name string) (value string, err error) {
	err = t.(*tx).conn.QueryRow(context.Background(), `select current_setting($1)`, name).Scan(&value)
	return value, err
}

// LockTimeout returns the time for which a connection to a database waits for a lock.
func LockTimeout(t testing.TB, d *Database) (wait string) {
	t.Helper()
	if err := d.runStatement(context.Background(), func(row pgx.Row) error { return row.Scan(&wait) }, `select current_setting('lock_timeout')`); err != nil {
		t.Fatal(err)
	}
	return wait
}

// Hasten has a database without connections look at each idle one before its use, and wait for it and for a free one for
// a part of the time.
func Hasten(d *Database, part time.Duration) {
	d.config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	d.config.PingTimeout /= part
	d.acquireTimeout /= part
}

// EndIdle has the server end a change, as it ends one that hangs for a minute.
func EndIdle(t store.Tx) {
	conn := t.(*tx).conn
	_, _ = conn.Exec(context.Background(), `select set_config('idle_in_transaction_session_timeout', '1ms', true)`)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = conn.WaitForNotification(ctx) // returns when the server has ended it
}

// Drop ends Hold, so that a test can change the session as anybody.
func (d *Database) Drop(sessionID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.fences, keyOf(sessionID))
}
