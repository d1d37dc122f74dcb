package dashboard

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// pairPage shows a code, which a person types at a terminal to let this browser decide.
type pairPage struct {
	Code, Back string
	// ReadOnly is true if the page takes no decisions.
	ReadOnly bool
	// Alone is true without a state folder, by which a terminal and the dashboard know of each other.
	Alone bool
}

func (d *Dashboard) pair(a *asked) (any, error) {
	a.page.Title = a.lang.Say("Pair this browser")
	out := pairPage{Back: localPath(a.r.URL.Query().Get("back")), ReadOnly: d.door.readOnly}
	if out.ReadOnly {
		return out, nil
	}
	if out.Alone = d.door.codes == nil; out.Alone {
		return out, nil
	}
	code, err := d.door.codes.New()
	if err == nil {
		out.Code = splitCode(code)
	}
	return out, err
}

// splitCode returns a code in two halves, as people read it.
func splitCode(code string) string { return code[:len(code)/2] + "-" + code[len(code)/2:] }

// keyGiven answers a browser that is paired; it has no key while nobody has approved it.
type keyGiven struct {
	Key string `json:"key,omitempty"`
}

// claim gives the page that shows a code its key, once the person has approved the code.
func (d *Dashboard) claim(w http.ResponseWriter, r *http.Request) {
	var given struct {
		Code string `json:"code"`
	}
	if status, err := readJSON(r, &given); err != nil {
		d.refuse(w, r, status, err)
		return
	}
	if d.door.readOnly || d.door.codes == nil {
		d.refuse(w, r, http.StatusForbidden, nothingDecides())
		return
	}
	ok, err := d.door.codes.Approved(given.Code)
	if err != nil {
		d.refuse(w, r, 0, err)
		return
	}
	var out keyGiven
	if ok {
		out.Key = d.door.key()
		d.log.Info("a browser was paired by a code")
	}
	answer(w, http.StatusOK, out)
}

// admitLaunched gives a key to the browser that the program itself has opened at a person's terminal.
func (d *Dashboard) admitLaunched(w http.ResponseWriter, r *http.Request) {
	var given struct {
		Launch string `json:"launch"`
	}
	if status, err := readJSON(r, &given); err != nil {
		d.refuse(w, r, status, err)
		return
	}
	hash := sha256.Sum256([]byte(given.Launch))
	d.door.mu.Lock()
	until, ok := d.door.launches[hash]
	delete(d.door.launches, hash)
	d.door.mu.Unlock()
	switch {
	case d.door.readOnly:
		d.refuse(w, r, http.StatusForbidden, nothingDecides())
	case !ok || d.door.now().After(until):
		d.log.Warn("a browser was not paired: its address was used before, or has expired")
		d.refuse(w, r, http.StatusConflict, fault.New(fault.Conflict, "the address that pairs this browser was used before, or has expired").
			WithHint("if you have not opened it yourself, end the dashboard and start it again; else pair this browser by a code"))
	default:
		d.log.Info("the browser that was opened at the terminal was paired")
		answer(w, http.StatusOK, keyGiven{d.door.key()})
	}
}

func nothingDecides() error {
	return fault.New(fault.NotAllowed, "this dashboard only shows: nothing is decided here").WithHint("start it without --read-only, or decide at a terminal")
}

// problem is the answer to a request that was refused.
type problem struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	Code  string `json:"code"`
}

// refuse answers a request of a script with an error, in the language of the page. With status 0,
// the error's code gives it.
func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	f := fault.From(err).Translated(languageOf(w, r))
	if status == 0 {
		status = statusOf(f)
	}
	answer(w, status, problem{f.Error(), f.Hint, string(f.Code)})
}

func answer(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what) // an error means that the reader has gone
}

// readJSON reads the one object of a body, which has no keys but those of into. The status is that
// of a refusal; 0 is that of its code.
func readJSON(r *http.Request, into any) (status int, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, fault.New(fault.InvalidArgument, "the body has to be application/json").WithHint("the pages of the dashboard send it so")
	}
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	err = body.Decode(into)
	if err == nil {
		if _, more := body.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows it")
			if more != nil {
				err = more
			}
		}
	}
	var large *http.MaxBytesError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, fault.New(fault.InvalidArgument, "the body has more than %d bytes",
			maxBody).WithHint("shorten the words and comments; nothing was changed")
	case errors.As(err, &wrong):
		return http.StatusBadRequest, fault.New(fault.InvalidArgument,
			"the body has a value of another type than the pages send, at %q",
			wrong.Field).WithHint("load the page again, which may be older than the program")
	case err != nil:
		return http.StatusBadRequest, fault.New(fault.InvalidArgument, "the body cannot be read: %w", err).WithHint("load the page again, which may be older than the program")
	}
	return 0, nil
}
