package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// problem is the answer to a request that was refused.
type problem struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	Code  string `json:"code"`
}

// refuse answers a request of a script with an error, in the language of the page. With status 0,
// the error's code gives it.
func refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
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

const (
	// maxBody bounds the body of a request, in bytes.
	maxBody = 64 << 10
	// maxKeys bounds the browsers that are paired at a time.
	maxKeys = 64
	// launchFor is how long the browser that the program opens has to begin.
	launchFor = time.Minute
	// maxLaunches bounds the browsers that are being opened at a time.
	maxLaunches = 16
)
