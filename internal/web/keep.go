package web

import (
	"net/http"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// keeper keeps the words and pictures of a person on the page of a document until they are sent.
type keeper struct {
	drafts   drafts
	mu       sync.Mutex // while a draft is compared and replaced
	door     *door
	projects projects
}

// keepDraft saves the unsent words of a page, so that neither another tab nor the end of the browser loses
// them. They are sent later as the person's words, so only a browser with a key may save them; others keep
// them locally. If the saved version is not the one in If-Match, another page has saved it: it is returned
// for the page's script to merge.
func (k *keeper) keepDraft(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxDraft)
	given, name, err := k.readDraft(&asked{Context: r.Context(), r: r, lang: languageOf(w, r)})
	if err != nil {
		answerError(w, r, err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := r.Header.Get("If-Match")
	if kept := k.drafts.read(name); known != "" && known != kept.Version() {
		w.Header().Set("ETag", kept.Version())
		writeJSON(w, http.StatusPreconditionFailed, kept)
		return
	}
	if len(given) == 0 {
		given = nil
	}
	if err := k.drafts.write(name, given); err != nil {
		answerError(w, r, err)
		return
	}
	w.Header().Set("ETag", given.Version())
	w.WriteHeader(http.StatusNoContent)
}

// readDraft reads the draft sent by a page, and names the file for it.
func (k *keeper) readDraft(a *asked) (given draft, name string, err error) {
	if _, name, err = k.placeDraft(a); err != nil {
		return nil, "", err
	}
	err = readJSON(a.r, &given)
	return given, name, err
}

// placeDraft names the file for the draft of a page, for a browser with a key.
func (k *keeper) placeDraft(a *asked) (s *workflow.Session, name string, err error) {
	if k.door.origin != "" && !k.door.hasKey(a.r) {
		return nil, "", errUnpaired()
	}
	s, p, err := k.projects.sessionOf(a)
	if err != nil {
		return nil, "", err
	}
	st, known := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !known {
		return nil, "", noStage(workflow.StageID(a.r.PathValue("stage")))
	}
	return s, draftName(p, s.SessionID, st.ID), nil
}
