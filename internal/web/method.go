package web

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// maxItems bounds the items of the method on one page.
const maxItems = 500

// methodPage is the catalog of the BMAD method that a project has.
type methodPage struct {
	selection
	Kinds []methodKind
	// Problems are the parts that were skipped, Sources the places that were searched.
	Problems []catalog.Problem
	Sources  []method.SearchedSource
	// Trouble says that nothing is installed.
	Trouble *fault.Error
	More    bool
}

// methodKind is the agents, the workflows or the tasks.
type methodKind struct {
	Kind    catalog.Kind
	Label   string
	Count   int
	Modules []methodModule
}

// methodModule is the items of one module.
type methodModule struct {
	Name  string
	Items []methodItem
}

// methodItem is an item with the address of its page.
type methodItem struct {
	catalog.Item
	Href string
}

// methodWays are the commands by which the reader of an item's text reaches the things that it names.
var methodWays = method.ToolNames{Read: "bmad-mcp method show ADDRESS", Workflow: "bmad-mcp method show NAME", Agent: "bmad-mcp method show NAME"}

// shelf returns the method as a project has it; nil if the program serves none.
func (d *Dashboard) shelf(a *asked, p folder) *method.Snapshot {
	if d.o.Library == nil {
		return nil
	}
	return d.o.Library.At(p.Path).Speaking(func() lang.Language { return a.lang })
}

// method lists the agents, workflows and tasks of a project.
func (d *Dashboard) method(a *asked) (templ.Component, error) {
	c, err := d.choose(a, "/method")
	if err != nil {
		return nil, err
	}
	a.page.Title = a.lang.Say("BMAD method")
	out := methodPage{selection: c}
	s := d.shelf(a, c.Project)
	if s == nil || s.Empty() {
		out.Trouble = fault.From(catalog.NoInstallation()).Translated(a.lang)
		if s != nil {
			out.Sources = s.Searched()
		}
		return methodScreen(a.lang, out), nil
	}
	items := s.Catalog.Items()
	if c.Query != "" {
		items = nil
		for _, h := range s.Catalog.Search(c.Query) {
			items = append(items, h.Item)
		}
	}
	out.More = len(items) > maxItems
	out.Kinds = methodKinds(a.lang, c.Project, items[:min(len(items), maxItems)])
	out.Problems, out.Sources = s.Check(), s.Searched()
	return methodScreen(a.lang, out), a.Err()
}

// methodKinds sorts items by their kind and module.
func methodKinds(l lang.Language, p folder, items []catalog.Item) []methodKind {
	all := []methodKind{{Kind: catalog.Agent, Label: l.Say("Agents")}, {Kind: catalog.Workflow, Label: l.Say("Workflows")}, {Kind: catalog.Task, Label: l.Say("Tasks")}}
	var out []methodKind
	for _, k := range all {
		at := map[string]int{}
		for _, i := range items {
			if i.Kind != k.Kind {
				continue
			}
			n, known := at[i.Module]
			if !known {
				n, at[i.Module] = len(k.Modules), len(k.Modules)
				k.Modules = append(k.Modules, methodModule{Name: i.Module})
			}
			k.Modules[n].Items = append(k.Modules[n].Items, methodItem{i, itemHref(p, i)})
			k.Count++
		}
		if k.Count > 0 {
			out = append(out, k)
		}
	}
	return out
}

// itemHref returns the address of an item's page.
func itemHref(p folder, i catalog.Item) string {
	return "/method/" + string(i.Kind) + "/" + strings.ReplaceAll(url.PathEscape(i.Full()), "%2F", "/") + p.Chosen()
}
