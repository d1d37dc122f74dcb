package pgstore

import (
	"context"
	"embed"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date, and returns the version before and after. Of several programs at
// once one does the work, and the others wait.
func (d *Database) Migrate(ctx context.Context) (before, after int64, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, 0, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return 0, 0, err
	}
	db := stdlib.OpenDB(*d.config.ConnConfig)
	defer func() { _ = db.Close() }() // all is done, or failed
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, 0, err
	}
	if err := db.PingContext(ctx); err != nil {
		return 0, 0, d.explainError(err)
	}
	done, err := p.Up(ctx)
	if err != nil {
		return 0, 0, d.explainError(err)
	}
	after, err = p.GetDBVersion(ctx)
	return after - int64(len(done)), after, d.explainError(err)
}
