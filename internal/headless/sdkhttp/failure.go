package sdkhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// failure describes a refused or failed request.
type failure struct {
	status  int
	after   time.Duration
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Field is the key of the body to change.
	Field string `json:"field,omitempty"`
	// Spent and Limit describe a cost limit, in US dollars.
	Spent *float64 `json:"spent,omitempty"`
	Limit *float64 `json:"limit,omitempty"`
	// Conversation is the id of the conversation with the work of a failed command.
	Conversation string `json:"conversationId,omitempty"`
}

// Error implements error.
func (f *failure) Error() string { return f.Message }

// newRefusal returns the failure of a request that cannot be carried out as it is.
func newRefusal(status int, code, message, hint string) *failure {
	return &failure{status: status, Code: code, Message: message, Hint: hint}
}

// noRoom returns the failure of a request that may be sent again after a while.
func noRoom(code, message, hint string) *failure {
	f := newRefusal(http.StatusServiceUnavailable, code, message, hint)
	f.after = 5 * time.Second
	return f
}

var (
	errClosing = noRoom("closing", "the server is ending", "conversations are saved; call again once it runs")
	errFull    = noRoom("too_many_at_work", "as many conversations are at work as this server allows", "send the request again later")
	errStreams = noRoom("too_many_streams", "there are too many open streams", "close one, or read the conversation without a stream")
)

// cause recognizes an error, and returns the words for it.
type cause func(error) (words string, ok bool)

// isError recognizes a fixed error, whatever it is wrapped in.
func isError(target error) cause {
	return func(err error) (string, bool) { return target.Error(), errors.Is(err, target) }
}

// hasType recognizes the errors of a type.
func hasType[E error](err error) (string, bool) {
	_, ok := errors.AsType[E](err)
	return err.Error(), ok
}

// causes lists the failures of errors without numbers of their own.
var causes = []struct {
	cause
	status            int
	code, hint, field string
}{
	{hasType[*sdk.AgentError], http.StatusNotFound, "agent_not_found", "bmad-mcp agent list lists them", "agentId"},
	{hasType[*sdk.PriceUnknownError], http.StatusBadRequest, "price_unknown",
		"leave out costLimit, or serve a model of the price list", "costLimit"},
	{hasType[*sdk.ModelRetiredError], http.StatusBadGateway, "model_retired", "start the server with another model", ""},
	{hasType[*sdk.StateError], http.StatusConflict, "unusable", "", ""},
	{hasType[*sdk.RefusalError], http.StatusUnprocessableEntity, "refused", "", ""},
	{isError(sdk.ErrNotFound), http.StatusNotFound, "not_found", "bmad-mcp agent list lists the saved ones", ""},
	{isError(sdk.ErrBusy), http.StatusConflict, "busy", "wait for the event idle", ""},
	{isError(sdk.ErrEnded), http.StatusConflict, "ended", "start a new conversation", ""},
	{isError(sdk.ErrNoQuestion), http.StatusConflict, "no_question", "GET the conversation for its open questions", ""},
	{isError(sdk.ErrLocked), http.StatusConflict, "locked", "wait until the other process has finished", ""},
	{isError(sdk.ErrChanged), http.StatusConflict, "changed", "GET the conversation, and send the request again", ""},
	{isError(sdk.ErrStopped), http.StatusConflict, "stopped", "", ""},
	{isError(sdk.ErrTruncated), http.StatusUnprocessableEntity, "truncated", "", ""},
	{isError(sdk.ErrContextFull), http.StatusUnprocessableEntity, "context_full", "", ""},
	{isError(sdk.ErrNoProvider), http.StatusServiceUnavailable, "no_provider", "start the server with a model", ""},
	{isError(httpguard.ErrTooLarge), http.StatusRequestEntityTooLarge, "too_large", "send at most 1 MB", ""},
	{isError(context.Canceled), http.StatusConflict, "cancelled", "send a message to go on", ""},
}

// asFailure describes an error to the client.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if limit, ok := errors.AsType[*sdk.CostLimitError](err); ok {
		spent, most := limit.Spent.USD(), limit.Limit.USD()
		return &failure{status: http.StatusPaymentRequired, Code: "cost_limit", Message: err.Error(),
			Hint: "start a new conversation, with a higher costLimit if it is to go further", Spent: &spent, Limit: &most}
	}
	if provider, ok := errors.AsType[*sdk.ProviderError](err); ok {
		return &failure{status: http.StatusBadGateway, after: provider.After, Code: "provider", Message: redact(provider.Error())}
	}
	if errors.Is(err, httpguard.ErrBusy) {
		return noRoom("too_many_bodies", err.Error(), "")
	}
	for _, c := range causes {
		if words, ok := c.cause(err); ok {
			return &failure{status: c.status, Code: c.code, Message: words, Hint: c.hint, Field: c.field}
		}
	}
	return newRefusal(http.StatusInternalServerError, "internal", "the request could not be carried out", "the server's log has the reason")
}

// secret matches keys of model servers, for example sk-…: some servers repeat a refused key.
var secret = pattern.New(`(?i)\b(?:(?:sk|pk|gsk|hf|key|xai)[-_]|AIza|bearer )[-_*.A-Za-z0-9]{8,}`)

func redact(text string) string { return secret.ReplaceAllString(text, "[key]") }

// writeFailure answers with an error.
func (h *Handler) writeFailure(w http.ResponseWriter, err error) {
	f := asFailure(err)
	if f.status == http.StatusInternalServerError {
		h.o.Log.Error("a request has failed", "error", redact(err.Error()))
	}
	if f.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(f.after/time.Second))))
	}
	writeJSON(w, f.status, map[string]*failure{"error": f})
}

// newInvalid returns the failure of one key of the body.
func newInvalid(field, format string, args ...any) *failure {
	f := newRefusal(http.StatusBadRequest, "invalid_argument", fmt.Sprintf("%q ", field)+fmt.Sprintf(format, args...), "")
	f.Field = field
	return f
}

// writeJSON answers with JSON.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // all bodies are ours, and a lost client needs no answer
}
