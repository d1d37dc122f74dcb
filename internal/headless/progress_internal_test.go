package headless

import (
	"slices"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// TestProgressOf checks the standing of runs after lists of events.
func TestProgressOf(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	started := Event{Type: RunStarted, At: at}
	stage := func(model string) Event { return Event{Type: StageStarted, Engine: "claude", Model: model} }
	act := func(text string) Event { return Event{Type: EngineEvent, Stage: "po", Text: text} }
	cost := func(id workflow.StageID, cents price.Money) Event {
		sum := cents * price.Dollar / 100
		return Event{Type: Cost, Stage: id, Spent: &sum}
	}
	for name, c := range map[string]struct {
		events  []Event
		po, dev price.Money // in cents
		acts    int
		ends    bool
		model   string
	}{
		"nothing":                  {},
		"begun":                    {events: []Event{started}},
		"at work":                  {events: []Event{started, stage("m"), act("reads"), act("")}, acts: 1, model: "m"},
		"acts of a stage":          {events: []Event{started, stage(""), act("reads"), stage("n"), act("writes")}, acts: 1, model: "n"},
		"costs":                    {events: []Event{started, cost("po", 5), cost("po", 7), cost("dev", 10)}, po: 7, dev: 3},
		"a guess that was too big": {events: []Event{started, cost("po", 9), cost("po", 7)}, po: 7},
		"a cost without a sum":     {events: []Event{started, {Type: Cost, Stage: "po"}}},
		"stopped":                  {events: []Event{started, stage(""), act("reads"), {Type: Stopped}}, ends: true},
		"resumed":                  {events: []Event{started, cost("po", 5), {Type: Stopped}, started, cost("po", 6)}, po: 6},
		"completed":                {events: []Event{started, {Type: Completed}}, ends: true},
		"many acts":                {events: append([]Event{started}, slices.Repeat([]Event{act("reads")}, 20)...), acts: maxActs},
	} {
		p := ProgressOf(c.events)
		const cent = price.Dollar / 100
		if p.Spent["po"] != c.po*cent || p.Spent["dev"] != c.dev*cent || len(p.Acts) != c.acts || (p.End != nil) != c.ends || p.Model != c.model {
			t.Errorf("%s: %+v", name, p)
		}
		if len(c.events) > 0 && !p.Began.Equal(at) {
			t.Errorf("%s: it began at %s", name, p.Began)
		}
	}
}
