package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// metrics count the actions of the server, for Prometheus.
type metrics struct {
	registry *prometheus.Registry
	actions  *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(e *engine.Engine, log *slog.Logger) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bmad_actions_total", Help: "Calls of the tools by action and outcome: done, asked (a form went to the person), or the code of the refusal.",
		}, []string{"action", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bmad_action_seconds", Help: "How long an action took, without the time that a person took to answer a form.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 300},
		}, []string{"action"}),
	}
	m.registry.MustRegister(m.actions, m.seconds, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &census{engine: e, log: log})
	return m
}

// count notes one action. Unknown ones have one name: a caller must not add series.
func (m *metrics) count(action workflow.Action, took time.Duration, outcome string) {
	if !slices.Contains(workflow.Actions(), action) {
		action = "unknown"
	}
	m.actions.WithLabelValues(string(action), outcome).Inc()
	m.seconds.WithLabelValues(string(action)).Observe(took.Seconds())
}

// outcome names the outcome of an action.
func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, engine.ErrAsked):
		return "asked"
	}
	return string(fault.From(err).Code)
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2})
}

// census counts the sessions of the served projects on demand. It reads each of them, and
// therefore keeps the counts for a while.
type census struct {
	engine *engine.Engine
	log    *slog.Logger

	mu    sync.Mutex
	taken time.Time
	found map[[2]string]int
}

// censusAge is how long a census is good for. Prometheus asks every 15 to 60 s.
const censusAge = 10 * time.Second

var (
	sessionsDesc = prometheus.NewDesc("bmad_sessions", "Sessions of the served projects by stage and state.", []string{"stage", "state"}, nil)
	gatesDesc    = prometheus.NewDesc("bmad_gates_waiting", "Sessions that wait for their human, by stage and state.", []string{"stage", "state"}, nil)
)

// Describe implements prometheus.Collector.
func (c *census) Describe(out chan<- *prometheus.Desc) { out <- sessionsDesc; out <- gatesDesc }

// Collect implements prometheus.Collector.
func (c *census) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.engine.Now(); c.found == nil || now.Sub(c.taken) >= censusAge {
		c.taken, c.found = now, c.take()
	}
	for at, n := range c.found {
		out <- prometheus.MustNewConstMetric(sessionsDesc, prometheus.GaugeValue, float64(n), at[0], at[1])
		if workflow.State(at[1]).WaitsForHuman() {
			out <- prometheus.MustNewConstMetric(gatesDesc, prometheus.GaugeValue, float64(n), at[0], at[1])
		}
	}
}

func (c *census) take() map[[2]string]int {
	found := map[[2]string]int{}
	for _, folder := range c.engine.Projects().List() {
		sessions, _, _, err := c.engine.Sessions(context.Background(), project.Address{Cwd: folder})
		if err != nil {
			c.log.Debug("not counted", "project", folder, "error", err)
			continue
		}
		for _, s := range sessions {
			found[[2]string{string(s.CurrentStage), string(s.CurrentState)}]++
		}
	}
	return found
}
