// Package pgstore keeps the sessions of a team's projects in PostgreSQL.
//
// A [Database] serves a process, and opens connections when they are needed. Each store is for one project,
// under the key shared by all clones of the project.
//
// # Invariants
//
//   - A change and its texts are one transaction, which holds the lock of the session's row from before
//     the change is computed. A writer killed or cut off at any byte leaves no part of a change, and
//     nothing acknowledged is lost (TestKilledServersLoseNothing, TestEveryCut).
//   - If the answer to a commit is lost, the row is read under the commit's lock, before anyone is
//     answered. A change found there is done (TestEveryCut).
//   - Each query names tenant and project. Row-level security is a second barrier (TestTenantsAreApart).
//   - Of the workers that a lease of the queue was given to, only the last can change the entry, and the session while
//     it holds it; a lost answer makes no exception (TestLateWorkersAreRefused, TestEveryCutOfTheQueue).
//   - An entry is given to one worker at a time, and none is lost (TestManyWorkers, TestKilledServersLoseNoEntry). A
//     change of a session by a person wakes the entry in the same transaction (TestDecisionsAreNotMissed). Locks are
//     taken in one order: those of claims, the session, the entry, the day.
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
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// tenantSetting is the parameter of an address, and of the server, with the tenant of all rows; without it
// the tenant is 0.
const tenantSetting = "bmad.tenant"

const (
	// connectTimeout bounds the wait for a connection, if the address does not.
	connectTimeout = 10 * time.Second
	// pingTimeout bounds the look at an idle connection: a machine that is lost sends no end of it.
	pingTimeout = 5 * time.Second
	// acquireTimeout is the least bound of the wait for a connection that is free and answers.
	acquireTimeout = 30 * time.Second
)

// Database is the connections of a process to a database. It is safe for concurrent use.
type Database struct {
	config *pgxpool.Config
	tenant int64
	// acquireTimeout bounds the wait for a connection, with time for two attempts at each address.
	acquireTimeout time.Duration

	mu   sync.Mutex
	pool *pgxpool.Pool // once it was needed
	// schema is the version of the schema, as it was found last; 0 before.
	schema int64
	// role is the role of the connections then, "" for that of the owner of the tables, which a team shares.
	role string
	// projects has the ids of the projects in use.
	projects map[string]int64
	// listed has the sessions of each listed project, by the versions of their rows.
	listed map[int64]map[string]workflow.Summary
	// untold are the changed projects without a notice yet.
	untold  map[int64]bool
	telling sync.WaitGroup
	// claims are the last leases that this process has claimed, by session; fences are leases that its changes of sessions
	// depend on.
	claims, fences map[string]lease
}

// lease is the number of a lease, and the text of the call that has claimed it, which no other call has.
type lease struct {
	no   int64
	call string
}

// Open returns the database at an address, which is not reached before something is asked of it.
func Open(address string) (*Database, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the address of the store cannot be used: %s", withoutAddress(err)).
			WithHint("correct store in your settings, or BMAD_STORE")
	}
	d := &Database{
		config: config, projects: map[string]int64{}, listed: map[int64]map[string]workflow.Summary{}, untold: map[int64]bool{},
		claims: map[string]lease{}, fences: map[string]lease{},
	}
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
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeout
	}
	d.acquireTimeout = max(acquireTimeout, 2*time.Duration(1+len(config.ConnConfig.Fallbacks))*config.ConnConfig.ConnectTimeout)
	return d, nil
}

// lockTimeout is the server's setting for the longest wait for a lock.
const lockTimeout = "lock_timeout"

// limitLocks bounds the wait for locks of a connection: a statement waits for the locks of its tables even
// before it is run, when it is prepared. Poolers would refuse the setting as a parameter of the connection.
func limitLocks(ctx context.Context, conn *pgconn.PgConn) error {
	return conn.Exec(ctx, `set lock_timeout = `+strconv.FormatInt(durable.LockTimeout.Milliseconds(), 10)).Close()
}

