package dashboard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// draft is what a person has written on a page and not sent yet.
type draft struct {
	// SHA256 is the hash of the document that it is about.
	SHA256   string             `json:"sha256,omitempty"`
	Feedback string             `json:"feedback,omitempty"`
	Comments []workflow.Comment `json:"comments,omitempty"`
	Answers  map[string]string  `json:"answers,omitempty"`
}

// empty reports whether nothing is written.
func (d draft) empty() bool {
	answered := false
	for _, answer := range d.Answers {
		answered = answered || strings.TrimSpace(answer) != ""
	}
	return strings.TrimSpace(d.Feedback) == "" && len(d.Comments) == 0 && !answered
}

// maxDraft bounds a draft, in bytes: three texts of the size that a decision takes.
const maxDraft = maxBody

// drafts keeps drafts in a folder of the person's state, outside of projects; "" keeps none.
type drafts string

// draftName is the name of the file with the draft about a document.
func draftName(p folder, session string, stage workflow.StageID) string {
	return workflow.Hash([]byte(p.Path + "\x00" + session + "\x00" + string(stage)))[:32] + ".json"
}

// open opens the folder, and makes it where it is missing.
func (d drafts) open() (*durable.Dir, error) {
	if d == "" {
		return nil, fs.ErrNotExist
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	return durable.OpenDir(string(d))
}

// read returns a draft, the empty one where none is kept or can be read.
func (d drafts) read(name string) (kept draft) {
	dir, err := d.open()
	if err != nil {
		return draft{}
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	data, err := dir.ReadFile(name, maxDraft)
	if err != nil || json.Unmarshal(data, &kept) != nil {
		return draft{}
	}
	return kept
}

// write keeps a draft, and removes it where nothing is written.
func (d drafts) write(name string, kept draft) error {
	dir, err := d.open()
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the write has its own error
	if kept.empty() {
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
// it takes them of a browser that may decide only. Others keep them by themselves.
func (d *Dashboard) keepDraft(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxDraft)
	status, err := d.keep(&asked{Context: r.Context(), r: r, lang: spoken(w, r)})
	if err != nil {
		d.refuse(w, r, status, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// keep writes a draft. The status is that of a refusal; 0 is that of its code.
func (d *Dashboard) keep(a *asked) (status int, err error) {
	if d.o.Origin != "" && !d.door.decides(a.r) {
		return http.StatusUnauthorized, unpaired()
	}
	var given draft
	if status, err := readJSON(a.r, &given); err != nil {
		return status, err
	}
	req, p, err := d.request(a)
	if err != nil {
		return 0, err
	}
	s, _, err := d.o.Engine.Session(a, req.Address())
	if err != nil {
		return 0, noTask(err)
	}
	st, known := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !known {
		return 0, fault.New(fault.NotFound, "the run has no stage %q", a.r.PathValue("stage")).WithHint("its page lists its stages")
	}
	return 0, d.drafts.write(draftName(p, s.SessionID, st.ID), given)
}
