package sdkhttp

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

const (
	// maxBody bounds a request, in bytes.
	maxBody = 1 << 20
	// maxCost bounds the limits of costs, in US dollars: a higher one is a mistake.
	maxCost = 1e6
)

// keys has the destinations of the values of a body.
type keys map[string]any

// body reads a JSON object, and refuses other keys. A body may be missing.
func (h *Handler) body(w http.ResponseWriter, r *http.Request, into keys) error {
	if given := r.Header.Get("Content-Type"); given != "" {
		if kind, _, err := mime.ParseMediaType(given); err != nil || kind != "application/json" {
			return &failure{status: http.StatusUnsupportedMediaType, Code: "not_json", Message: "the body is not sent as JSON", Hint: "send it with Content-Type: application/json"}
		}
	}
	data, done, err := h.limiter.Read(r.Body, r.ContentLength, maxBody)
	defer done()
	if errors.Is(err, httpguard.ErrBusy) || errors.Is(err, httpguard.ErrTooLarge) {
		w.Header().Set("Connection", "close") // the rest is not read
		return err
	}
	if err != nil {
		return &failure{status: http.StatusBadRequest, Code: "invalid_argument", Message: "the body did not arrive whole"}
	}
	if len(data) > 0 && r.Header.Get("Content-Type") == "" {
		return &failure{status: http.StatusUnsupportedMediaType, Code: "not_json", Message: "the body has no type", Hint: "send it with Content-Type: application/json"}
	}
	return parse(data, into)
}

// parse reads a JSON object.
func parse(data []byte, into keys) error {
	var all map[string]json.RawMessage
	if len(data) > 0 {
		if err := json.Unmarshal(data, &all); err != nil || all == nil {
			return &failure{status: http.StatusBadRequest, Code: "invalid_argument", Message: "the body is not a JSON object", Hint: "send one such as {\"message\":\"…\"}"}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		target, known := into[key]
		if !known {
			f := invalid(visible.Clip(key, 100), "is not a key of this request")
			f.Hint = "it takes " + strings.Join(slices.Sorted(maps.Keys(into)), ", ")
			if len(into) == 0 {
				f.Hint = "it takes no keys"
			}
			return f
		}
		if err := json.Unmarshal(all[key], target); err != nil {
			return invalid(key, "has to be %s", kindOf(target))
		}
	}
	return nil
}

func kindOf(target any) string {
	switch target.(type) {
	case *string:
		return "a string"
	case *float64:
		return "a number"
	}
	return "an object"
}

// words refuses a key without a text.
func words(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return invalid(field, "is missing or empty")
	}
	return nil
}

// limit reads the limit of a request's costs.
func (h *Handler) limit(usd float64) (price.Money, error) {
	if usd < 0 || usd > maxCost {
		return 0, invalid("costLimit", "has to be an amount in US dollars, at most %d", int(maxCost))
	}
	limit := price.Money(math.Round(usd * float64(price.Dollar)))
	if usd > 0 && limit == 0 {
		return 0, invalid("costLimit", "is less than can be counted")
	}
	if most := h.o.CostLimit; most > 0 && limit > most {
		return 0, invalid("costLimit", "is above %s, which this server allows", most.Short())
	}
	return limit, nil
}
