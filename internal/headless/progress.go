package headless

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Progress is the standing of a run by its events.
type Progress struct {
	// Began is the begin of the latest invocation.
	Began time.Time
	// Engine and Model are the ones at work last. Models whose name is left to the engine are "".
	Engine, Model string
	// Cost is the latest cost, with the call under way; Spent is the part of each stage.
	Cost  Event
	Spent map[workflow.StageID]price.Money
	// Acts are the engines' acts since the begin of the stage, the latest last, at most maxActs.
	Acts []Event
	// End is the event that ended the latest invocation; nil for a run at work or killed.
	End *Event
}

// maxActs bounds the acts in a Progress.
const maxActs = 8

// ProgressOf gathers the standing of a run from its events.
func ProgressOf(events []Event) Progress {
	p := Progress{Spent: map[workflow.StageID]price.Money{}}
	var before price.Money
	for i, e := range events {
		switch e.Type {
		case RunStarted:
			p.Began, p.End, p.Acts = e.At, nil, nil
		case StageStarted:
			p.Engine, p.Model, p.Acts = e.Engine, e.Model, nil
		case EngineEvent:
			if e.Text != "" {
				p.Acts = append(p.Acts, e)
				p.Acts = p.Acts[max(len(p.Acts)-maxActs, 0):]
			}
		case Cost:
			if e.Spent != nil {
				p.Spent[e.Stage] += *e.Spent - before
				p.Cost, before = e, *e.Spent
			}
		case Stopped, Completed:
			p.End, p.Acts = &events[i], nil
		}
	}
	return p
}
