package engine

import (
	"path/filepath"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// waitOf returns the event of a run that waits for its person, or is complete; "" for any other.
func waitOf(s *standing.Standing) notify.Event {
	switch state := s.Session.CurrentState; {
	case state == workflow.Completed:
		return notify.Ended
	case state == workflow.Clarifying:
		return notify.Questions
	case s.Overrides(), s.Blocked():
		return notify.FailedWork
	case state.Gated(), s.Wants() != standing.WantsNothing:
		return notify.Decision
	}
	return ""
}

// eventOf returns the event of an action that the person has not taken, and may not have seen: of the work that was handed in.
// All other actions are their own word, or passed on by an assistant that they talk to.
func eventOf(action workflow.Action, after *standing.Standing) notify.Event {
	if action != workflow.ActionSubmit {
		return ""
	}
	return waitOf(after)
}

// Wait returns the event of an outcome at which a run waits for its person, or is complete; "" for any other.
func (o Outcome) Wait() notify.Event {
	if o.Standing == nil {
		return ""
	}
	return waitOf(o.Standing)
}

// Notify tells the person of an event of a run, if their settings name a place for it. It neither waits nor fails.
func (e *Engine) Notify(p *project.Project, s *workflow.Session, event notify.Event) {
	if event == "" || e.options.Notify == nil || p.Config.Notify.IsNone() {
		return
	}
	e.options.Notify(notify.Handed{Folder: p.Dir.Path(), Notice: notify.Notice{
		ID: notify.IDOf(s.SessionID+" "+strconv.Itoa(s.Revision), event), Event: event,
		Run: s.TaskName, Project: filepath.Base(p.Dir.Path()), Stage: string(s.CurrentStage), At: e.Now(),
	}})
}
