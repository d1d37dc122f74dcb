package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// configured returns what the configuration says of a stage's verify command.
func (p *Project) configured(have permits, stage workflow.StageID) configuredVerify {
	now := configuredVerify{command: p.Config.Verify[stage], by: p.Config.VerifyBy[stage]}
	if own, says := p.Config.PersonVerify[stage]; says {
		now.person = &own
	}
	if a := have.command(now.command, now.by); now.command != "" && a != nil {
		now.allowed = &a.At
	}
	return now
}

// plansFor decides for each stage between what a session keeps and what is configured.
func (p *Project) plansFor(w *workflow.Definition, have permits, kept map[workflow.StageID]workflow.VerifyCommand, at time.Time) map[workflow.StageID]verifyPlan {
	out := map[workflow.StageID]verifyPlan{}
	for _, stage := range verifiable(w) {
		out[stage] = planVerify(kept[stage], p.configured(have, stage), at)
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

func (r run) verifyPlans(s *workflow.Session) map[workflow.StageID]verifyPlan {
	return r.project.plansFor(r.workflow(s), r.permits(r.project), s.KeptVerify(), r.Now())
}

// keepVerify gives a session that is started its verify commands.
func (e *Engine) keepVerify(p *Project, s *workflow.Session) {
	commands := map[workflow.StageID]workflow.VerifyCommand{}
	for stage, plan := range p.plansFor(s.Definition(), e.permits(p), nil, s.CreatedAt) {
		if plan.keep.Command != "" {
			commands[stage] = plan.keep
		}
	}
	if len(commands) > 0 {
		s.History[0].VerifyCommands = s.KeepVerify(commands)
	}
}

// noteVerify records in the history what has become of the session's verify commands
// since its last change.
func (r run) noteVerify(s *workflow.Session) {
	next := s.KeptVerify()
	edited := !workflow.SameVerifyCommands(s.VerifyCommands, next)
	if next == nil {
		next = map[workflow.StageID]workflow.VerifyCommand{}
	}
	var news []string
	plans := r.verifyPlans(s)
	stages := map[string][]string{}
	for _, stage := range verifiable(r.workflow(s)) {
		plan := plans[stage]
		if plan.news == "" {
			continue
		}
		if stages[plan.news] == nil {
			news = append(news, plan.news)
		}
		stages[plan.news] = append(stages[plan.news], string(stage))
		next[stage] = plan.keep
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
	s.Note(workflow.Transition{
		At: r.Now(), Action: r.req.Action, Event: workflow.EventPolicyChanged, By: r.req.By,
		Policy: strings.Join(news, "; "), VerifyCommands: s.KeepVerify(next),
	})
}

// acceptVerify notes that the person has decided knowing how the configuration differs
// from the session's commands. It returns what the entry of that decision holds.
func (r run) acceptVerify(s *workflow.Session) map[workflow.StageID]workflow.VerifyCommand {
	seen := evidenceFor(s)
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
