package web

import (
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// keepDraft keeps the words of a page until they are sent, so that neither another tab nor the
// end of the browser loses them. It decides nothing, but the words are sent as the person's: so
// it takes them of a browser that may decide only. Others keep them by themselves. Words under
// another version than the page knows are those of another page, and its script joins them.
func (d *Dashboard) keepDraft(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxDraft)
	given, name, err := d.draftOf(&asked{Context: r.Context(), r: r, lang: languageOf(w, r)})
	if err != nil {
		refuse(w, r, err)
		return
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	known := r.Header.Get("If-Match")
	if kept := d.drafts.read(name); known != "" && known != kept.Version() {
		w.Header().Set("ETag", kept.Version())
		answer(w, http.StatusPreconditionFailed, kept)
		return
	}
	if len(given) == 0 {
		given = nil
	}
	if err := d.drafts.write(name, given); err != nil {
		refuse(w, r, err)
		return
	}
	w.Header().Set("ETag", given.Version())
	w.WriteHeader(http.StatusNoContent)
}

// draftOf reads a draft that a page sends, and finds its name.
func (d *Dashboard) draftOf(a *asked) (given draft, name string, err error) {
	if d.o.Origin != "" && !d.door.decides(a.r) {
		return nil, "", errorUnpaired()
	}
	if err := readJSON(a.r, &given); err != nil {
		return nil, "", err
	}
	req, p, err := d.projects.request(a)
	if err != nil {
		return nil, "", err
	}
	s, _, err := d.o.Engine.Session(a, req.Address)
	if err != nil {
		return nil, "", noTask(err)
	}
	st, known := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !known {
		return nil, "", noStage(workflow.StageID(a.r.PathValue("stage")))
	}
	return given, draftName(p, s.SessionID, st.ID), nil
}
