package web

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// settingsPage is the settings of a project and the state of this machine.
type settingsPage struct {
	selection
	ProjectFile string
	Values      []config.Setting
	// Ignored are the settings of the project's file without effect.
	Ignored []string
	Wants   []engine.Want
	Health
	// Checked reports whether the files of the project were checked, too.
	Checked bool
	browsers
	// Troubles are errors in reading the settings.
	Troubles []string
}

// showSettings shows the settings in force. The page cannot change them.
func (d *Dashboard) showSettings(a *asked) (templ.Component, error) {
	c, err := d.projects.choose(a, "/settings")
	if err != nil {
		return nil, err
	}
	a.page.Title = a.lang.Say("Settings")
	out := settingsPage{selection: c, ProjectFile: config.ProjectFile, Checked: a.r.URL.Query().Has("checks")}
	trouble := func(err error) {
		if err != nil {
			out.Troubles = append(out.Troubles, lang.Of(err).In(a.lang))
		}
	}
	if c.Project.ID != "" {
		trouble(d.readSettings(a, &out))
		_, out.Wants, err = d.o.Engine.Wants(addressOf(c.Project))
		trouble(err)
	}
	out.browsers, err = d.pairedBrowsers()
	trouble(err)
	if d.o.Health != nil {
		out.Health, err = d.o.Health(a, a.lang, c.Project.Path, out.Checked)
		trouble(err)
	}
	return settingsScreen(a.lang, out), a.Err()
}

// readSettings reads the settings of the project.
func (d *Dashboard) readSettings(a *asked, out *settingsPage) error {
	p, err := d.o.Engine.Projects().Open(out.Project.Path)
	if err != nil {
		return err
	}
	defer p.Close()
	out.Values = slices.DeleteFunc(p.Config.Effective(), func(s config.Setting) bool { return s.Value == "" })
	for _, text := range p.Config.Ignored {
		out.Ignored = append(out.Ignored, text.In(a.lang))
	}
	return nil
}
