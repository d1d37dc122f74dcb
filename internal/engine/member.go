package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
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

// Person returns the person on whose behalf the engine acts in the project of a folder.
func (e *Engine) Person(folder string) (workflow.Person, error) {
	p, err := e.Projects().Open(folder)
	if err != nil {
		return workflow.Person{}, err
	}
	defer p.Close()
	return e.personOf(p), nil
}

// Vouches reports what a key has to say in a session: began is true if it has signed the start, and counts if its steps count
// here, as those of this machine and of the signers whom the person has allowed in the project.
func (e *Engine) Vouches(ctx context.Context, at project.Address, key signature.Key) (began, counts bool, err error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return false, false, err
	}
	defer p.Close()
	s, err := p.Backend.Get(ctx, id)
	if err != nil || key == "" || len(s.History) == 0 {
		return false, false, err
	}
	signer := e.keeper.readSigner()
	first, _ := signature.MadeBy(s.History[0].Signature) // an unsigned start is by nobody
	counts = keyOf(signer) == key || slices.ContainsFunc(e.keeper.allowedSigners(p, s, signer), func(m workflow.Member) bool { return m.Key == key })
	return first == key, counts, nil
}

// canSign reports whether steps are signed, as far as that shows before the first one.
func (k *keeper) canSign() bool {
	k.signing.Lock()
	defer k.signing.Unlock()
	return k.records != nil && !k.failed && k.records.CanSign()
}
