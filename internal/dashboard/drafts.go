package dashboard

import (
	"encoding/json"
	"errors"
	"io"
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
const maxDraft = 64 << 10

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
// end of the browser loses them. It decides nothing.
func (d *Dashboard) keepDraft(w http.ResponseWriter, r *http.Request) {
	a := &asked{Context: r.Context(), r: r, lang: spoken(w, r)}
	err := d.keep(a)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	f := fault.From(err).Translated(a.lang)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(statusOf(f))
	_ = json.NewEncoder(w).Encode(map[string]string{"error": f.Error(), "hint": f.Hint})
}

func (d *Dashboard) keep(a *asked) error {
	req, p, err := d.request(a)
	if err != nil {
		return err
	}
	s, _, err := d.o.Engine.Session(a, req.Address())
	if err != nil {
		return noTask(err)
	}
	var given draft
	body := json.NewDecoder(io.LimitReader(a.r.Body, maxDraft))
	body.DisallowUnknownFields()
	if err := body.Decode(&given); err != nil {
		return fault.New(fault.InvalidArgument, "the words cannot be read: %w", err).WithHint("they have at most %d bytes", maxDraft)
	}
	return d.drafts.write(draftName(p, s.SessionID, workflow.StageID(a.r.PathValue("stage"))), given)
}
