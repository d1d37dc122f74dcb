package permission

import (
	"fmt"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// configured returns the configured verify command of a stage.
func (g *Guard) configured(stage workflow.StageID) verify.Configured {
	c := g.project.Config
	now := verify.Configured{Command: c.Verify[stage], By: c.VerifyBy[stage]}
	if own, says := c.PersonVerify[stage]; says {
		now.Person = &own
	}
	if a := g.permits().Command(now.Command, now.By); now.Command != "" && a != nil {
		now.Allowed = &a.At
	}
	return now
}

// plans decides for each stage of a workflow between the command that a session keeps and
// the configured one.
func (g *Guard) plans(w *workflow.Definition, kept map[workflow.StageID]workflow.VerifyCommand, at time.Time) map[workflow.StageID]verify.Plan {
	out := map[workflow.StageID]verify.Plan{}
	for _, stage := range verifiable(w) {
		out[stage] = verify.NewPlan(kept[stage], g.configured(stage), at)
	}
	return out
}

// verifiable are the stages of a workflow whose submission a verify command can check.
func verifiable(w *workflow.Definition) []workflow.StageID {
	var out []workflow.StageID
	for _, st := range w.Stages {
		if st.Verify {
			out = append(out, st.ID)
		}
	}
	return out
}

// KeepVerify gives a new session its verify commands.
func (g *Guard) KeepVerify(s *workflow.Session) {
	commands := map[workflow.StageID]workflow.VerifyCommand{}
	for stage, plan := range g.plans(s.Definition(), nil, s.CreatedAt) {
		if plan.Keep.Command != "" {
			commands[stage] = plan.Keep
		}
	}
	if len(commands) > 0 {
		s.History[0].VerifyCommands = s.KeepVerify(commands)
	}
}

// NoteVerify records in the history how the session's verify commands have changed since its
// last change, in an entry that begins as note does.
func (g *Guard) NoteVerify(s *standing.Standing, note workflow.Transition) {
	next := s.KeptVerify()
	edited := !workflow.SameVerifyCommands(s.VerifyCommands, next)
	if next == nil {
		next = map[workflow.StageID]workflow.VerifyCommand{}
	}
	var news []string
	stages, plans := map[string][]string{}, g.plans(s.Workflow, s.KeptVerify(), g.at())
	for _, stage := range verifiable(s.Workflow) {
		text := planText(plans[stage])
		if text == "" {
			continue
		}
		if stages[text] == nil {
			news = append(news, text)
		}
		stages[text] = append(stages[text], string(stage))
		next[stage] = plans[stage].Keep
	}
	for i, text := range news {
		news[i] = fmt.Sprintf("verify of %s: %s", strings.Join(stages[text], ", "), text)
	}
	if edited {
		news = append(news, "verify: the session file was edited, and the commands of its history count")
	}
	if len(news) == 0 {
		return
	}
	note.Event, note.Policy, note.VerifyCommands = workflow.EventPolicyChanged, strings.Join(news, "; "), s.KeepVerify(next)
	s.Note(note)
}

// AcceptVerify notes that the person has decided in knowledge of how the configuration
// differs from the session's commands. It returns the commands for the decision's entry.
func AcceptVerify(s *standing.Standing) map[workflow.StageID]workflow.VerifyCommand {
	seen := s.Evidence()
	if seen == nil || seen.ChangedTo == nil {
		return nil
	}
	next, accepted := s.KeptVerify(), false
	for stage, kept := range next {
		if kept.Command == seen.Command && kept.Instead != nil && verify.Same(*kept.Instead, *seen.ChangedTo) && !kept.Accepted {
			kept.Accepted, accepted = true, true
			next[stage] = kept
		}
	}
	if !accepted {
		return nil
	}
	return s.KeepVerify(next)
}

// planText says how a session's verify command changes; "" if it does not.
func planText(p verify.Plan) string {
	steps := make([]string, len(p.Changes))
	for i, c := range p.Changes {
		steps[i] = words.VerifyChange(c.Before, c.After)
	}
	return strings.Join(steps, "; ")
}
