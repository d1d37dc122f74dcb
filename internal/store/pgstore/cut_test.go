package pgstore_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// epoch is the time of the runs here.
var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func newSession() *workflow.Session {
	return workflow.Default().NewSession(uuid.NewString(), "build a wall", "/p", "test", epoch)
}

func create(t testing.TB, b store.Backend) *workflow.Session {
	t.Helper()
	s := newSession()
	if err := b.Create(context.Background(), s, storetest.Numbered("task")); err != nil {
		t.Fatal(err)
	}
	return s
}

// step submits a text, as the engine does: the run refers to it, and its rounds say which change it was.
func step(text string) store.Change {
	return func(tx store.Tx, s *workflow.Session) error {
		refs, err := tx.Put(context.Background(), []store.Text{{Stage: workflow.PO, Kind: "final_result", Body: text, At: epoch}})
		if err == nil {
			s.Record(workflow.PO).FinalResultRef = &refs[0]
			s.ReworkCount++
		}
		return err
	}
}

// proxy passes bytes on to a server, and cuts a connection after some of them.
type proxy struct {
	listener net.Listener
	to       string
	// up and down are the bytes to and from the server until the cut; a negative number sets none.
	up, down atomic.Int64
	// stallUp and stallDown, if not nil, hold up a connection to or from the server.
	stallUp, stallDown atomic.Pointer[stall]
	mu                 sync.Mutex
	open               []net.Conn
}

// stall holds up the connection with which the bytes of all reach a number, until end is closed. reached is closed then.
type stall struct {
	left         atomic.Int64
	reached, end chan struct{}
}

func newStall(bytes int64) *stall {
	s := &stall{reached: make(chan struct{}), end: make(chan struct{})}
	s.left.Store(bytes)
	return s
}

// wait takes n bytes.
func (s *stall) wait(n int64) {
	if left := s.left.Add(-n); left <= 0 && left+n > 0 {
		close(s.reached)
		<-s.end
	}
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to}
	p.up.Store(-1)
	p.down.Store(-1)
	t.Cleanup(func() { _ = l.Close(); p.drop() })
	go p.serve()
	return p
}

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, client, server)
		p.mu.Unlock()
		go p.pass(server, client, &p.up, &p.stallUp)
		go p.pass(client, server, &p.down, &p.stallDown)
	}
}

