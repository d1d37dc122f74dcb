package web

import (
	"encoding/json"
	"net/http"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// logOf is the history of a run.
type logOf struct {
	Session *workflow.Session
	Found   workflow.Verification
	Steps   []step
	JSON    string
}

// showLog shows the whole history of a run, with the result of the signature check.
func (d *Dashboard) showLog(a *asked) (templ.Component, error) {
	it, err := d.projects.inspect(a)
	if err != nil {
		return nil, err
	}
	p, s, found := it.project, it.session, it.found
	a.page.Title = a.lang.Say("Log of %s", s.TaskName)
	a.followRun(p, s)
	a.page.Trail = []link{{p.Href(), p.Name}, {p.Run(s.TaskName), s.TaskName}}
	return logScreen(a.lang, logOf{s, found.In(a.lang), timeline(a, p, s, s.Steps(found), "full"), p.Run(s.TaskName) + "log.json"}), nil
}

// logJSON writes the history in the form of bmad-mcp log --json.
func (d *Dashboard) logJSON(w http.ResponseWriter, r *http.Request) {
	a := &asked{Context: r.Context(), r: r, lang: languageOf(w, r)}
	it, err := d.projects.inspect(a)
	if err != nil {
		f := fault.From(err)
		http.Error(w, f.Translated(a.lang).Error(), statusOf(f))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"session_id": it.session.SessionID, "task_name": it.session.TaskName, "verification": it.found, "entries": it.session.Steps(it.found),
	})
}
