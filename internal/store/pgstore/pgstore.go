// Package pgstore keeps the sessions of a team's projects in PostgreSQL.
//
// A [Database] serves a process, and opens its connections when they are needed. Its stores are those of
// projects, each under the key that all clones of the project have.
//
// # Invariants
//
//   - A change and its texts are one transaction, which holds the lock of the session's row from before the
//     change is computed. A writer that is killed or cut off at any byte leaves no part of a change, and
//     nothing that was acknowledged is lost (TestKilledServersLoseNothing, TestEveryCut).
//   - If the answer to a commit is lost, the row is read under the lock that the commit held, before anyone
//     is answered. A change that is found there is done (TestEveryCut).
//   - Each query names tenant and project. Row-level security stands behind that (TestTenantsAreApart).
//   - Nothing falls back to files, and only [Migrate] changes the schema (TestSchemas).
package pgstore

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// tenantSetting is the parameter of an address, and of the server, that says whose rows there are; without it the
// tenant is 0.
const tenantSetting = "bmad.tenant"

// connectTimeout bounds the wait for a connection, if the address does not.
const connectTimeout = 10 * time.Second

// Database is the connections of a process to a database. It is safe for concurrent use.
type Database struct {
	config *pgxpool.Config
	tenant int64

	mu   sync.Mutex
	pool *pgxpool.Pool // once it was needed
	// fits is true once the schema was found to be one that can be used.
	fits bool
	// projects has the ids of those whose rows were used.
	projects map[string]int64
	// listed has the sessions of those that were listed, by the versions of their rows.
	listed map[int64]map[string]workflow.Summary
	// untold are the projects with changes that no notice was sent about.
	untold  map[int64]bool
	telling sync.WaitGroup
}

// Open returns the database at an address, which is not reached before something is asked of it.
func Open(address string) (*Database, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the address of the store cannot be used: %s", withoutAddress(err)).
			WithHint("correct store in your settings, or BMAD_STORE")
	}
	d := &Database{config: config, projects: map[string]int64{}, listed: map[int64]map[string]workflow.Summary{}, untold: map[int64]bool{}}
	params := config.ConnConfig.RuntimeParams
	if text, ok := params[tenantSetting]; ok {
		if d.tenant, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, fault.New(fault.InvalidArgument, "the address of the store cannot be used: %s is not a number", tenantSetting).
				WithHint("correct store in your settings, or BMAD_STORE")
		}
		delete(params, tenantSetting) // each transaction sets it, because connections may be shared
	}
	if params["application_name"] == "" {
		params["application_name"] = "bmad-mcp"
	}
	config.ConnConfig.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxMessage)
		return f
	}
	if params[lockTimeout] == "" {
		config.ConnConfig.AfterConnect = limitLocks
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	return d, nil
}

// lockTimeout is the setting of the server that bounds the wait for a lock.
const lockTimeout = "lock_timeout"

// limitLocks bounds the wait for locks of a connection: a statement waits for that of its tables even before it is
// run, when it is prepared. As a parameter of the connection it would be refused by poolers.
func limitLocks(ctx context.Context, conn *pgconn.PgConn) error {
	return conn.Exec(ctx, `set lock_timeout = `+strconv.FormatInt(durable.LockTimeout.Milliseconds(), 10)).Close()
}

// maxMessage bounds a message of the server, in bytes: a row with the largest values that are read.
const maxMessage = 3 * durable.MaxText

// Store keeps the sessions and texts of one project.
type Store struct {
	db  *Database
	key string
	dir *durable.Dir // for its lock timeout
}

// HasPassword reports whether an address holds a password itself.
func HasPassword(address string) bool {
	before, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "postgresql://"), "postgres://"), "@")
	return strings.Contains(address, "@") && strings.Contains(before, ":") ||
		strings.Contains(strings.Join(strings.Fields(address), ""), "password=")
}

// withoutAddress returns the problem of an address. Nobody can tell for sure where the password is in one that
// cannot be read, so nothing of it is shown.
func withoutAddress(err error) string {
	text := err.Error()
	if cause := errors.Unwrap(err); cause != nil { // it quotes the address too
		text = strings.TrimSuffix(text, " ("+cause.Error()+")")
	}
	return strings.TrimPrefix(text[strings.LastIndex(text, "`")+1:], ": ")
}

