package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// adopt lets the person accept a session as it is after other hands have changed it. The history records the
// finding.
func (r *run) adopt(ctx context.Context) (Outcome, error) {
	stored, err := r.check.readSession(ctx)
	if err != nil {
		return Outcome{}, err
	}
	before := r.gatherFacts(stored)
	r.disk.GatherSaved(ctx, before)
	if r.req.Restore {
		return r.restoreTexts(ctx, before)
	}
	switch {
	case !before.Trusting:
		return Outcome{}, fault.New(fault.Storage, "there is no key to sign histories with").WithHint("run it where the server has its state folder")
	case !before.Doubtful() && len(before.Altered) == 0 && len(before.Loosened()) == 0:
		return Outcome{}, fault.New(fault.NotAllowed,
			"there is nothing to adopt: nothing shows that %s was changed by other hands, its approved texts are as approved, and the settings ask for no less",
			before.Session.TaskName).
			WithHint("go on with it: %s", words.NextMoveOf(before.Session))
	}
	grant, err := r.askAcceptance(ctx, before)
	if err != nil {
		return Outcome{}, err
	}
	rules := policiesOf(before.Settings)
	after, err := r.check.adopt(ctx, stored, workflow.Transition{At: r.engine.Now(), Action: workflow.ActionAdopt,
		By: r.req.By, Person: r.engine.personOf(r.project), Feedback: grant.Feedback, Grant: grant,
		Rules: rules, Policy: lang.Join(words.PolicyChanges(before.Settings, stored.Policy, rules), "; ").In(before.Language)}, before.Altered, rules,
		func(s *workflow.Session) []workflow.Alteration {
			r.disk = documents.On(r.project) // the files may have changed while the person was asked
			return r.disk.Altered(ctx, s, r.check.found)
		})
	if err != nil {
		return Outcome{}, err
	}
	s := r.gatherAll(ctx, after)
	r.writeStatement(ctx, stored, s)
	s.Call.Action = workflow.ActionStatus // the reply describes the next step as a status does
	return r.buildReply(ctx, s, reply.Light, s.Say("Adopted as it is, in entry %d of the history, which records the finding.\n\n", len(s.Session.History))+words.Message(s))
}

// restoreTexts puts altered texts back as they were approved. It needs no person, since it decides nothing.
func (r *run) restoreTexts(ctx context.Context, s *standing.Standing) (Outcome, error) {
	switch {
	case s.Doubtful():
		return Outcome{}, fault.New(fault.NotAllowed, "%s was changed by other hands, so that nothing shows which texts were approved: %s", s.Session.TaskName, s.Integrity.Reason()).
			WithHint("put the session file back as it was, or accept it first: %s adopt %s", s.Names.Program, s.Session.TaskName)
	case len(s.Altered) == 0:
		return Outcome{}, fault.New(fault.NotAllowed, "there is nothing to restore: the approved texts of %s are as they were approved", s.Session.TaskName).
			WithHint("go on with it: %s", words.NextMoveOf(s.Session))
	}
	said, err := r.disk.Restore(ctx, s, r.engine.Now())
	if err != nil {
		return Outcome{}, err
	}
	now := r.gatherAll(ctx, s.Session)
	now.Call.Action = workflow.ActionStatus // the reply describes the next step as a status does
	return r.buildReply(ctx, now, reply.Light, said+"\n"+words.Message(now))
}

// askAcceptance asks the person at the terminal.
func (r *run) askAcceptance(ctx context.Context, s *standing.Standing) (*workflow.Grant, error) {
	refuse := func(problem lang.Text) error {
		return fault.New(fault.GatePending, "%s", problem).WithHint("type it in a terminal of your own: %s adopt %s", s.Names.Program, s.Session.TaskName)
	}
	if r.req.Ask == nil {
		return nil, refuse(lang.T("only a person at a terminal can adopt a run"))
	}
	q := gate.Question{
		Bound: gate.Bind(s), Language: s.Language, TaskName: s.Session.TaskName, Cwd: s.Folder, Title: words.Place(s), Text: words.AdoptQuestion(s),
		Choices: []gate.Choice{{Decision: workflow.DecisionAdopt, Label: words.AdoptLabel.In(s.Language)}},
	}
	q.Action, q.SHA256 = workflow.ActionAdopt, ""
	a, err := r.putQuestion(ctx, s, q)
	switch {
	case err != nil:
		return nil, err
	case a.Decision != workflow.DecisionAdopt:
		return nil, fault.New(fault.GatePending, "nothing was adopted: %s", a.Silence.Why).
			WithHint("repeat the command when you have decided, or put the session file back as it was")
	case a.Channel != workflow.ChannelTerminal:
		return nil, refuse(lang.T("only a person at a terminal can adopt a run, and this came by %s", a.Channel))
	}
	policy := s.Policy.Gate
	if s.Stopped() {
		policy = workflow.GateStrict
	}
	g, err := r.newGrant(ctx, s, policy, q.Bound, a)
	if err == nil {
		err = r.signDecision(ctx, s.Session, &g)
	}
	return &g, err
}
