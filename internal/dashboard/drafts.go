package dashboard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// draft is the input of a person on a page that is not sent yet: items with keys, as words.js keeps them.
type draft map[string]json.RawMessage

// Version names the content of a draft, as an entity tag.
func (d draft) Version() string {
	data, _ := json.Marshal(d) // its items were read as JSON
	return `"` + workflow.Hash(data)[:16] + `"`
}

// maxDraft bounds a draft, in bytes: three texts of the size that a decision takes.
const maxDraft = maxBody

// drafts keeps drafts in a folder of the person's state, outside of projects; "" keeps none.
type drafts string

// draftName returns the name of the file with the draft about a document.
func draftName(p folder, session string, stage workflow.StageID) string {
	return workflow.Hash([]byte(p.Path + "\x00" + session + "\x00" + string(stage)))[:32] + ".json"
}

// open opens the folder, and makes it if it is missing.
func (d drafts) open() (*durable.Dir, error) {
	if d == "" {
		return nil, fs.ErrNotExist
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	return durable.OpenDir(string(d))
}

// read returns a draft, or the empty one if none is kept or can be read.
func (d drafts) read(name string) (kept draft) {
	dir, err := d.open()
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	data, err := dir.ReadFile(name, maxDraft)
	if err != nil || json.Unmarshal(data, &kept) != nil || len(kept) == 0 {
		return nil
	}
	return kept
}

// write keeps a draft, and removes it if it is empty.
func (d drafts) write(name string, kept draft) error {
	dir, err := d.open()
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the write has its own error
	if len(kept) == 0 {
		if err := dir.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return dir.Replace(name, data)
}

// keepDraft keeps the words of a page until they are sent, so that neither another tab nor the
// end of the browser loses them. It decides nothing, but the words are sent as the person's: so
// it takes them of a browser that may decide only. Others keep them by themselves. Words under
// another version than the page knows are those of another page, and its script joins them.
func (d *Dashboard) keepDraft(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxDraft)
	given, name, status, err := d.draftOf(&asked{Context: r.Context(), r: r, lang: languageOf(w, r)})
	if err != nil {
		d.refuse(w, r, status, err)
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
		d.refuse(w, r, 0, err)
		return
	}
	w.Header().Set("ETag", given.Version())
	w.WriteHeader(http.StatusNoContent)
}

// draftOf reads a draft that a page sends, and finds its name. The status is that of a refusal; 0 is
// that of its code.
func (d *Dashboard) draftOf(a *asked) (given draft, name string, status int, err error) {
	if d.o.Origin != "" && !d.door.decides(a.r) {
		return nil, "", http.StatusUnauthorized, errorUnpaired()
	}
	if status, err := readJSON(a.r, &given); err != nil {
		return nil, "", status, err
	}
	req, p, err := d.request(a)
	if err != nil {
		return nil, "", 0, err
	}
	s, _, err := d.o.Engine.Session(a, req.Address)
	if err != nil {
		return nil, "", 0, noTask(err)
	}
	st, known := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !known {
		return nil, "", 0, fault.New(fault.NotFound, "the run has no stage %q", a.r.PathValue("stage")).WithHint("its page lists its stages")
	}
	return given, draftName(p, s.SessionID, st.ID), 0, nil
}
