package method

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// maxLine bounds each line of a stage's persona, in bytes: it goes into every briefing.
const maxLine = 300

// Persona describes who of the method acts in a stage of a project, which any of the agents can.
func (l *Library) Persona(project, stage string, agents []string) (string, error) {
	s := l.At(project)
	if s.Empty() {
		return "", s.noInstallation()
	}
	i, ok := s.stageAgent(agents)
	if !ok {
		return "", fault.New(fault.NotFound, "the installation has no agent for the stage %s; looked for %s", stage, strings.Join(agents, ", "))
	}
	r, err := s.resolveItem(i)
	if err != nil {
		return "", err
	}
	p := r.Persona
	var b strings.Builder
	fmt.Fprintf(&b, "You act as %s (BMAD agent %s).\n", agentHeading(p, i), i.Full())
	line := func(name, text string) {
		if text = format.OneLine(text); text != "" {
			fmt.Fprintf(&b, "\n- %s: %s", name, visible.Fit(text, maxLine))
		}
	}
	line("Role", p.Role)
	line("Identity", p.Identity)
	line("Style", p.Style)
	line("Focus", p.Focus)
	line("Customization", p.Custom)
	for _, c := range r.Config {
		switch c.Key {
		case "user_name":
			line("The person is called", c.Value)
		case "communication_language":
			line("Speak with them in", c.Value)
		case "document_output_language":
			line("Write documents in", c.Value)
		}
	}
	for _, list := range []struct {
		name  string
		items []string
	}{{"Before all else", p.Critical}, {"Always true", p.Facts}, {"Principle", p.Principles}} {
		for _, item := range list.items {
			if item = visible.Fit(format.OneLine(item), maxLine); b.Len()+len(item)+len(list.name) < maxPersona {
				line(list.name, item)
			}
		}
	}
	return b.String(), nil
}

// Character returns an agent's name with the title, and the agent's persona in Markdown, or the whole text
// for want of a persona in fields.
func (s *Snapshot) Character(name string) (heading, persona string, err error) {
	i, r, err := s.openItem(name, catalog.Agent)
	if err != nil {
		return "", "", err
	}
	var d briefing
	d.addPersona(&resolve.Resolved{Persona: r.Persona})
	persona = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(d.text.String()), "## Persona"))
	if persona == "" && len(r.Parts) > 0 {
		persona = r.Parts[0].Text
	}
	return agentHeading(r.Persona, i), persona, nil
}

// Actions returns the entries of an agent's menu.
func (s *Snapshot) Actions(i catalog.Item) []string { return s.menuOf(i).actions }

// menu is what an agent offers: the entries as people read them, and the names of the items behind them.
type menu struct{ actions, offers []string }

// menuOf returns an agent's menu. A list of agents asks for all menus, so they are kept as long as the
// snapshot.
func (s *Snapshot) menuOf(i catalog.Item) (m menu) {
	key := i.Source + " " + i.Full()
	if known, ok := s.menus.Load(key); ok {
		return known.(menu)
	}
	if r, err := s.resolveItem(i); err == nil {
		m.offers = r.Offers
		for _, entry := range r.Persona.Menu {
			m.actions = append(m.actions, format.OneLine(cmp.Or(entry.Description, entry.Code)))
		}
	}
	s.menus.Store(key, m)
	return m
}

// offeredBy returns the names of the agents that offer an item.
func (s *Snapshot) offeredBy(i catalog.Item) (agents []string) {
	for _, agent := range s.Catalog.Items(catalog.Agent) {
		if slices.Contains(s.menuOf(agent).offers, i.Full()) {
			agents = format.AppendNew(agents, agent.Name)
		}
	}
	return agents
}

// maxPersona bounds a stage's persona, in bytes: lists end there. Single lines have
// their own bound, maxLine.
const maxPersona = 1700

// stageAgent returns the first existing one of some agents. If several modules have an agent of this name,
// the method's own for software, bmm, goes first.
func (s *Snapshot) stageAgent(names []string) (catalog.Item, bool) {
	agents := s.Catalog.Items(catalog.Agent)
	for _, name := range names {
		var found []catalog.Item
		for _, i := range agents {
			if i.Short() == name {
				found = append(found, i)
			}
		}
		if at := slices.IndexFunc(found, func(i catalog.Item) bool { return i.Module == "bmm" || i.Module == "bmad-core" }); len(found) > 0 {
			return found[max(at, 0)], true
		}
	}
	return catalog.Item{}, false
}
