package sdkhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// failure describes a request that is refused, or has failed.
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

// retryAfter is the time until a client may try again if the server has no room.
const retryAfter = 5 * time.Second

var (
	errClosing = &failure{status: http.StatusServiceUnavailable, after: retryAfter, Code: "closing",
		Message: "the server is ending", Hint: "conversations are saved; call again once it runs"}
	errFull = &failure{status: http.StatusServiceUnavailable, after: retryAfter, Code: "too_many_at_work",
		Message: "as many conversations are at work as this server allows", Hint: "send the request again later"}
	errStreams = &failure{status: http.StatusServiceUnavailable, after: retryAfter, Code: "too_many_streams",
		Message: "there are too many open streams", Hint: "close one, or read the conversation without a stream"}
)

// simple lists the failures of errors that need no more words.
var simple = []struct {
	err        error
	status     int
	code, hint string
}{
	{sdk.ErrNotFound, http.StatusNotFound, "not_found", "GET /api/conversations lists them"},
	{sdk.ErrBusy, http.StatusConflict, "busy", "wait for the event idle, or cancel the turn"},
	{sdk.ErrEnded, http.StatusConflict, "ended", "start a new conversation"},
	{sdk.ErrNotPaused, http.StatusConflict, "not_paused", "send a message"},
	{sdk.ErrNoQuestion, http.StatusConflict, "no_question", "GET the conversation for its open questions"},
	{sdk.ErrLocked, http.StatusConflict, "locked", "wait until the other process has finished"},
	{sdk.ErrChanged, http.StatusConflict, "changed", "GET the conversation, and send the request again"},
	{sdk.ErrStopped, http.StatusConflict, "stopped", ""},
	{sdk.ErrTruncated, http.StatusUnprocessableEntity, "truncated", ""},
	{sdk.ErrContextFull, http.StatusUnprocessableEntity, "context_full", ""},
	{sdk.ErrNoProvider, http.StatusServiceUnavailable, "no_provider", "start the server with a model"},
	{httpguard.ErrTooLarge, http.StatusRequestEntityTooLarge, "too_large", "send at most 1 MB"},
	{context.Canceled, http.StatusConflict, "cancelled", "send a message to go on"},
}

// asFailure describes an error to the client.
func asFailure(err error) *failure {
	var (
		f        *failure
		agent    *sdk.AgentError
		limit    *sdk.CostLimitError
		unknown  *sdk.PriceUnknownError
		retired  *sdk.ModelRetiredError
		provider *sdk.ProviderError
		state    *sdk.StateError
		refusal  *sdk.RefusalError
		coded    *fault.Error
	)
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &agent):
		return &failure{status: http.StatusNotFound, Code: "agent_not_found", Message: err.Error(), Hint: "GET /api/agents lists them", Field: "agentId"}
	case errors.As(err, &limit):
		spent, most := limit.Spent.USD(), limit.Limit.USD()
		return &failure{status: http.StatusPaymentRequired, Code: "cost_limit", Message: err.Error(),
			Hint: "start a new conversation, with a higher costLimit if it is to go further", Spent: &spent,
			Limit: &most}
	case errors.As(err, &unknown):
		return &failure{status: http.StatusBadRequest, Code: "price_unknown", Message: err.Error(),
			Hint: "leave out costLimit, or serve a model of the price list", Field: "costLimit"}
	case errors.As(err, &retired):
		return &failure{status: http.StatusBadGateway, Code: "model_retired", Message: err.Error(), Hint: "start the server with another model"}
	case errors.As(err, &provider):
		return &failure{status: http.StatusBadGateway, after: provider.After, Code: "provider", Message: redact(provider.Error())}
	case errors.As(err, &state):
		return &failure{status: http.StatusConflict, Code: "unusable", Message: err.Error()}
	case errors.As(err, &refusal):
		return &failure{status: http.StatusUnprocessableEntity, Code: "refused", Message: err.Error()}
	case errors.Is(err, httpguard.ErrBusy):
		return &failure{status: http.StatusServiceUnavailable, after: retryAfter, Code: "too_many_bodies", Message: err.Error()}
	case errors.As(err, &coded):
		return ofFault(coded.Translated(lang.English))
	}
	for _, s := range simple {
		if errors.Is(err, s.err) {
			return &failure{status: s.status, Code: s.code, Message: s.err.Error(), Hint: s.hint}
		}
	}
	return &failure{status: http.StatusInternalServerError, Code: "internal", Message: "the request could not be carried out", Hint: "the server's log has the reason"}
}

// ofFault describes an error of a run.
func ofFault(e *fault.Error) *failure {
	status := map[fault.Code]int{fault.InvalidArgument: http.StatusBadRequest, fault.NotFound: http.StatusNotFound,
		fault.Storage: http.StatusInternalServerError, fault.Internal: http.StatusInternalServerError}[e.Code]
	if status == 0 {
		status = http.StatusConflict
	}
	return &failure{status: status, Code: string(e.Code), Message: redact(e.Message), Hint: e.Hint}
}

// secret matches keys of model servers, for example sk-…: some servers repeat a refused key.
var secret = pattern.New(`(?i)\b(?:(?:sk|pk|gsk|hf|key|xai)[-_]|AIza|bearer )[-_*.A-Za-z0-9]{8,}`)

func redact(text string) string { return secret.ReplaceAllString(text, "[key]") }

// fail answers with an error.
func (h *Handler) fail(w http.ResponseWriter, err error) {
	f := asFailure(err)
	if f.status == http.StatusInternalServerError {
		h.o.Log.Error("a request has failed", "error", redact(err.Error()))
	}
	if f.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(f.after/time.Second))))
	}
	reply(w, f.status, map[string]*failure{"error": f})
}

// invalid returns the failure of one key of the body.
func invalid(field, format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, Code: "invalid_argument", Message: fmt.Sprintf("%q ", field) + fmt.Sprintf(format, args...), Field: field}
}

// reply answers with JSON.
func reply(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // a bug: all bodies are ours
		status, data = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the reply cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that has gone needs no answer
}
