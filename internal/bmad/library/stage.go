package library

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/format"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// stageAgents are the agents of the method that act in a stage, the likeliest first. Later
// versions have fewer: from 6.3 on, planning the sprints is the product manager's or the
// developer's, and the developer's menu has review and tests.
var stageAgents = map[workflow.StageID][]string{
	workflow.PO:        {"po", "product-owner", "pm", "product-manager"},
	workflow.Architect: {"architect", "solution-architect"},
	workflow.SM:        {"sm", "scrum-master", "pm", "dev"},
	workflow.Dev:       {"dev", "developer"},
	workflow.Review:    {"reviewer", "code-reviewer", "qa", "tea", "dev"},
	workflow.QA:        {"qa", "tea", "tester", "test-architect", "dev"},
}

// maxLine bounds each line of a stage's persona, in bytes: it goes into every briefing.
const maxLine = 300

// Persona describes who of the method acts in a stage of a project.
func (l *Library) Persona(project string, stage workflow.StageID) (string, error) {
	s := l.At(project)
	if s.Empty() {
		return "", s.noInstallation()
	}
	i, ok := s.stageAgent(stage)
	if !ok {
		return "", fault.New(fault.NotFound, "the installation has no agent for the stage %s; looked for %s", stage, strings.Join(stageAgents[stage], ", "))
	}
	r, err := s.resolve(i)
	if err != nil {
		return "", err
	}
	p := r.Persona
	var b strings.Builder
	fmt.Fprintf(&b, "You act as %s (BMAD agent %s).\n", agentHeading(p, i), i.Full())
	line := func(name, text string) {
		if text = format.OneLine(text); text != "" {
			fmt.Fprintf(&b, "\n- %s: %s", name, format.Cut(text, maxLine))
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
			if item = format.Cut(format.OneLine(item), maxLine); b.Len()+len(item)+len(list.name) < maxPersona {
				line(list.name, item)
			}
		}
	}
	return b.String(), nil
}

// maxPersona bounds a stage's persona, in bytes: lists end there. Single lines have
// their own bound, maxLine.
const maxPersona = 1700

// stageAgent returns the agent of a stage. Where several modules have one of that name, the
// method's own for software, bmm, goes first.
func (s *Snapshot) stageAgent(stage workflow.StageID) (catalog.Item, bool) {
	agents := s.Catalog.Items(catalog.Agent)
	for _, name := range stageAgents[stage] {
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
