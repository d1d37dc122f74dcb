package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// personOf returns the person on whose behalf the engine acts in a project.
func (e *Engine) personOf(p *project.Project) workflow.Person {
	return e.memberOf(p, e.keeper.historySigner)
}

// personSeen is personOf for a look, which makes no key.
func (e *Engine) personSeen(p *project.Project) workflow.Person {
	who := e.memberOf(p, func(context.Context) workflow.Signer { return e.keeper.readSigner() })
	if who.Account != "" && who.Key == "" && who.Subject == "" && e.keeper.canSign() {
		who.Subject = "?" // the key that the next step makes is nobody's yet
	}
	return who
}

// memberOf returns the person. In the store of a team, the role or the key identifies the member.
func (e *Engine) memberOf(p *project.Project, signer func(context.Context) workflow.Signer) workflow.Person {
	who := e.options.Who(p.Dir.Path())
	team, ok := p.Backend.(store.Team)
	if !ok || who.Subject == "" {
		return who
	}
	return who.InTeam(team.Role(), keyOf(signer(context.Background())))
}

// warnOfWorkers returns a sentence for the caller about a run that the workers of a team have, "" for others: a
// submission would race with the worker's. A caller that tells the person itself is such a worker, or the person's own run.
func (r *run) warnOfWorkers(ctx context.Context, s *standing.Standing) string {
	if r.req.Notifies || !isAtWorkers(ctx, r.project, s.Session) {
		return ""
	}
	return words.AtWorkers(s.Language, s.Session.TaskName)
}

// isAtWorkers reports whether the workers of a team have a run. It costs a query only for a run with a branch of its own, as
// each run of a queue has.
func isAtWorkers(ctx context.Context, p *project.Project, s *workflow.Session) bool {
	queued, ok := p.Backend.(store.Queued)
	isAtWork := s.CurrentState.Active() && !s.CurrentState.WaitsForHuman()
	if !ok || !isAtWork || s.Branch == "" {
		return false
	}
	has, err := queued.AtWorkers(ctx, s.SessionID)
	return err == nil && has // the reply does not need it
}

// Person returns the person on whose behalf the engine acts in the project of a folder.
func (e *Engine) Person(folder string) (workflow.Person, error) {
	p, err := e.Projects().Open(folder)
	if err != nil {
		return workflow.Person{}, err
	}
	defer p.Close()
	return e.personOf(p), nil
}

// Voucher is the say of a key in a session.
type Voucher struct {
	// Began is true if the key has signed the start of the session, which nobody has changed since.
	Began bool
	// Counts is true if its steps count here, as those of this machine and of the signers whom the person has allowed.
	Counts bool
	// Strict is true if only the own act of a person opens a gate of the session.
	Strict bool
}

// Vouch returns the say of a key in a session, that of nobody for "".
func (e *Engine) Vouch(ctx context.Context, at project.Address, key signature.Key) (v Voucher, err error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return v, err
	}
	defer p.Close()
	check := e.keeper.newCheck(p, id)
	s, err := check.readSession(ctx)
	if err != nil {
		return v, err
	}
	v.Strict = check.needsPerson(s)
	if key == "" {
		return v, nil
	}
	signer := e.keeper.readSigner()
	v.Began = workflow.BegunUnder(s) == key && !check.found.Changed()
	v.Counts = keyOf(signer) == key || slices.ContainsFunc(e.keeper.allowedSigners(p, s, signer), func(m workflow.Member) bool { return m.Key == key })
	return v, nil
}

// canSign reports whether steps are signed, as far as that shows before the first one.
func (k *keeper) canSign() bool {
	k.signing.Lock()
	defer k.signing.Unlock()
	return k.records != nil && !k.failed && k.records.CanSign()
}
