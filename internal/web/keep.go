package web

import (
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// keepDraft saves the unsent words of a page, so that neither another tab nor the end of the browser loses
// them. They are sent later as the person's words, so only a browser with a key may save them; others keep
// them locally. If the saved version is not the one in If-Match, another page has saved it: it is returned
// for the page's script to merge.
func (d *Dashboard) keepDraft(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxDraft)
	given, name, err := d.draftOf(&asked{Context: r.Context(), r: r, lang: languageOf(w, r)})
	if err != nil {
		answerError(w, r, err)
		return
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	known := r.Header.Get("If-Match")
	if kept := d.drafts.read(name); known != "" && known != kept.Version() {
		w.Header().Set("ETag", kept.Version())
		writeJSON(w, http.StatusPreconditionFailed, kept)
		return
	}
	if len(given) == 0 {
		given = nil
	}
	if err := d.drafts.write(name, given); err != nil {
		answerError(w, r, err)
		return
	}
	w.Header().Set("ETag", given.Version())
	w.WriteHeader(http.StatusNoContent)
}

// draftOf reads the draft sent by a page, and names the file for it.
func (d *Dashboard) draftOf(a *asked) (given draft, name string, err error) {
	if _, name, err = d.placeDraft(a); err != nil {
		return nil, "", err
	}
	err = readJSON(a.r, &given)
	return given, name, err
}

// placeDraft names the file for the draft of a page, for a browser with a key.
func (d *Dashboard) placeDraft(a *asked) (s *workflow.Session, name string, err error) {
	if d.o.Origin != "" && !d.door.hasKey(a.r) {
		return nil, "", errUnpaired()
	}
	s, p, err := d.projects.sessionOf(a)
	if err != nil {
		return nil, "", err
	}
	st, known := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !known {
		return nil, "", noStage(workflow.StageID(a.r.PathValue("stage")))
	}
	return s, draftName(p, s.SessionID, st.ID), nil
}
