package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// ErrMalformed is an answer not in the form of the API.
var ErrMalformed = errors.New("the answer is malformed")

// kinds are the errors in the middle of a stream, with their status before one.
var kinds = map[string]int{
	"overloaded_error": 529, "api_error": 500, "timeout_error": 504, "rate_limit_error": 429, "invalid_request_error": 400,
	"authentication_error": 401, "permission_error": 403, "not_found_error": 404, "server_error": 500, "rate_limit_exceeded": 429,
}

// Fail returns the error of an answer. body is the server's text; status is 200 for an error in the middle of a stream.
func (c *Caller) Fail(status int, header http.Header, body []byte) *provider.Error {
	e := &provider.Error{Status: status}
	e.Type, e.Message = readError(body)
	e.Message = c.removeKey(e.Message)
	e.RequestID = cmp.Or(header.Get("Request-Id"), header.Get("X-Request-Id"))
	if status < http.StatusBadRequest {
		e.Status = kinds[e.Type]
	}
	switch e.Status {
	case http.StatusUnauthorized:
		// The server's own words may repeat a part of the key.
		e.Message = "the server at " + c.base + " refuses the request: " + c.key.explainRefusal()
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		e.Retryable = true
	case 0:
		e.Message = "the stream broke off: " + e.Message
	default:
		e.Retryable = e.Status >= http.StatusInternalServerError
	}
	if should, err := strconv.ParseBool(header.Get("X-Should-Retry")); err == nil {
		e.Retryable = should
	}
	e.After = retryAfter(header)
	return e
}

// readError reads the kind and message of an error; if the form is unknown, all is message.
func readError(body []byte) (kind, message string) {
	type explanation struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	var form struct {
		explanation
		Error explanation `json:"error"`
	}
	_ = json.Unmarshal(body, &form) // unreadable fields stay empty
	message = cmp.Or(form.Error.Message, form.Message, strings.TrimSpace(string(body)))
	return cmp.Or(form.Error.Type, form.Type), visible.Fit(message, 1000)
}

// retryAfter returns how long the server asks to wait; a date counts from the server's own, if it names one.
func retryAfter(h http.Header) time.Duration {
	ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64)
	if err != nil {
		ms, err = strconv.ParseFloat(h.Get("Retry-After"), 64)
		ms *= 1000
	}
	if err == nil && ms > 0 {
		return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	}
	then, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now() //nolint:forbidigo // the server has named a time, and none of its own
	}
	return max(then.Sub(now), 0)
}

// Malformed wraps the reason why an answer cannot be read.
func Malformed(err error) error { return fmt.Errorf("%w: %w", ErrMalformed, err) }
