package mcpserver

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/exposition"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// slow is a store whose lists wait.
type slow struct {
	*storetest.Mem
	lists *atomic.Int64
	gate  chan struct{}
}

func (s slow) All(ctx context.Context) (store.Listing, error) {
	s.lists.Add(1)
	select {
	case <-s.gate:
	case <-ctx.Done():
	}
	return s.Mem.All(ctx)
}

// TestScrapesDoNotWaitForTheCensus checks that a scrape gets the last count, however long the next
// one takes, of which there is one at a time; and a count is as old as its end.
func TestScrapesDoNotWaitForTheCensus(t *testing.T) {
	backend := slow{storetest.NewMem(), new(atomic.Int64), make(chan struct{}, 10)}
	s := workflow.Default().NewSession("00000001-0000-4000-8000-000000000000", "o", "/p", "t", time.Unix(0, 0))
	if err := backend.Create(context.Background(), s, store.Names{Candidate: func(int) string { return "task" }}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now := time.Unix(1_000_000, 0)
	folder := t.TempDir()
	e := engine.New(engine.Options{
		Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now },
		Projects: project.New(project.Options{
			OpenDir: durable.OpenDir, Settings: config.Source{}, Within: []string{folder},
			Backend: func(store.Place) (store.Backend, error) { return backend, nil },
		}),
	})
	pass := func(d time.Duration) { mu.Lock(); now = now.Add(d); mu.Unlock() }
	c := newCensus(e, slog.New(slog.DiscardHandler))
	scrape := func(series int, lists int64) {
		t.Helper()
		var page exposition.Page
		c.addTo(&page)
		found := strings.Count("\n"+string(page.Bytes()), "\nbmad_")
		if found != series || backend.lists.Load() > lists {
			t.Errorf("%d series, want %d; %d lists, want at most %d", found, series, backend.lists.Load(), lists)
		}
	}
	finish := func() {
		t.Helper()
		counting := c.begin()
		backend.gate <- struct{}{}
		<-counting
	}
	for range 3 {
		scrape(0, 1)
	}
	pass(2 * censusAge) // it takes longer than it is good for
	finish()
	scrape(1, 1)
	scrape(1, 1)
	pass(2 * censusAge)
	for range 3 {
		scrape(1, 2) // the old one, while the next is under way
	}
	finish()
	scrape(1, 2)
	pass(2 * censusAge)
	scrape(1, 3)
	c.close() // ends the one that waits
	if scrape(1, 3); c.begin() != nil {
		t.Error("a count after the end")
	}
}
