package engine

import (
	"context"
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
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
	r := run{Engine: e, project: p, id: id, req: req, call: call, found: new(finding)}
	reply, err := r.adoptChanged(ctx)
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	fit(reply)
	return reply, nil
}

func (r run) adoptChanged(ctx context.Context) (*Reply, error) {
	before, err := r.get(ctx)
	if err != nil {
		return nil, err
	}
	found := r.found.Verification
	if err := r.adoptable(before, found); err != nil {
		return nil, err
	}
	grant, err := r.acceptance(ctx, before, found)
	if err != nil {
		return nil, err
	}
	signer, err := r.trust.Signer(ctx) // without a seal the acceptance would not count
	if err != nil {
		return nil, err
	}
	s, err := r.project.Backend.Update(ctx, r.id, func(_ store.Tx, s *workflow.Session) error {
		c := r.recordOf(signer, r.project, r.id)
		now := s.VerifyAgainst(signer, c)
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
	*r.found = finding{}
	r.record(ctx, s)
	r.memory.show(r.key(s.SessionID), s.Revision)
	r.req.Action = workflow.ActionStatus // the reply describes the next step as a status does
	return r.reply(s, light, fmt.Sprintf("Adopted as it stands, in entry %d of the history; what was found is recorded there.\n\n%s", len(s.History), r.message(s)))
}

// adoptable refuses to adopt a session that nobody has changed.
func (r run) adoptable(s *workflow.Session, found workflow.Verification) error {
	if r.trust == nil {
		return fault.New(fault.Storage, "there is no key to seal histories with").WithHint("run it where the server has its state folder")
	}
	if !found.Changed() {
		return fault.New(fault.NotAllowed, "there is nothing to adopt: nothing shows that %s was changed by other hands", s.TaskName).
			WithHint("go on with it: %s", nextMove(s))
	}
	return nil
}

// acceptance asks the person at the terminal.
func (r run) acceptance(ctx context.Context, s *workflow.Session, found workflow.Verification) (*workflow.Grant, error) {
	if r.req.Ask == nil {
		return nil, fault.New(fault.GatePending, "only a person at a terminal can adopt a session").
			WithHint("type it in a terminal of your own: bmad-mcp adopt %s", s.TaskName)
	}
	q := Question{
		Bound: r.bound(s), TaskName: s.TaskName, Cwd: r.project.Dir.Path(), Title: r.place(s),
		Text: fmt.Sprintf("The session was changed by other hands.\nFound: %s.\nFrom entry %d of %d on it is not known to be what happened.\nIt stands at %s, revision %d.\n"+
			"bmad-mcp log %s shows all of it. Adopting it makes it the session to go on from; the history keeps what was found.",
			found.Problem, found.Broken, len(s.History), s.Place(), s.Revision, s.TaskName),
		Choices: []Choice{{Decision: workflow.DecisionAdopt, Label: "Adopt it as it stands"}},
	}
	q.Action, q.SHA256 = workflow.ActionAdopt, ""
	a, err := r.req.Ask.Ask(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case a.Decision != workflow.DecisionAdopt:
		return nil, fault.New(fault.GatePending, "nothing was adopted: %s", a.Silence.Why).
			WithHint("repeat the command when you have decided, or put the session file back as it was")
	case a.Channel != workflow.ChannelTerminal:
		return nil, fault.New(fault.GatePending, "only a person at a terminal can adopt a session, and this came by %s", a.Channel).
			WithHint("type it in a terminal of your own: bmad-mcp adopt %s", s.TaskName)
	}
	policy := r.policy(s).Gate
	if r.found.stops {
		policy = workflow.GateStrict
	}
	g, err := r.recorded(s, policy, q.Bound, a)
	return &g, err
}
