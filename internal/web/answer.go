package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// problem is the answer to a refused request.
type problem struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	Code  string `json:"code"`
}

// rejection is an error whose answer has another status than the one of the error's code.
type rejection struct {
	error
	status int
}

// Unwrap returns the error without the status.
func (r rejection) Unwrap() error { return r.error }

// asUnauthorized gives an error the status for a browser without cookie or key.
func asUnauthorized(err error) error { return rejection{err, http.StatusUnauthorized} }

// answerError answers a script's request with an error, in the language of the page.
func answerError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err).Translated(languageOf(w, r))
	status := statusOf(f)
	var rejected rejection
	if errors.As(err, &rejected) {
		status = rejected.status
	}
	writeJSON(w, status, problem{f.Error(), f.Hint, string(f.Code)})
}

// handleScript serves requests of the pages' scripts; do returns the answer.
func handleScript(do func(a *asked) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out, err := do(&asked{Context: r.Context(), r: r, lang: languageOf(w, r)})
		if err != nil {
			answerError(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, out)
	}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the reader may have gone
}

// readJSON reads a body of exactly one JSON object, and refuses keys unknown to into.
func readJSON(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return rejection{
			fault.New(fault.InvalidArgument, "the body has to be application/json").WithHint("the pages of the dashboard send it so"), http.StatusUnsupportedMediaType,
		}
	}
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	err := body.Decode(into)
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
		return rejection{
			fault.New(fault.InvalidArgument, "the body has more than %d bytes", maxBody).WithHint("shorten the words and comments; nothing was changed"),
			http.StatusRequestEntityTooLarge,
		}
	case errors.As(err, &wrong):
		return fault.New(fault.InvalidArgument, "the body has a value of another type than the pages send, at %q", wrong.Field).
			WithHint("load the page again, which may be older than the program")
	case err != nil:
		return fault.New(fault.InvalidArgument, "the body cannot be read: %w", err).WithHint("load the page again, which may be older than the program")
	}
	return nil
}

const (
	// maxBody bounds the body of a request, in bytes.
	maxBody = 64 << 10
	// maxKeys bounds the browsers paired at a time.
	maxKeys = 64
	// launchFor is how long a browser opened by the program may take to pair.
	launchFor = time.Minute
	// maxLaunches bounds the browsers being opened at a time.
	maxLaunches = 16
)
