package web

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
)

// showNewRun shows the form for a new run.
func (d *Dashboard) showNewRun(a *asked) (templ.Component, error) {
	a.page.Title = a.lang.Say("New run")
	a.page.Trail = []link{{"/runs", a.lang.Say("Runs")}}
	chosen, err := d.projects.choose(a, "/new")
	if err != nil {
		return nil, err
	}
	chosen.Searches = false
	out := newRunPage{selection: chosen, Here: d.o.Runs != nil, ReadOnly: d.door.readOnly}
	if !out.Here || out.ReadOnly || chosen.Project.ID == "" {
		return newRunScreen(a.lang, out), nil
	}
	out.Workflows, err = d.o.Engine.Workflows(addressOf(chosen.Project))
	out.Nonce = d.nonces.add(startsRun, d.door.now())
	return newRunScreen(a.lang, out), err
}

// redirectRun redirects from the former address of a run without a host.
func (d *Dashboard) redirectRun(w http.ResponseWriter, r *http.Request) {
	a := &asked{Context: r.Context(), r: r, lang: languageOf(w, r)}
	s, p, err := d.projects.sessionOf(a)
	if err == nil {
		http.Redirect(w, r, p.Run(s.TaskName), http.StatusSeeOther)
		return
	}
	d.screens.handleScreen("run", func(*asked) (templ.Component, error) { return nil, err }).ServeHTTP(w, r)
}

// newRunPage is the form for a new run.
type newRunPage struct {
	selection
	Workflows []engine.Workflow
	Nonce     string
	// Here reports whether runs can be started from the pages of this system, ReadOnly whether the pages only show.
	Here, ReadOnly bool
}
