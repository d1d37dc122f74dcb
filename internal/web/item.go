package web

import (
	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// methodItemPage is one item, resolved.
type methodItemPage struct {
	method.Details
	// Text is the brief by which an assistant acts on it.
	Text render.HTML
}

// methodOne shows one item as an assistant gets it.
func (d *Dashboard) methodOne(a *asked) (templ.Component, error) {
	c, err := d.choose(a, "/method")
	if err != nil {
		return nil, err
	}
	s, kind, name := d.shelf(a, c.Project), catalog.Kind(a.r.PathValue("kind")), a.r.PathValue("name")
	if s == nil {
		return nil, catalog.NoInstallation()
	}
	show := map[catalog.Kind]func(string, string, method.ToolNames) (string, error){catalog.Agent: s.Agent, catalog.Workflow: s.Workflow, catalog.Task: s.Task}[kind]
	if show == nil || len(name) > maxTask {
		return nil, fault.New(fault.NotFound, "the method has no %q", kind).WithHint("its page lists the agents, workflows and tasks")
	}
	out := methodItemPage{}
	if out.Details, err = s.Details(kind, name); err != nil {
		return nil, err
	}
	text, err := show(name, "", methodWays)
	if err != nil {
		return nil, err
	}
	out.Text = render.Document(text).HTML
	a.page.Title, a.page.Trail = out.Name, []link{{"/method" + c.Project.Chosen(), a.lang.Say("BMAD method")}}
	return itemScreen(a.lang, out), nil
}
