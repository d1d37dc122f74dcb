package mcpserver

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/exposition"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// census counts the sessions of the served projects, apart from the requests: they get the last
// count, and a new one begins if that is old.
type census struct {
	engine *engine.Engine
	log    *slog.Logger
	// ctx is that of the counting; close ends it.
	ctx  context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	mu sync.Mutex
	// counting is closed when the count that is under way has ended; nil if none is.
	counting chan struct{}
	// ended is when the last count ended, found its result.
	ended time.Time
	found map[place]int
}

// place is a folder with sessions.
type place struct {
	stage workflow.StageID
	state workflow.State
}

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.state, b.state))
}

const (
	// censusAge is the time for which a count is good. Prometheus asks every 15 to 60 s.
	censusAge = 10 * time.Second
	// censusPatience is the longest wait for a count that is under way: one of an ordinary
	// project has ended by then.
	censusPatience = 3 * time.Millisecond
)

func newCensus(e *engine.Engine, log *slog.Logger) *census {
	c := &census{engine: e, log: log}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// addTo adds the last count to a page.
func (c *census) addTo(p *exposition.Page) {
	if counting := c.begin(); counting != nil {
		patience := time.NewTimer(censusPatience)
		defer patience.Stop()
		select {
		case <-counting:
		case <-patience.C:
		}
	}
	c.mu.Lock()
	found := c.found // which is replaced, not changed
	c.mu.Unlock()
	var sessions, gates []exposition.Sample
	for _, at := range slices.SortedFunc(maps.Keys(found), place.compare) {
		s := exposition.Sample{Labels: []string{"stage", string(at.stage), "state", string(at.state)}, Value: float64(found[at])}
		sessions = append(sessions, s)
		if at.state.WaitsForHuman() {
			gates = append(gates, s)
		}
	}
	p.Add(exposition.Gauge, "bmad_sessions", "Sessions of the served projects by stage and state.", sessions...)
	p.Add(exposition.Gauge, "bmad_gates_waiting", "Sessions that wait for their human, by stage and state.", gates...)
}

// begin begins a count if the last one is old. It returns the count that is under way, if any.
func (c *census) begin() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := c.found != nil && c.engine.Now().Sub(c.ended) < censusAge
	if c.counting != nil || fresh || c.ctx.Err() != nil {
		return c.counting
	}
	counting := make(chan struct{})
	c.counting = counting
	c.work.Go(func() {
		found := c.take()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.counting = nil; c.ctx.Err() == nil {
			c.found, c.ended = found, c.engine.Now()
		}
		close(counting)
	})
	return counting
}

// close ends the counting, and returns when it has ended.
func (c *census) close() {
	c.mu.Lock()
	c.end()
	c.mu.Unlock()
	c.work.Wait()
}

func (c *census) take() map[place]int {
	found := map[place]int{}
	for _, folder := range c.engine.Projects().List() {
		sessions, _, _, err := c.engine.Sessions(c.ctx, project.Address{Cwd: folder})
		if err != nil {
			c.log.Debug("not counted", "project", folder, "error", err)
			continue
		}
		for _, s := range sessions {
			found[place{s.CurrentStage, s.CurrentState}]++
		}
	}
	return found
}
