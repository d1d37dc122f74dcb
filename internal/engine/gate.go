package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Gate returns the question of a waiting session, as a channel would put it to the person; for a reopen or cancel,
// whether the session leaves its stage. It asks nobody, and changes nothing. The error has no language yet.
func (e *Engine) Gate(ctx context.Context, req request.Request) (gate.Question, error) {
	p, id, err := e.Projects().Find(ctx, req.Address)
	if err != nil {
		return gate.Question{}, err
	}
	defer p.Close()
	if req.Action != workflow.ActionReopen && req.Action != workflow.ActionCancel {
		req.Action = workflow.ActionStatus
	}
	return e.newRun(p, id, req, e.memory.count.Add(1)).pendingQuestion(ctx)
}

func (r *run) pendingQuestion(ctx context.Context) (gate.Question, error) {
	s, err := r.readStanding(ctx)
	if err != nil {
		return gate.Question{}, err
	}
	if err := refuseStopped(s); err != nil { // nobody would be asked
		return gate.Question{}, err
	}
	if r.req.Language != "" {
		s.Language = r.req.Language
	}
	switch {
	case r.req.Action == workflow.ActionReopen:
		return gate.Leave(s, workflow.DecisionReopen, words.ReopenLabel(workflow.StageID(r.req.Stage)), r.req.Feedback), nil
	case r.req.Action == workflow.ActionCancel:
		return gate.Leave(s, workflow.DecisionCancel, words.CancelLabel, r.req.Feedback), nil
	case s.Session.CurrentState == workflow.Clarifying:
		return gate.AskQuestions(s), nil
	case s.Session.CurrentState.Gated():
		return r.gateQuestion(s), nil
	}
	return gate.Question{}, words.NothingWaits(s.Session)
}

// gateQuestion returns the question at the session's gate, with an offer if the project has one.
func (r *run) gateQuestion(s *standing.Standing) gate.Question {
	s.Offer = r.engine.person.In(r.project).Offer(s).Offered()
	return gate.Ask(s)
}

// newGrant makes the record of an answer, which may have come from anywhere.
func (r *run) newGrant(ctx context.Context, s *standing.Standing, policy workflow.GateMode, b gate.Bound, a gate.Response) (workflow.Grant, error) {
	g := workflow.Grant{
		Channel: a.Channel, Assurance: a.Channel.Assurance(), Decision: a.Decision, Feedback: visible.Trim(a.Feedback),
		Client: r.req.By, Person: r.engine.personOf(r.project), At: r.engine.Now(), Stage: s.Session.CurrentStage, Revision: s.Session.Revision, SHA256: b.SHA256, Policy: policy,
		Passkey: a.Passkey,
	}
	if a.Took > 0 {
		g.TookMS = new(a.Took.Milliseconds())
	}
	if err := request.CheckText("feedback", g.Feedback, request.MaxFeedback); err != nil {
		return g, err
	}
	var err error
	g.Comments, err = r.numberComments(ctx, s, a)
	return g, err
}

// signDecision has a decision signed with the key of sign_with. Without one this machine signs it, with the entry
// of the history. It comes before any change: an agent can ask the person to touch a security key.
func (r *run) signDecision(ctx context.Context, s *workflow.Session, g *workflow.Grant) (err error) {
	key := r.project.Config.SignWith
	if key == "" || r.engine.keeper.records == nil {
		return nil
	}
	hint := lang.T("add the key to your SSH agent (ssh-add), and start the program with SSH_AUTH_SOCK; nothing was changed")
	if r.engine.options.Agent == "" {
		return fault.New(fault.Storage, "there is no SSH agent that signs the decision with the key of sign_with (%s)", key.Fingerprint()).WithHint("%s", hint)
	}
	g.Signature, err = signature.SignWith(ctx, r.engine.options.Agent, key, g.Statement(s.SessionID, s.TaskName))
	if err != nil {
		return fault.New(fault.Storage, "the decision is not signed with the key of sign_with (%s): %w", key.Fingerprint(), err).WithHint("%s", hint)
	}
	return nil
}

// newGateGrant makes the record of a decision at a gate, if the gate takes it.
func (r *run) newGateGrant(ctx context.Context, s *standing.Standing, b gate.Bound, a gate.Response) (workflow.Grant, error) {
	g, err := r.newGrant(ctx, s, s.Policy.Gate, b, a)
	if err != nil {
		return g, err
	}
	if g.Offer = a.Offer; g.Offer != nil { // the project's files may have changed since the person was asked
		r.accepted = r.engine.person.In(r.project).Offer(s)
		if err := r.accepted.Take(g.Offer, g.Channel); err != nil {
			return g, err
		}
	}
	return gate.Granted(s, g)
}

// numberComments returns a person's comments on the waiting document in the form of the record.
func (r *run) numberComments(ctx context.Context, s *standing.Standing, a gate.Response) ([]workflow.Comment, error) {
	switch a.Decision {
	case workflow.DecisionReopen, workflow.DecisionCancel, workflow.DecisionAdopt:
		if len(a.Comments) > 0 {
			return nil, words.CommentsNotTaken(string(a.Decision))
		}
	}
	if len(a.Comments) == 0 {
		return nil, nil
	}
	rec := s.Session.Current()
	if s.Draft.Text == "" {
		return nil, words.EditedDraft(s)
	}
	lines := slices.Collect(strings.Lines(s.Draft.Text))
	var code codediff.Changes
	if slices.ContainsFunc(a.Comments, func(c workflow.Comment) bool { return c.File != "" }) {
		found, err := r.disk.Code(ctx, s.Session)
		if err != nil {
			return nil, err
		}
		if found != nil {
			code = found.Changes
		}
	}
	checked, err := request.CheckComments(a.Comments, len(lines), code)
	if err != nil {
		return nil, err
	}
	return s.Session.NumberComments(rec.Iteration, checked), nil
}

// addChangeRequests makes the comments of a decision the change requests of the stage at work next. on names the
// document of the decision.
func addChangeRequests(s *standing.Standing, g workflow.Grant, on workflow.ChangeRequest) {
	if on.At = g.At; on.Stage == s.Session.CurrentStage {
		on.Stage = ""
	}
	s.Session.Current().AddRequests(g.Comments, on)
}
