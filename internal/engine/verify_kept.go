package engine

import (
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// configuredVerify returns the configured verify command of a stage.
func configuredVerify(c config.Config, have permits, stage workflow.StageID) verify.Configured {
	now := verify.Configured{Command: c.Verify[stage], By: c.VerifyBy[stage]}
	if own, says := c.PersonVerify[stage]; says {
		now.Person = &own
	}
	if a := have().Command(now.Command, now.By); now.Command != "" && a != nil {
		now.Allowed = &a.At
	}
	return now
}

// verifyPlans decides for each stage between the command that a session keeps and the
// configured one.
func verifyPlans(w *workflow.Definition, c config.Config, have permits, kept map[workflow.StageID]workflow.VerifyCommand, at time.Time) map[workflow.StageID]verify.Plan {
	out := map[workflow.StageID]verify.Plan{}
	for _, stage := range verifiable(w) {
		out[stage] = verify.NewPlan(kept[stage], configuredVerify(c, have, stage), at)
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

func (v *verifier) plans(s *standing.Standing) map[workflow.StageID]verify.Plan {
	return verifyPlans(s.Workflow, v.project.Config, v.have, s.KeptVerify(), v.Now())
}

// keepVerify gives a new session its verify commands.
func (e *Engine) keepVerify(p *project.Project, s *workflow.Session) {
	commands := map[workflow.StageID]workflow.VerifyCommand{}
	for stage, plan := range verifyPlans(s.Definition(), p.Config, e.permits(p), nil, s.CreatedAt) {
		if plan.Keep.Command != "" {
			commands[stage] = plan.Keep
		}
	}
	if len(commands) > 0 {
		s.History[0].VerifyCommands = s.KeepVerify(commands)
	}
}

// noteVerify records in the history how the session's verify commands have changed since
// its last change.
func (r *run) noteVerify(s *standing.Standing) {
	next := s.KeptVerify()
	edited := !workflow.SameVerifyCommands(s.VerifyCommands, next)
	if next == nil {
		next = map[workflow.StageID]workflow.VerifyCommand{}
	}
	var news []string
	stages, plans := map[string][]string{}, r.verifier(r.project).plans(s)
	for _, stage := range verifiable(s.Workflow) {
		text := planText(s.Language, plans[stage])
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
		news[i] = s.Say("verify of %s: %s", strings.Join(stages[text], ", "), text)
	}
	if edited {
		news = append(news, s.Say("verify: the session file was edited, and the commands of its history count"))
	}
	if len(news) == 0 {
		return
	}
	s.Note(workflow.Transition{
		At: r.Now(), Action: r.req.Action, Event: workflow.EventPolicyChanged, By: r.req.By,
		Policy: strings.Join(news, "; "), VerifyCommands: s.KeepVerify(next),
	})
}

// acceptVerify notes that the person has decided in knowledge of how the configuration
// differs from the session's commands. It returns the commands for the decision's entry.
func acceptVerify(s *standing.Standing) map[workflow.StageID]workflow.VerifyCommand {
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
func planText(l lang.Language, p verify.Plan) string {
	steps := make([]string, len(p.Changes))
	for i, c := range p.Changes {
		steps[i] = words.VerifyChange(c.Before, c.After).In(l)
	}
	return strings.Join(steps, "; ")
}