// Store returns the store of a project.
func (d *Database) Store(at store.Place) *Store { return &Store{db: d, key: at.Key, dir: at.Dir} }

// Name returns the address of the database, without its password.
func (s *Store) Name() string { return s.db.String() }

// String returns the address without its password and parameters.
func (d *Database) String() string {
	c := d.config.ConnConfig
	hosts := c.Host + ":" + strconv.Itoa(int(c.Port))
	last := hosts
	for _, f := range c.Fallbacks { // a host comes twice if it may be used without TLS
		if next := f.Host + ":" + strconv.Itoa(int(f.Port)); next != last {
			hosts, last = hosts+","+next, next
		}
	}
	return "postgres://" + c.User + "@" + hosts + "/" + c.Database
}

// Close sends the last notices, and closes the connections.
func (d *Database) Close() {
	d.telling.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pool != nil {
		d.pool.Close()
	}
}

// acquire returns a connection to a database with a schema that can be used.
func (d *Database) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	d.mu.Lock()
	if d.pool == nil {
		pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), d.config)
		if err != nil {
			d.mu.Unlock()
			return nil, d.trouble(err)
		}
		d.pool = pool
	}
	pool, fits := d.pool, d.fits
	d.mu.Unlock()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, d.trouble(err)
	}
	if fits {
		return conn, nil
	}
	have, err := schemaOf(ctx, conn.Conn())
	if err == nil {
		err = judge(have, newestSchema)
	}
	if err != nil {
		conn.Release()
		return nil, d.trouble(err)
	}
	d.mu.Lock()
	d.fits = true
	d.mu.Unlock()
	return conn, nil
}

// readable returns the expression for a column whose value is empty if it is too large for this program to read. Who can
// write to the table can store a value of a gigabyte, in a few megabytes.
func readable(column string) string {
	return "case when octet_length(" + column + ") <= " + strconv.Itoa(durable.MaxText) + " then " + column + " else '' end"
}

// readBody is the column of a session or text.
var readBody = readable("body")

// begin begins what follows in a batch: a transaction of the tenant, which is durable when it is acknowledged.
func (d *Database) begin(b *pgx.Batch) {
	b.Queue(`select set_config('bmad.tenant', $1, true),
		set_config('synchronous_commit', case when current_setting('synchronous_commit') = 'off' then 'on' else current_setting('synchronous_commit') end, true)`,
		strconv.FormatInt(d.tenant, 10))
}

// ask runs one statement as a transaction of its own, and calls row with each row.
func (d *Database) ask(ctx context.Context, row func(pgx.Row) error, sql string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return d.trouble(d.askOn(ctx, conn.Conn(), row, sql, args...))
}

func (d *Database) askOn(ctx context.Context, conn *pgx.Conn, row func(pgx.Row) error, sql string, args ...any) error {
	b := &pgx.Batch{}
	d.begin(b)
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := row(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return conn.SendBatch(ctx, b).Close()
}

// id returns the id of a project; 0 if it has no rows yet, unless it is to be made.
func (s *Store) id(ctx context.Context, make bool) (id int64, err error) {
	d := s.db
	d.mu.Lock()
	id = d.projects[s.key]
	d.mu.Unlock()
	if id != 0 {
		return id, ctx.Err()
	}
	read := func(row pgx.Row) error { return row.Scan(&id) }
	const find = `select project_id from project where tenant_id = $1 and key = $2`
	if err = d.ask(ctx, read, find, d.tenant, s.key); err == nil && id == 0 && make {
		err = d.ask(ctx, read, `insert into project (tenant_id, key) values ($1, $2) on conflict do nothing returning project_id`, d.tenant, s.key)
		if err == nil && id == 0 { // another was faster
			err = d.ask(ctx, read, find, d.tenant, s.key)
		}
	}
	if err == nil && id != 0 {
		d.mu.Lock()
		d.projects[s.key] = id
		d.mu.Unlock()
	}
	return id, err
}
