package dashboard

import (
	"encoding/json"
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/views"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// logPage shows the whole history of a run, and whether it is as it was written.
func (d *Dashboard) logPage(a *asked) (any, error) {
	req, p, err := d.request(a)
	if err != nil {
		return nil, err
	}
	s, found, _, err := d.o.Engine.Inspect(a, req.Address())
	if err != nil {
		return nil, err
	}
	a.page.Title = a.lang.Say("Log of %s", s.TaskName)
	a.page.Follow = p.ID + "/" + s.SessionID
	a.page.Trail = []link{{p.Href(), p.Name}, {p.Run(s.TaskName), s.TaskName}}
	return struct {
		Session *workflow.Session
		Found   workflow.Verification
		Steps   []step
		JSON    string
	}{s, found.In(a.lang), timeline(a, p, s, views.History(s, found), "full"), p.Run(s.TaskName) + "log.json"}, nil
}

// logJSON is the history as bmad-mcp log --json prints it.
func (d *Dashboard) logJSON(w http.ResponseWriter, r *http.Request) {
	a := &asked{Context: r.Context(), r: r, lang: spoken(w, r)}
	req, _, err := d.request(a)
	if err == nil {
		var s *workflow.Session
		var found workflow.Verification
		if s, found, _, err = d.o.Engine.Inspect(a, req.Address()); err == nil {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"session_id": s.SessionID, "task_name": s.TaskName, "verification": found, "entries": views.History(s, found)})
			return
		}
	}
	f := fault.From(err)
	http.Error(w, f.Translated(a.lang).Error(), statusOf(f))
}
