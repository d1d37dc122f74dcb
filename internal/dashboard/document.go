package dashboard

import (
	"github.com/bmad-mcp/bmad-mcp/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// documentPage is a document of a run, for review.
type documentPage struct {
	Project folder
	Session *workflow.Session
	Stage   workflow.Stage
	Text    string
}

func (d *Dashboard) document(a *asked) (any, error) {
	req, p, err := d.request(a)
	if err != nil {
		return nil, err
	}
	s, _, _, err := d.o.Engine.Inspect(a, req.Address())
	if err != nil {
		return nil, err
	}
	st, ok := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !ok {
		return nil, fault.New(fault.NotFound, "the run has no stage %q", a.r.PathValue("stage")).WithHint("its page lists its stages")
	}
	out := documentPage{Project: p, Session: s, Stage: st}
	a.page.Title, a.page.Follow = a.lang.Say("%s of %s", st.DocumentIn(a.lang), s.TaskName), p.ID+"/"+s.SessionID
	a.page.Trail = []link{{p.Href(), p.Name}, {p.Run(s.TaskName), s.TaskName}}
	if rounds := documents.Rounds(s, st.ID); len(rounds) > 0 {
		texts, err := d.o.Engine.Submissions(a, req.Address(), st.ID, rounds[len(rounds)-1].Iteration)
		if err != nil {
			return nil, err
		}
		out.Text = texts[0].Text
	}
	return out, nil
}
