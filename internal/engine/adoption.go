package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Adopt lets the person accept a session that was changed by other hands, as it is. It is
// not an action of the tool: req.Ask has to be a person at a terminal. The history records
// the finding.
func (e *Engine) Adopt(ctx context.Context, req Request) (*Reply, error) {
	call := e.memory.count.Add(1)
	req.Action = workflow.ActionAdopt
	p, id, err := e.projects.Find(ctx, req.Address())
	if err != nil {
		return nil, fault.From(err)
	}
	defer p.Close()
	r := e.run(p, id, req, call)
	reply, err := r.adoptChanged(ctx)
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	reply.Fit()
	return reply, nil
}

func (r *run) adoptChanged(ctx context.Context) (*Reply, error) {
	stored, err := r.get(ctx)
	if err != nil {
		return nil, err
	}
	before := r.known(stored)
	found := before.Integrity
	if err := adoptable(before); err != nil {
		return nil, err
	}
	grant, err := r.acceptance(ctx, before)
	if err != nil {
		return nil, err
	}
	signer, err := r.trust.Signer(ctx) // without a seal the acceptance would not count
	if err != nil {
		return nil, err
	}
	after, err := r.project.Backend.Update(ctx, r.id, func(_ store.Tx, s *workflow.Session) error {
		c := r.recordOf(signer, r.project, r.id)
		now := s.VerifyAgainst(signer, c).In(before.Language)
		if s.Revision != before.Revision || now.Problem != found.Problem || now.Broken != found.Broken {
			return fault.New(fault.Conflict, "the session was changed once more while you decided").WithHint("look at it again: repeat the command")
		}
		if c != nil { // a revision is never reused, not even after an older file was put back
			s.Revision = max(s.Revision, c.Revision)
		}
		s.Adopt(signer, now, workflow.Transition{At: r.Now(), Action: workflow.ActionAdopt, By: r.req.By, Feedback: grant.Feedback, Grant: grant})
		s.UpdatedAt = r.Now()
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.found = finding{}
	r.record(ctx, after)
	r.memory.show(r.key(after.SessionID), after.Revision)
	s := r.standing(ctx, after)
	s.Call.Action = workflow.ActionStatus // the reply describes the next step as a status does
	return r.reply(s, reply.Light, words.Adopted(s)+words.Message(s))
}

// adoptable refuses to adopt a session that nobody has changed.
func adoptable(s *standing.Standing) error {
	if !s.Trusting {
		return fault.New(fault.Storage, "there is no key to seal histories with").WithHint("run it where the server has its state folder")
	}
	if !s.Integrity.Changed() {
		return fault.New(fault.NotAllowed, "there is nothing to adopt: nothing shows that %s was changed by other hands", s.TaskName).
			WithHint("go on with it: %s", words.NextMoveOf(s.Session))
	}
	return nil
}

// acceptance asks the person at the terminal.
func (r *run) acceptance(ctx context.Context, s *standing.Standing) (*workflow.Grant, error) {
	if r.req.Ask == nil {
		return nil, words.NotAdopted(s, lang.T("only a person at a terminal can adopt a session"))
	}
	q := Question{
		Bound: gate.Bind(s), Language: s.Language, TaskName: s.TaskName, Cwd: s.Folder, Title: words.Place(s), Text: words.AdoptQuestion(s),
		Choices: []Choice{{Decision: workflow.DecisionAdopt, Label: words.AdoptLabel.In(s.Language)}},
	}
	q.Action, q.SHA256 = workflow.ActionAdopt, ""
	a, err := r.ask(ctx, s, q)
	switch {
	case err != nil:
		return nil, err
	case a.Decision != workflow.DecisionAdopt:
		return nil, fault.New(fault.GatePending, "nothing was adopted: %s", a.Silence.Why).
			WithHint("repeat the command when you have decided, or put the session file back as it was")
	case a.Channel != workflow.ChannelTerminal:
		return nil, words.NotAdopted(s, lang.T("only a person at a terminal can adopt a session, and this came by %s", a.Channel))
	}
	policy := s.Policy.Gate
	if s.Stopped {
		policy = workflow.GateStrict
	}
	g, err := r.recorded(s, policy, q.Bound, a)
	return &g, err
}
