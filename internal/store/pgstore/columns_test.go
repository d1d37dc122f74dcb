package pgstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// rewrite changes rows as somebody does who knows the password of the store.
func rewrite(t testing.TB, address, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, `select set_config('bmad.tenant', '0', false)`); err != nil {
		t.Fatal(err)
	}
	if tag, err := conn.Exec(ctx, sql, args...); err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%s: %d rows, %v", sql, tag.RowsAffected(), err)
	}
}

// TestColumnsDoNotCount changes each column that is taken from the body: lists show what the body says, and name the column.
func TestColumnsDoNotCount(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	for column, value := range map[string]string{
		"task_name": `'another'`, "objective": `'\x78'`, "stage": `'qa'`, "state": `'completed'`, "active": `false`,
		"created_at": `'2001-01-01T00:00:00.000000000Z'`, "updated_at": `'2001-01-01T00:00:00.000000000Z'`, "revision": `9`, "version": `99`,
	} {
		t.Run(column, func(t *testing.T) {
			b := open(t, address).Store(store.Place{Key: t.Name()})
			s := create(t, b)
			rewrite(t, address, fmt.Sprintf(`update session set %s = %s where session_id = $1`, column, value), s.SessionID)
			all, err := b.All(ctx)
			if err != nil || len(all.Sessions) != 1 || all.Sessions[0] != s.Summary() {
				t.Errorf("listed as %+v, %v; want %+v", all.Sessions, err, s.Summary())
			}
			if column == "version" { // which no list uses
				return
			}
			if len(all.Broken) != 1 || !strings.HasSuffix(all.Broken[0].Err.Error(), "than it has: "+column) {
				t.Errorf("the column is not named: %v", all.Broken)
			}
			if _, err := b.Update(ctx, s.SessionID, step("x")); err != nil {
				t.Fatal(err)
			}
			if all, err := b.All(ctx); err != nil || len(all.Broken) > 0 {
				t.Errorf("after the next change: %v, %v", all.Broken, err)
			}
		})
	}
}

// TestNamesOfRows gives one session the task name of another.
func TestNamesOfRows(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	b := open(t, address).Store(at)
	first, second := create(t, b), create(t, b)
	rewrite(t, address, `update session set task_name = 'moved' where session_id = $1`, second.SessionID)
	rewrite(t, address, `update session set task_name = $2 where session_id = $1`, first.SessionID, second.TaskName)
	for ref, want := range map[string]fault.Code{second.TaskName: fault.Conflict, "moved": fault.Conflict, first.TaskName: fault.NotFound} {
		if id, err := b.Find(ctx, ref); !fault.Is(err, want) {
			t.Errorf("%s: found %q, %v", ref, id, err)
		}
	}
	for _, s := range []*workflow.Session{first, second} {
		if id, err := b.Find(ctx, s.SessionID); err != nil || id != s.SessionID {
			t.Errorf("by its id: %q, %v", id, err)
		}
	}
	if _, err := b.Update(ctx, second.SessionID, step("x")); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), second.TaskName) {
		t.Errorf("a change of a session whose name another row has: %v", err)
	}
	for _, s := range []*workflow.Session{first, second} { // in this order the names become free
		if _, err := b.Update(ctx, s.SessionID, step("x")); err != nil {
			t.Errorf("a change of %s: %v", s.TaskName, err)
		}
	}
}

// TestRowOfAnother stores one session under the id of another, and under one of its own.
func TestRowOfAnother(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	b := open(t, address).Store(at)
	first, second := create(t, b), create(t, b)
	rewrite(t, address, `update session set body = (select body from session where session_id = $2) where session_id = $1`, first.SessionID, second.SessionID)
	if s, err := b.Get(ctx, first.SessionID); !fault.Is(err, fault.Storage) {
		t.Errorf("read as %+v, %v", s, err)
	}
	if _, err := b.Update(ctx, first.SessionID, step("x")); !fault.Is(err, fault.Storage) {
		t.Errorf("changed: %v", err)
	}
	all, err := b.All(ctx)
	if err != nil || len(all.Sessions) != 1 || len(all.Broken) != 1 {
		t.Errorf("listed: %v, %v, %v", all.Sessions, all.Broken, err)
	}
}

