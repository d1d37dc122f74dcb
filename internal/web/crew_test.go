package web_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// countedQueue counts how often a queue is read.
type countedQueue struct {
	dashboard.Queue
	n *atomic.Int64
}

func (c countedQueue) View(ctx context.Context, sessionID string) (queue.View, error) {
	c.n.Add(1)
	return c.Queue.View(ctx, sessionID)
}

// team is a world whose sessions are in a store of a team, with a queue.
type team struct {
	*world
	address, folder, key string
	q                    *pgstore.Queue
	// looks counts how often the pages have read the queue.
	looks atomic.Int64
	// away has the store refuse everything.
	away atomic.Bool
}

func newTeam(t *testing.T) *team {
	t.Helper()
	m := &team{address: pgtest.New(t), key: "example.org/acme/shop"}
	d, err := pgstore.Open(m.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if _, _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.q = d.Queue()
	m.world = newWorldOn(t, func(place store.Place) (store.Backend, error) {
		if m.away.Load() {
			return nil, fault.New(fault.Storage, "the store is away")
		}
		place.Key = m.key
		return d.Store(place), nil
	}, countedQueue{m.q, &m.looks})
	m.folder = m.project("shop")
	return m
}

// enqueue starts a run, and puts it into the queue.
func (m *team) enqueue(name string, labels ...string) string {
	m.t.Helper()
	id := m.do(m.folder, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Build the " + name, TaskName: name}}).SessionID
	m.must(m.q.Add(m.t.Context(), m.key, id, queue.Order{By: "anna", Labels: labels}))
	return id
}

func (m *team) revision(id string) int {
	m.t.Helper()
	s, _, err := m.engine.Session(m.t.Context(), project.Address{Cwd: m.folder, Session: id})
	m.must(err)
	return s.Revision
}

func (m *team) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// claim has a worker take the oldest run.
func (m *team) claim(worker string) *queue.Claim {
	m.t.Helper()
	c, err := m.q.Claim(m.t.Context(), queue.Worker{ID: worker, Host: "h", Version: "1", Projects: []string{m.key}}, time.Hour, queue.Limits{})
	if err != nil || c == nil {
		m.t.Fatal(c, err)
	}
	return c
}

// fill makes a run for each state of the queue.
func (m *team) fill() {
	m.t.Helper()
	ctx := m.t.Context()
	for _, end := range []struct {
		name string
		to   queue.State
		why  string
	}{{"cart", queue.Failed, "the key was refused"}, {"search", queue.Spent, ""}, {"basket", queue.Waiting, "it needs <b>you</b>\u202e"}, {"mail", queue.Done, ""}} {
		id := m.enqueue(end.name)
		c := m.claim("w1")
		m.must(m.q.Save(ctx, id, c.LeaseNo, queue.Progress{Calls: 7, Repeated: 2, Spent: 1_250_000_000}))
		m.must(m.q.Release(ctx, id, c.LeaseNo, queue.Release{To: end.to, Why: end.why, Revision: m.revision(id)}))
	}
	m.must(m.q.Cancel(ctx, m.enqueue("stock")))
	lost := m.enqueue("invoice")
	m.claim("w0")
	works := m.enqueue("checkout")
	c := m.claim("w1")
	m.must(m.q.Save(ctx, works, c.LeaseNo, queue.Progress{Calls: 3, Asking: 4, Spent: 500_000_000}))
	m.enqueue("report", "gpu")
	if c, err := m.q.Claim(ctx, queue.Worker{ID: "w2", Host: "h", Version: "1", Projects: []string{m.key}}, time.Hour, queue.Limits{}); c != nil || err != nil {
		m.t.Fatal(c, err)
	}
	pgtest.Do(m.t, m.address, `select set_config('bmad.tenant', '0', false)`,
		`update queue_entry set changed_at = '2026-01-02 03:30:00Z', queued_at = '2026-01-02 03:00:00Z'`,
		`update queue_entry set changed_at = clock_timestamp() - interval '330 seconds' where state = 'working'`,
		`update queue_entry set lease_until = clock_timestamp() - interval '1 second' where session_id = '`+lost+`'`,
		`update queue_worker set seen_at = clock_timestamp() - interval '150 minutes' where worker_id = 'w0'`)
}

// TestQueueOnPages: the inbox shows the work of each worker, and the page of a run its place in the queue. Each page reads
// the queue once at most.
func TestQueueOnPages(t *testing.T) {
	m := newTeam(t)
	m.fill()
	board := m.projectPath()
	run := func(name string) string { return board + "r/" + name + "/" }
	for name, path := range map[string]string{"inbox-queue": "/", "run-queue": run("checkout")} {
		_, text, _ := m.get(path, "en")
		golden.Check(t, filepath.Join("testdata", "pages", "en", name+".html"), m.steady(text))
	}
	for path, want := range map[string][]string{
		"/": {"The worker failed</b> · the key was refused", "Budget or time used up</b> · $1.25 spent",
			"Taken from the queue", "The worker waits for you", "it needs &lt;b&gt;you",
			"worker w1, for 5 minutes, at call 4", "worker w0 is lost", "no worker with its labels was seen lately", "not seen for 2 hours", ">idle<"},
		run("cart"):     {"the worker failed", "the key was refused", "bmad-mcp queue retry cart<"},
		run("search"):   {"budget or time used up", "bmad-mcp queue retry search --budget USD<"},
		run("stock"):    {"taken from the queue", "bmad-mcp queue retry stock<"},
		run("invoice"):  {"the worker is lost", "worker w0 is lost; another one takes the run over"},
		run("report"):   {"in the queue", "no worker with its labels was seen lately", "gpu"},
		run("mail"):     {"Done by the workers", "$1.25"},
		run("checkout"): {"A worker is at work", "59 minutes left"},
		board:           {"The worker failed"},
		"/memory":       nil, "/runs": nil, "/settings": nil, "/search?q=cart": nil, run("cart") + "log": nil,
	} {
		for _, language := range []string{"en", "zh"} {
			m.looks.Store(0)
			status, text, _ := m.get(path, language)
			if n := m.looks.Load(); status != http.StatusOK || n > 1 {
				t.Errorf("%s: status %d, the queue was read %d times", path, status, n)
			}
			readPage(t, path, text).check(language)
			for _, words := range want {
				if language == "en" && !strings.Contains(text, words) {
					t.Errorf("%s does not say %q:\n%s", path, words, text)
				}
			}
		}
	}
	if _, text, _ := m.get(run("invoice"), "en"); strings.Contains(text, `data-act="resume"`) {
		t.Error("a run that workers have can be resumed here")
	}
	m.away.Store(true)
	m.looks.Store(0)
	if status, text, _ := m.get("/", "en"); status != http.StatusOK || !strings.Contains(text, "the store is away") || m.looks.Load() != 0 {
		t.Errorf("status %d, the queue was read %d times\n%s", status, m.looks.Load(), text)
	}
}

// TestQueueAway: a page whose runs can be read is shown without the queue, and says why.
func TestQueueAway(t *testing.T) {
	d, err := pgstore.Open("postgres://nobody@127.0.0.1:1/nothing?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	w := newWorldOn(t, nil, d.Queue())
	folder := w.project("shop")
	w.do(folder, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Build the cart", TaskName: "cart"}})
	for _, path := range []string{"/", w.projectPath(), w.projectPath() + "r/cart/"} {
		status, text, _ := w.get(path, "en")
		says := strings.Contains(text, "The queue cannot be read") || path == w.projectPath()
		if status != http.StatusOK || !says || !strings.Contains(text, "Build the cart") {
			t.Errorf("%s: status %d\n%s", path, status, text)
		}
	}
	w = newWorldOn(t, nil, nil)
	w.do(w.project("shop"), request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Build the cart", TaskName: "cart"}})
	if _, text, _ := w.get("/", "en"); strings.Contains(text, "queue") {
		t.Errorf("a page without a store speaks of a queue:\n%s", text)
	}
}
