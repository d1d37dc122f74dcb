package mcpserver

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// metrics count the actions of the server, for Prometheus.
type metrics struct {
	registry *prometheus.Registry
	actions  *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	census   *census
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
		census: newCensus(e, log),
	}
	m.registry.MustRegister(m.actions, m.seconds, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.census)
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
	m.census.begin() // for the first to ask
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2})
}
