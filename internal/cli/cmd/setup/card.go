package setup

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/remote"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// cardOptions are the flags about an agent of another server.
type cardOptions struct{ address, variable string }

// maxSkills bounds the skills of a card that are shown.
const maxSkills = 20

// showCard shows the card of an agent of another server, and returns the permission to give tasks to it.
func (o cardOptions) showCard(ctx context.Context, term *terminal.Terminal, project string) (w engine.Want, err error) {
	if _, err = term.Person(); err != nil {
		return w, err
	}
	address, err := remote.ParseAddress(o.address)
	if err != nil {
		return w, err
	}
	token, err := remote.ReadToken(o.variable)
	if err != nil {
		return w, err
	}
	card, err := remote.Fetch(ctx, address, token)
	if err != nil {
		return w, err
	}
	short := func(text string) string { return visible.Fit(text, 300) }
	term.Say("agent: %s (%s)", short(card.Name), short(card.Description))
	if p := card.Provider; p != nil {
		term.Say("provider: %s %s", short(p.Org), short(p.URL))
	}
	for _, skill := range card.Skills[:min(len(card.Skills), maxSkills)] {
		term.Say("skill: %s: %s", short(skill.Name), short(skill.Description))
	}
	if more := len(card.Skills) - maxSkills; more > 0 {
		term.Say("and %d skills more", more)
	}
	term.Say("tasks go to: %s", card.Endpoint)
	if card.IsElsewhere {
		term.Say("That is another server than the card's. A token is not sent there.")
	}
	w.Allowance = trust.Allowance{Project: project, Kind: trust.KindCard, Text: address, SHA256: card.SHA256, At: term.Now()}
	if w.Use = mcpserver.DelegateTool; o.variable != "" {
		w.Text = "$" + o.variable + " " + address
		term.Say("The token in %s is sent to the server of the card.", "$"+o.variable)
	}
	return w, nil
}

// listCards returns the allowed cards of a project.
func listCards(project string) (out []engine.Want) {
	for _, a := range app.Trust().OfKind(project, trust.KindCard) {
		out = append(out, engine.Want{Allowance: a, Use: mcpserver.DelegateTool, Allowed: true})
	}
	return out
}