// TestPagesOfChangedRows: whatever the columns say, each session is on one page, and a hidden one is named beside those that
// are listed.
func TestPagesOfChangedRows(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	b := open(t, address).Store(at)
	var want []string
	for i := range 5 {
		want = append(want, create(t, b).SessionID)
		rewrite(t, address, `update session set updated_at = $2 where session_id = $1`, want[i], []string{"zzz", "", "2026-x", "2001-01-01T00:00:00.000000000Z", "9999-01-01T00:00:00.000000000Z"}[i])
	}
	rewrite(t, address, `update session set state = 'completed' where session_id = $1`, want[2])
	q := store.Active()
	q.Limit = 2
	var got []string
	for {
		page, err := b.List(ctx, q)
		if err != nil || page.Total != len(want) || page.Active != len(want) || len(page.Broken) != len(want) {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, s := range page.Sessions {
			got = append(got, s.SessionID)
		}
		if q.After = page.Next; q.After == "" || len(got) > len(want) {
			break
		}
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestListsFollowRows: what is known of rows holds for the versions that were read, whoever writes them.
func TestListsFollowRows(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	b := open(t, address).Store(at)
	s := create(t, b)
	rewrite(t, address, `update session set stage = 'qa' where session_id = $1`, s.SessionID)
	for range 2 { // the second time the body is known
		if all, err := b.All(ctx); err != nil || len(all.Sessions) != 1 || all.Sessions[0] != s.Summary() || len(all.Broken) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	changed, err := open(t, address).Store(at).Update(ctx, s.SessionID, step("x"))
	if err != nil {
		t.Fatal(err)
	}
	if all, err := b.All(ctx); err != nil || len(all.Sessions) != 1 || all.Sessions[0] != changed.Summary() || len(all.Broken) != 0 {
		t.Errorf("after a change: %+v, %v", all, err)
	}
	rewrite(t, address, `update session set body = 'x' where session_id = $1`, s.SessionID)
	if all, err := b.All(ctx); err != nil || len(all.Sessions) != 0 || len(all.Broken) != 1 {
		t.Errorf("with another body: %+v, %v", all, err)
	}
}

// BenchmarkLists lists 1,000 sessions of the size of finished ones, and the first page of them.
func BenchmarkLists(b *testing.B) {
	ctx := context.Background()
	address := migrated(b)
	in := open(b, address).Store(at)
	for i := range 1000 {
		s := newSession()
		for len(s.History) < 40 {
			s.Note(workflow.Transition{At: epoch, Event: workflow.EventPolicyChanged, Policy: strings.Repeat(fmt.Sprintf("words %d; ", i), 30)})
		}
		if err := in.Create(ctx, s, storetest.Numbered("task")); err != nil {
			b.Fatal(err)
		}
	}
	again := func() *pgstore.Store { return in }
	for name, c := range map[string]struct {
		from func() *pgstore.Store
		q    store.Query
	}{
		"all, in a new process": {func() *pgstore.Store { return open(b, address).Store(at) }, store.Query{Text: "build"}},
		"all":                   {again, store.Query{Text: "build"}},
		"10":                    {again, store.Query{Limit: 10}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page, err := c.from().List(ctx, c.q)
				if err != nil || page.Total != 1000 {
					b.Fatal(page.Total, err)
				}
			}
		})
	}
}

// TestHugeRows checks that values which are too large for this program are not sent to it.
func TestHugeRows(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	b := open(t, address).Store(at)
	s := create(t, b)
	whole, err := b.Stored(ctx, s.SessionID)
	if err != nil || len(whole) == 0 {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	rewrite(t, address, `update session set body = body || convert_to(repeat(' ', $2), 'UTF8') where session_id = $1`, s.SessionID, durable.MaxText)
	if data, err := b.Stored(ctx, s.SessionID); err != nil || len(data) > 0 {
		t.Errorf("%d bytes are read, %v", len(data), err)
	}
	if _, err := b.Get(ctx, s.SessionID); !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("read: %v", err)
	}
	if all, err := b.All(ctx); err != nil || len(all.Broken) != 1 || len(all.Sessions) > 0 {
		t.Errorf("listed: %+v, %v", all, err)
	}
}

// TestLockedTable checks that a table which somebody has locked holds no call up for ever.
func TestLockedTable(t *testing.T) {
	ctx := context.Background()
	address := migrated(t)
	s := create(t, open(t, address).Store(at))
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, `begin; lock table session in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	hurried := open(t, address+"&lock_timeout=50").Store(at)
	if _, err := hurried.Get(ctx, s.SessionID); !fault.Is(err, fault.Conflict) {
		t.Errorf("a locked table: %v", err)
	}
	if wait := pgstore.LockTimeout(t, open(t, address)); wait != "10s" {
		t.Errorf("by itself it waits %s", wait)
	}
}
