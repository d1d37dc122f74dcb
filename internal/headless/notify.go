package headless

import (
	"cmp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// endOf returns the event of a run that ends for a reason; wait is the event for which its session waits. A run that was
// cancelled has none: the person has done it.
func endOf(why Reason, state workflow.State, wait notify.Event) notify.Event {
	switch why {
	case Done:
		return notify.Ended
	case Spent:
		return notify.Budget
	case Failed:
		return notify.Failed
	case Yielded:
		return ""
	}
	if state == workflow.Cancelled {
		return ""
	}
	return cmp.Or(wait, notify.Decision)
}

// notifyPerson tells the person of an event, if the run has worked since they were last told: before, they have just started it,
// or decided in it.
func (r *run) notifyPerson(event notify.Event) {
	if event == "" || r.worked == r.told {
		return
	}
	r.told = r.worked
	r.Engine.Notify(r.project, r.session, event)
}