// maxMessage bounds a message of the server, in bytes: a row with the largest readable values.
const maxMessage = 3 * durable.MaxText

// Store keeps the sessions and texts of one project.
type Store struct {
	db  *Database
	key string
	dir *durable.Dir // for the lock timeout
	// order is how new sessions are queued; nil if they are not.
	order *queue.Order
}

// HasPassword reports whether an address holds a password itself.
func HasPassword(address string) bool {
	before, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "postgresql://"), "postgres://"), "@")
	return strings.Contains(address, "@") && strings.Contains(before, ":") ||
		strings.Contains(strings.Join(strings.Fields(address), ""), "password=")
}

// withoutAddress returns the problem of an address. Nobody can say for sure where an unreadable address has
// the password, so nothing of it is shown.
func withoutAddress(err error) string {
	text := err.Error()
	if cause := errors.Unwrap(err); cause != nil { // it quotes the address too
		text = strings.TrimSuffix(text, " ("+cause.Error()+")")
	}
	return strings.TrimPrefix(text[strings.LastIndex(text, "`")+1:], ": ")
}

// Store returns the store of a project.
func (d *Database) Store(at store.Place) *Store { return &Store{db: d, key: at.Key, dir: at.Dir} }

// Name returns the address of the database, without the password.
func (s *Store) Name() string { return s.db.String() }

// String returns the address without password and parameters.
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

// failover bounds the wait for another connection after one was lost.
const failover = 10 * time.Second

// onConn does something on a connection to a database with a usable schema. If the connection is lost, as in a fail-over,
// it does so again on another one, unless the error is final. A server that was away before is not waited for: no
// connection was lost then, and none of this process is open.
func (d *Database) onConn(ctx context.Context, isLost bool, do func(*pgx.Conn) error) error {
	isLost = isLost || d.isConnected()
	until := time.Now().Add(failover) //nolint:forbidigo // a deadline of the network, by the system's clock
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		conn, err := d.poolConn(ctx)
		answered := false
		if err == nil {
			if err = d.checkConn(ctx, conn.Conn()); err == nil {
				err = do(conn.Conn())
			}
			answered = !conn.Conn().IsClosed()
			isLost = isLost || !answered
			conn.Release()
		}
		var final *finalError
		switch {
		case errors.As(err, &final):
			return final.error
		case err == nil, answered, !isLost, ctx.Err() != nil, time.Until(until) <= 0:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// finalError is an error after which nothing is done again.
type finalError struct{ error }

// isConnected reports whether a connection is open, in use or idle.
func (d *Database) isConnected() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pool == nil {
		return false
	}
	stat := d.pool.Stat()
	return stat.AcquiredConns()+stat.IdleConns() > 0
}

// poolConn returns a connection.
func (d *Database) poolConn(ctx context.Context) (*pgxpool.Conn, error) {
	d.mu.Lock()
	if d.pool == nil {
		pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), d.config)
		if err != nil {
			d.mu.Unlock()
			return nil, d.explainError(err)
		}
		d.pool = pool
	}
	pool := d.pool
	d.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, d.acquireTimeout)
	defer cancel()
	conn, err := pool.Acquire(bounded)
	if isOverdue := bounded.Err() != nil && ctx.Err() == nil; err != nil && isOverdue {
		return nil, &finalError{d.refusalOf(err)}
	}
	return conn, d.explainError(err)
}

// checkConn checks, once, that the schema is usable, and learns the role.
func (d *Database) checkConn(ctx context.Context, conn *pgx.Conn) error {
	d.mu.Lock()
	fits := d.schema > 0
	d.mu.Unlock()
	if fits {
		return nil
	}
	have, err := schemaOf(ctx, conn)
	if err == nil {
		err = checkSchema(have, newestSchema)
	}
	role := ""
	if err == nil {
		role, err = roleOf(ctx, conn)
	}
	if err != nil {
		return d.explainError(err)
	}
	d.mu.Lock()
	d.schema, d.role = have, role
	d.mu.Unlock()
	return nil
}

