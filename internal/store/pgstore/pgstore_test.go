package pgstore_test

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// open opens a database.
func open(t testing.TB, address string) *pgstore.Database {
	t.Helper()
	d, err := pgstore.Open(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// migrated returns the address of a database of its own with the newest schema.
func migrated(t testing.TB) string {
	t.Helper()
	address := pgtest.New(t)
	migrate(t, address)
	return address
}

func migrate(t testing.TB, address string) {
	t.Helper()
	if _, _, err := open(t, address).Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// at is the place of a project in the databases of these tests.
var at = store.Place{Key: "host/owner/name"}

func TestSuite(t *testing.T) {
	address := migrated(t)
	storetest.Run(t, func(t *testing.T) (store.Backend, func() store.Backend) {
		at := store.Place{Key: t.Name()}
		return open(t, address).Store(at), func() store.Backend { return open(t, address).Store(at) }
	})
}

// parse returns the form of an address without its port, and the port.
func parse(t testing.TB, address string) (form string, port int) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if port, err = strconv.Atoi(u.Port()); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(address, ":"+u.Port()+"/", ":%d/", 1), port
}

// TestRole: who has a role of their own is known by it. The owner of the tables, and a superuser, can be anybody.
func TestRole(t *testing.T) {
	address := migrated(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	owner := u.User.Username()
	as := func(role string) string {
		u.User = url.UserPassword(role, pgtest.Password)
		return u.String()
	}
	member := owner + "_anna"
	pgtest.Do(t, as("postgres"), `create role `+member+` login password '`+pgtest.Password+`'`, `grant `+owner+` to `+member)
	for role, want := range map[string]string{owner: "", "postgres": "", member: member} {
		if got := open(t, as(role)).Store(at).Role(); got != want {
			t.Errorf("%s: got %q, want %q", role, got, want)
		}
	}
	s := create(t, open(t, as(member)).Store(at)) // a member writes
	if _, err := open(t, address).Store(at).Get(context.Background(), s.SessionID); err != nil {
		t.Error(err)
	}
	u.Host = "127.0.0.1:1"
	if got := open(t, as(member)).Store(at).Role(); got != "" {
		t.Errorf("of a server that is away: %q", got)
	}
}

// TestPoolOfOne: texts are put and read over the connection of the change.
func TestPoolOfOne(t *testing.T) {
	b := open(t, migrated(t)+"&pool_max_conns=1").Store(at)
	ctx := context.Background()
	s := create(t, b)
	if _, err := b.Update(ctx, s.SessionID, step("first")); err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	for n := range 8 {
		work.Go(func() {
			if _, err := b.Update(ctx, s.SessionID, func(tx store.Tx, s *workflow.Session) error {
				if _, err := tx.Read(ctx, *s.Record(workflow.PO).FinalResultRef); err != nil {
					return err
				}
				return step(fmt.Sprint(n))(tx, s)
			}); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
}

// TestBytes: a store keeps what a file keeps.
func TestBytes(t *testing.T) {
	b := open(t, migrated(t)).Store(at)
	ctx := context.Background()
	s := newSession()
	s.Objective = "NUL \x00, and 界"
	s.UpdatedAt = s.UpdatedAt.Add(123456789)
	if err := b.Create(ctx, s, storetest.Numbered("task")); err != nil {
		t.Fatal(err)
	}
	const text = "NUL \x00, half of 界: \xe7\x95, \xff\n"
	got, err := b.Update(ctx, s.SessionID, step(text))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := b.Read(ctx, *got.Record(workflow.PO).FinalResultRef); err != nil || body != text {
		t.Errorf("got %q, %v", body, err)
	}
	want, _ := store.Encode(got)
	if data, err := b.Stored(ctx, s.SessionID); err != nil || string(data) != string(want) {
		t.Errorf("stored\n%s\n%v, want\n%s", data, err, want)
	}
	all, err := b.All(ctx)
	if err != nil || len(all.Sessions) != 1 || all.Sessions[0].Objective != s.Objective || !all.Sessions[0].UpdatedAt.Equal(s.UpdatedAt) {
		t.Errorf("the list has %+v, %v", all.Sessions, err)
	}
	for _, name := range []string{"a\x00b", "\xff"} {
		if _, err := b.List(ctx, store.Query{Limit: 1, Stage: workflow.StageID(name)}); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("a list of the stage %q: %v", name, err)
		}
		if _, err := b.List(ctx, store.Query{Limit: 1, States: []workflow.State{workflow.State(name)}}); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("a list of the state %q: %v", name, err)
		}
		if err := b.Create(ctx, newSession(), store.Names{Candidate: func(int) string { return name }}); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
}

// TestTenantsAreApart: neither another tenant nor another project sees a session, even by its id; nor does a query
// that names no tenant, or a wrong one.
func TestTenantsAreApart(t *testing.T) {
	address := migrated(t)
	ctx := context.Background()
	b := open(t, address).Store(at)
	s := create(t, b)
	got, err := b.Update(ctx, s.SessionID, step("text"))
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]store.Backend{
		"another tenant":  open(t, address+"&bmad.tenant=7").Store(at),
		"another project": open(t, address).Store(store.Place{Key: "host/owner/other"}),
	} {
		own := newSession()
		if err := other.Create(ctx, own, storetest.Numbered("task")); err != nil || own.TaskName != "task" {
			t.Errorf("%s: got the name %q, %v", name, own.TaskName, err)
		}
		if all, err := other.All(ctx); err != nil || len(all.Sessions) != 1 || all.Sessions[0].SessionID != own.SessionID {
			t.Errorf("%s lists %v, %v", name, all.Sessions, err)
		}
		_, getErr := other.Get(ctx, s.SessionID)
		_, updateErr := other.Update(ctx, s.SessionID, step("theirs"))
		_, hashErr := other.StoredHash(ctx, s.SessionID)
		_, readErr := other.Read(ctx, *got.Record(workflow.PO).FinalResultRef)
		for _, err := range []error{getErr, updateErr, hashErr, readErr} {
			if err == nil {
				t.Errorf("%s has reached the run", name)
			}
		}
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	tables := []string{"session", "content", "project", "queue_entry", "queue_worker", "queue_limit", "queue_day"}
	for _, table := range tables {
		n := -1
		if err := conn.QueryRow(ctx, `select count(*) from `+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("without a tenant one sees %d rows of %s, %v", n, table, err)
		}
	}
	for _, table := range tables {
		n := -1
		if _, err := conn.Exec(ctx, `select set_config('bmad.tenant', '7', false)`); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(ctx, `select count(*) from `+table+` where tenant_id = 0`).Scan(&n); err != nil || n != 0 {
			t.Errorf("tenant 7 sees %d rows of tenant 0 in %s, %v", n, table, err)
		}
	}
	if _, err := conn.Exec(ctx, `insert into project (tenant_id, key) values (0, 'forged')`); err == nil {
		t.Error("tenant 7 has written a row of tenant 0")
	}
	if _, err := pgstore.Open(address + "&bmad.tenant=x"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a tenant that is not a number: %v", err)
	}
}

// TestSchemas: nothing but Migrate changes the schema, and one that does not fit is refused with what to do.
func TestSchemas(t *testing.T) {
	ctx := context.Background()
	address := pgtest.New(t)
	if _, err := open(t, address).Store(at).Find(ctx, "task"); !fault.Is(err, fault.Storage) || !strings.Contains(fault.From(err).Hint, "bmad-mcp store migrate") {
		t.Errorf("without a schema: %v", err)
	}
	var work sync.WaitGroup
	for range 2 { // at once
		work.Go(func() { migrate(t, address) })
	}
	work.Wait()
	if before, after, err := open(t, address).Migrate(ctx); err != nil || before != pgstore.NewestSchema || after != pgstore.NewestSchema {
		t.Errorf("migrated from %d to %d, %v", before, after, err)
	}
	running := open(t, address).Store(at) // since before the schema is another one
	s := create(t, running)
	for version, hint := range map[int64]string{
		pgstore.NewestSchema - 2: "bmad-mcp store migrate",
		pgstore.NewestSchema - 1: "",
		pgstore.NewestSchema:     "",
		pgstore.NewestSchema + 1: "newer bmad-mcp",
		pgstore.NewestSchema + 2: "newer bmad-mcp",
	} {
		pgtest.Do(t, address, `delete from goose_db_version`, fmt.Sprintf(`insert into goose_db_version (version_id, is_applied) values (0, true), (%d, true)`, version))
		_, err := open(t, address).Store(at).Find(ctx, "task")
		if (err == nil) != (hint == "") || err != nil && (!fault.Is(err, fault.Storage) || !strings.Contains(fault.From(err).Hint, hint)) {
			t.Errorf("with schema %d of %d: %v", version, pgstore.NewestSchema, err)
		}
		runs := 0
		_, changeErr := running.Update(ctx, s.SessionID, func(store.Tx, *workflow.Session) error { runs++; return nil })
		if hasRun := runs > 0; fmt.Sprint(changeErr) != fmt.Sprint(err) || hasRun != (err == nil) {
			t.Errorf("with schema %d meanwhile: %v; want %v", version, changeErr, err)
		}
		if status, statusErr := open(t, address).Status(ctx); status.Schema != max(version, 0) || (statusErr == nil) != (err == nil) {
			t.Errorf("with schema %d, the status is %+v, %v", version, status, statusErr)
		}
	}
	pgtest.Do(t, address, `delete from goose_db_version`)
	if _, err := open(t, address).Store(at).Find(ctx, "task"); !strings.Contains(fault.From(err).Hint, "bmad-mcp store migrate") {
		t.Errorf("with no version: %v", err)
	}
	for have, fits := range map[int64]bool{0: false, 1: false, 3: false, 4: true, 5: true, 6: false, 7: false} {
		if err := pgstore.Judge(have, 5); (err == nil) != fits {
			t.Errorf("a program for schema 5 says of %d: %v", have, err)
		}
	}
}

// TestTrouble: each trouble of a database is a storage error that says what to do, and never the password.
func TestTrouble(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	create(t, open(t, address).Store(at))
	name := address[strings.LastIndex(address, "/")+1 : strings.Index(address, "?")]
	form, _ := parse(t, address)
	for trouble, tt := range map[string]struct{ address, hint string }{
		"unreachable":      {fmt.Sprintf(form, 1), "bmad-mcp store)"},
		"with two ways":    {strings.Replace(fmt.Sprintf(form, 1), "disable", "prefer", 1), "bmad-mcp store)"},
		"a wrong password": {strings.Replace(address, pgtest.Password, pgtest.Password+"-not", 1), "PGPASSFILE"},
		"read-only":        {address + "&default_transaction_read_only=on", "read-only"},
		"no database":      {strings.Replace(address, "/"+name+"?", "/none?", 1), "bmad-mcp store)"},
	} {
		d := open(t, tt.address)
		err := d.Store(at).Create(ctx, newSession(), storetest.Numbered("task"))
		said := fmt.Sprint(err, fault.From(err).Hint, d)
		if !fault.Is(err, fault.Storage) || !strings.Contains(said, tt.hint) || strings.Contains(said, pgtest.Password) || strings.Count(said, "refused") > 1 {
			t.Errorf("%s: got %s", trouble, said)
		}
	}
	if d := open(t, "postgres://me:"+pgtest.Password+"@h1:1,h2:2/bmad?sslmode=prefer"); d.String() != "postgres://me@h1:1,h2:2/bmad" {
		t.Errorf("shown as %s", d)
	}
	for _, form := range []string{
		"postgres://me:%s@h:x/", "postgres://me:%s@h/b?pool_max_conns=x", "postgres://me:%s@h/b?bmad.tenant=x", "postgres://me:%%zz%s@h/", "postgres://me:a@%s@h:x/", "postgres://me:a/%s@h/",
		"host=h port=x password=%s", "host=h password='a %s' port=x", "host=h password = %s port=x", "me:%s@h:x", "postgres:/me:%s@h:x/", "host=h password='%s", "postgres://me:%s/", "postgres://me:`: %s/",
		"postgres://h:x/?password=%s", "postgres://h/?sslmode=no&password=%s", "service=none password=%s", "https://me:%s@h:x/",
	} {
		if _, err := pgstore.Open(fmt.Sprintf(form, pgtest.Password)); err == nil || strings.Contains(err.Error(), pgtest.Password) {
			t.Errorf("an address that is none, %s: %v", form, err)
		}
	}
}

// TestWatch: a change by another process is seen, also one while the connection was cut.
func TestWatch(t *testing.T) {
	address := migrated(t)
	p, proxied := through(t, address)
	watching := open(t, proxied)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if _, err := watching.Store(at).All(ctx); err != nil { // no rows yet
		t.Fatal(err)
	}
	other := open(t, address).Store(at)
	s := create(t, other)
	if _, err := watching.Store(at).Get(ctx, s.SessionID); err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 100)
	var work sync.WaitGroup
	work.Go(func() { watching.Watch(ctx, func() { changed <- struct{}{} }) })
	<-changed // it listens
	update := func() {
		if _, err := other.Update(ctx, s.SessionID, step("text")); err != nil {
			t.Fatal(err)
		}
	}
	update()
	<-changed
	elsewhere := open(t, address).Store(store.Place{Key: "host/owner/other"})
	create(t, elsewhere)
	p.drop()
	update()
	<-changed // when it is connected again
	stop()
	work.Wait()
}
