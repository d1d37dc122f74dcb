package engine

import (
	"context"

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

// canSign reports whether steps are signed, as far as that shows before the first one.
func (k *keeper) canSign() bool {
	k.signing.Lock()
	defer k.signing.Unlock()
	return k.records != nil && !k.failed && k.records.CanSign()
}