// Role returns the role of the person in the database. The one that owns the tables, or a superuser, is shared.
func (s *Store) Role() string {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	_ = s.db.onConn(ctx, false, func(*pgx.Conn) error { return nil }) // if it fails, so does the step that needs it
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	return s.db.role
}

// roleOf returns the role that has logged in, "" if it may be that of a whole team.
func roleOf(ctx context.Context, conn *pgx.Conn) (role string, err error) {
	err = conn.QueryRow(ctx, `select case when r.rolsuper or r.oid = c.relowner then '' else session_user::text end
		from pg_class c, pg_roles r where c.oid = 'session'::regclass and r.rolname = session_user`).Scan(&role)
	return role, err
}

// readableColumn returns the expression for a column, with an empty value in place of one too large for this
// program to read. Anyone able to write to the table can store a value of a gigabyte, in a few megabytes.
func readableColumn(column string) string {
	return boundedColumn(column, durable.MaxText)
}

// boundedColumn is readableColumn with a limit in bytes.
func boundedColumn(column string, limit int) string {
	return "case when octet_length(" + column + ") <= " + strconv.Itoa(limit) + " then " + column + " else '' end"
}

// readBody is the column of a session or text.
var readBody = readableColumn("body")

// beginTransaction begins a transaction of the tenant for the rest of a batch. An acknowledged one is durable.
func (d *Database) beginTransaction(b *pgx.Batch) {
	b.Queue(`select set_config('bmad.tenant', $1, true),
		set_config('synchronous_commit', case when current_setting('synchronous_commit') = 'off' then 'on' else current_setting('synchronous_commit') end, true)`,
		strconv.FormatInt(d.tenant, 10))
}

// runStatement runs one statement as a separate transaction, and calls row with the row that it returns, if any; again, if the
// connection is lost.
func (d *Database) runStatement(ctx context.Context, row func(pgx.Row) error, sql string, args ...any) error {
	return d.readRows(ctx, func() {}, row, sql, args...)
}

// readRows is [Database.runStatement] for a statement that returns several rows. It calls reset before the first row, and
// again if the connection is lost, since all rows come anew then.
func (d *Database) readRows(ctx context.Context, reset func(), row func(pgx.Row) error, sql string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.explainError(d.onConn(ctx, false, func(conn *pgx.Conn) error {
		reset()
		return d.runStatementOn(ctx, conn, row, sql, args...)
	}))
}

func (d *Database) runStatementOn(ctx context.Context, conn *pgx.Conn, row func(pgx.Row) error, sql string, args ...any) error {
	b := &pgx.Batch{}
	d.beginTransaction(b)
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

// projectID returns the id of the project. For a project without rows it is 0, or a new one if isNeeded.
func (s *Store) projectID(ctx context.Context, isNeeded bool) (id int64, err error) {
	d := s.db
	d.mu.Lock()
	id = d.projects[s.key]
	d.mu.Unlock()
	if id != 0 {
		return id, ctx.Err()
	}
	read := func(row pgx.Row) error { return row.Scan(&id) }
	const find = `select project_id from project where tenant_id = $1 and key = $2`
	if err = d.runStatement(ctx, read, find, d.tenant, s.key); err == nil && id == 0 && isNeeded {
		err = d.runStatement(ctx, read, `insert into project (tenant_id, key) values ($1, $2) on conflict do nothing returning project_id`, d.tenant, s.key)
		if err == nil && id == 0 { // another was faster
			err = d.runStatement(ctx, read, find, d.tenant, s.key)
		}
	}
	if err == nil && id != 0 {
		d.mu.Lock()
		d.projects[s.key] = id
		d.mu.Unlock()
	}
	return id, err
}
