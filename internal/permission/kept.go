package permission

import (
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/cmdline"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// plan decides between the command that a session keeps for a stage and the configured one.
func (g *Guard) plan(stage workflow.StageID, kept workflow.VerifyCommand, at time.Time) verify.Plan {
	c := g.project.Config
	now := verify.Configured{Command: c.Verify[stage], By: c.VerifyBy[stage]}
	if own, says := c.PersonVerify[stage]; says {
		now.Person = &own
	}
	if a := g.permits().Command(now.Command, now.By); now.Command != "" && a != nil {
		now.Allowed = &a.At
	}
	return verify.NewPlan(kept, now, at)
}

// verifiable returns the stages of a workflow whose submission a verify command can check.
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
	for _, stage := range verifiable(s.Definition()) {
		if keep := g.plan(stage, workflow.VerifyCommand{}, s.CreatedAt).Keep; keep.Command != "" {
			commands[stage] = keep
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
	stages := map[string][]string{}
	for _, stage := range verifiable(s.Workflow) {
		plan := g.plan(stage, next[stage], note.At)
		text := planText(s.Language, plan)
		if text == "" {
			continue
		}
		if stages[text] == nil {
			news = append(news, text)
		}
		stages[text] = append(stages[text], string(stage))
		next[stage] = plan.Keep
	}
	for i, text := range news {
		news[i] = s.Say("verify of %s: %s", strings.Join(stages[text], ", "), text)
	}
	if edited {
		news = append(news, s.Say("verify: the session file was edited, and the commands of its history count"))
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
		if kept.Command == seen.Command && kept.Instead != nil && cmdline.Same(*kept.Instead, *seen.ChangedTo) && !kept.Accepted {
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
func planText(l lang.Language, p verify.Plan) string {
	steps := make([]string, len(p.Changes))
	for i, c := range p.Changes {
		steps[i] = words.VerifyChange(c.Before, c.After).In(l)
	}
	return strings.Join(steps, "; ")
}