// pass copies bytes until there are none left, and then ends the connection.
func (p *proxy) pass(to, from net.Conn, left *atomic.Int64, slow *atomic.Pointer[stall]) {
	defer func() { _ = to.Close(); _ = from.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if s := slow.Load(); s != nil {
			s.wait(int64(n))
		}
		if have := left.Load(); have >= 0 {
			cut := min(int64(n), have)
			left.Store(have - cut)
			if _, writeErr := to.Write(buffer[:cut]); writeErr != nil || cut < int64(n) || have == cut {
				left.Store(-1) // the next connection is whole
				return
			}
			continue
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// drop ends all connections.
func (p *proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

// through returns the address of a database through a proxy.
func through(t testing.TB, address string) (*proxy, string) {
	t.Helper()
	config, port := parse(t, address)
	p := newProxy(t, fmt.Sprintf("127.0.0.1:%d", port))
	return p, fmt.Sprintf(config, p.port())
}

// TestCutWhileConnecting cuts a second connection before it is made. The server is there, as the first one shows, so
// the call is done over a third one.
func TestCutWhileConnecting(t *testing.T) {
	ctx := context.Background()
	p, address := through(t, migrated(t))
	d := open(t, address)
	b := d.Store(at)
	s := create(t, b)
	_, err := b.Update(ctx, s.SessionID, func(tx store.Tx, s *workflow.Session) error {
		p.up.Store(0)
		if _, err := d.Queue().List(ctx, nil); err != nil {
			t.Errorf("the second connection was cut: %v", err)
		}
		if p.up.Load() == 0 {
			t.Error("no connection was cut")
		}
		return step("text")(tx, s)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeadConnection: an idle connection over which nothing comes any more, as after the loss of a machine, is given up, and
// the call goes on over another one. A call that gets none is refused.
func TestDeadConnection(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	straight := migrated(t)
	p, address := through(t, straight)
	d := open(t, address)
	pgstore.Hasten(d, 10)
	s := create(t, d.Store(at))
	dead := newStall(1)
	defer close(dead.end)
	p.stallUp.Store(dead)
	if err := d.Queue().Add(ctx, at.Key, s.SessionID, queue.Order{}); err != nil {
		t.Errorf("an idle connection is dead: %v", err)
	}
	d = open(t, straight+"&pool_max_conns=1")
	pgstore.Hasten(d, 100)
	_, err := d.Store(at).Update(ctx, s.SessionID, func(store.Tx, *workflow.Session) error {
		_, err := d.Queue().List(ctx, nil)
		return err
	})
	if !fault.Is(err, fault.Storage) {
		t.Errorf("no connection is free: %v", err)
	}
}

// thorough asks for every cut, and ten rounds of kills.
var thorough = os.Getenv("TEST_BMAD_EVERY_CUT") == "1"

// TestEveryCut cuts the connection after some bytes of an update, or after every one, in both directions. The change is stored wholly or
// not at all, the answer fits, and a repetition by a caller that was told to look is safe.
func TestEveryCut(t *testing.T) {
	address := migrated(t)
	straight := open(t, address).Store(at)
	p, cutAddress := through(t, address)
	every := 211
	if thorough {
		every = 1
	}
	for _, direction := range []string{"to the server", "from the server"} {
		left := &p.up
		if direction == "from the server" {
			left = &p.down
		}
		outcomes := map[string]int{}
		d := open(t, cutAddress)
		b := d.Store(at)
		s := create(t, b)
		if _, err := b.Update(context.Background(), s.SessionID, step("warm")); err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n += every {
			before, err := straight.Get(context.Background(), s.SessionID)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("text %d", n)
			runs := 0
			left.Store(int64(n))
			_, err = b.Update(context.Background(), s.SessionID, func(tx store.Tx, s *workflow.Session) error {
				runs++
				return step(text)(tx, s)
			})
			wasCut := left.Swap(-1) < 0
			after, getErr := straight.Get(context.Background(), s.SessionID)
			if getErr != nil {
				t.Fatal(getErr)
			}
			stored := after.Revision == before.Revision+1 && after.ReworkCount == before.ReworkCount+1
			if !stored && (after.Revision != before.Revision || after.ReworkCount != before.ReworkCount) || runs > 1 {
				t.Fatalf("%s, byte %d: a part is stored: revision %d after %d; run %d times", direction, n, after.Revision, before.Revision, runs)
			}
			if body, readErr := straight.Read(context.Background(), *after.Record(workflow.PO).FinalResultRef); readErr != nil || stored && body != text {
				t.Fatalf("%s, byte %d: the text is %q, %v", direction, n, body, readErr)
			}
			switch {
			case err == nil && !stored:
				t.Fatalf("%s, byte %d: acknowledged, and lost", direction, n)
			case err != nil && stored:
				t.Fatalf("%s, byte %d: it is stored, but the answer is %v", direction, n, err)
			case err != nil:
				t.Fatalf("%s, byte %d: got %v, and another connection could be had", direction, n, err)
			case wasCut:
				outcomes["done over another connection"]++
			default:
				outcomes["done"]++
			}
			if !wasCut {
				break
			}
		}
		t.Logf("%s: %v", direction, outcomes)
		if outcomes["done over another connection"] == 0 {
			t.Errorf("%s: the cuts show nothing: %v", direction, outcomes)
		}
	}
}

// TestDurable: a change is on the disk when it is acknowledged, although the database would not wait for that; and a
// stronger setting stays. Its waits are bounded.
func TestDurable(t *testing.T) {
	address := migrated(t)
	s := create(t, open(t, address).Store(at))
	for set, want := range map[string]string{"off": "on", "remote_apply": "remote_apply"} {
		d := open(t, address+"&synchronous_commit="+set)
		status, err := d.Status(context.Background())
		if warned := slices.Contains(status.Warnings(), "synchronous_commit = "+set); err != nil || warned != (set == "off") || !slices.Contains(status.Warnings(), "fsync = off") {
			t.Errorf("with %s, the status warns of %v, %v", set, status.Warnings(), err)
		}
		b := d.Store(at)
		if _, err := b.Update(context.Background(), s.SessionID, func(tx store.Tx, _ *workflow.Session) error {
			for name, want := range map[string]string{"synchronous_commit": want, "lock_timeout": "10s", "idle_in_transaction_session_timeout": "1min"} {
				if got, err := pgstore.Setting(tx, name); err != nil || got != want {
					t.Errorf("with %s, %s is %s, %v, want %s", set, name, got, err, want)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStopped has a caller hang with its lock, which the server takes from it: what it was about to store is stored unless
// others have changed the session meanwhile. These are told that they wait.
func TestStopped(t *testing.T) {
	address := migrated(t)
	dir := durable.NewDir("/p", nil)
	dir.LockTimeout = 50 * time.Millisecond
	one, two := open(t, address).Store(at), open(t, address).Store(store.Place{Key: at.Key, Dir: dir})
	for _, meanwhile := range []bool{false, true} {
		s := create(t, one)
		_, err := one.Update(context.Background(), s.SessionID, func(tx store.Tx, s *workflow.Session) error {
			if _, err := two.Update(context.Background(), s.SessionID, step("other")); !fault.Is(err, fault.Conflict) {
				t.Errorf("while another holds it: %v", err)
			}
			pgstore.EndIdle(tx)
			if meanwhile {
				if _, err := two.Update(context.Background(), s.SessionID, step("faster")); err != nil {
					t.Error(err)
				}
			}
			return step("late")(tx, s)
		})
		if (err != nil) != meanwhile || err != nil && !fault.Is(err, fault.Storage) {
			t.Errorf("who was ended by the server is told %v", err)
		}
		if got, err := two.Update(context.Background(), s.SessionID, step("later")); err != nil || got.Revision != s.Revision+2 {
			t.Errorf("then: %v, %v", got, err)
		}
	}
}

// TestServerGone ends all connections of a process on the server, idle ones and those in the middle of a call: each kind of call
// goes on over others.
func TestServerGone(t *testing.T) {
	address := migrated(t)
	b := open(t, address).Store(at)
	ctx := context.Background()
	s := create(t, b)
	end := func() {
		pgtest.Do(t, address, `select pg_terminate_backend(pid) from pg_stat_activity where usename = current_user and pid <> pg_backend_pid()`)
	}
	at := func(what string, do func() error) {
		t.Helper()
		end()
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	at("create", func() error { create(t, b); return nil })
	at("update", func() error { _, err := b.Update(ctx, s.SessionID, step("one")); return err })
	at("get", func() error { _, err := b.Get(ctx, s.SessionID); return err })
	at("find", func() error { _, err := b.Find(ctx, s.SessionID); return err })
	at("all", func() error { _, err := b.All(ctx); return err })
	at("take and bring", func() error {
		p, err := b.Take(ctx, s.SessionID)
		end()
		if err == nil {
			err = b.Bring(ctx, p, workflow.Hash(p.Session))
		}
		return err
	})
	runs := 0
	got, err := b.Update(ctx, s.SessionID, func(tx store.Tx, s *workflow.Session) error {
		runs++
		end()
		if body, err := tx.Read(ctx, *s.Record(workflow.PO).FinalResultRef); err != nil || body != "one" {
			t.Errorf("a text in the middle of a change: %q, %v", body, err)
		}
		return step("two")(tx, s)
	})
	if err != nil || runs != 1 {
		t.Fatalf("in the middle of a change, which ran %d times: %v", runs, err)
	}
	if body, err := b.Read(ctx, *got.Record(workflow.PO).FinalResultRef); err != nil || body != "two" {
		t.Errorf("%q, %v", body, err)
	}
}
