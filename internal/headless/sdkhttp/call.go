package sdkhttp

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

const (
	// maxBody bounds a request, in bytes.
	maxBody = 1 << 20
	// maxCost bounds the limits of costs, in US dollars: a higher one is a mistake.
	maxCost = 1e6
)

// call is a request under way.
type call struct {
	w http.ResponseWriter
	r *http.Request
	body
	// limit is the limit of the costs; 0 if the body has none.
	limit price.Money
}

// id is the id in the path.
func (c *call) id() string { return c.r.PathValue("id") }

// body has the keys of all bodies.
type body struct {
	Agent     string         `json:"agentId"`
	Message   string         `json:"message"`
	Question  string         `json:"questionId"`
	Answer    string         `json:"answer"`
	CostLimit float64        `json:"costLimit"`
	Context   map[string]any `json:"context"`
}

// readBody reads the body, which may be missing if the route needs no key.
func (h *Handler) readBody(c *call, keys string) error {
	data, err := h.readRaw(c)
	if err != nil {
		return err
	}
	if c.body, err = parseBody(data, keys); err == nil {
		c.limit, err = h.parseLimit(c.CostLimit)
	}
	return err
}

// readRaw reads the body as it is.
func (h *Handler) readRaw(c *call) ([]byte, error) {
	kind := c.r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); kind != "" && (err != nil || media != "application/json") {
		return nil, notJSON("the body is not sent as JSON")
	}
	data, done, err := h.limiter.Read(c.r.Body, c.r.ContentLength, maxBody)
	defer done()
	if errors.Is(err, httpguard.ErrBusy) || errors.Is(err, httpguard.ErrTooLarge) {
		c.w.Header().Set("Connection", "close") // the rest is not read
		return nil, err
	}
	if err != nil {
		return nil, newRefusal(http.StatusBadRequest, "invalid_argument", "the body did not arrive whole", "")
	}
	if len(data) > 0 && kind == "" {
		return nil, notJSON("the body has no type")
	}
	return data, nil
}

func notJSON(message string) *failure {
	return newRefusal(http.StatusUnsupportedMediaType, "not_json", message, "send it with Content-Type: application/json")
}

// parseBody reads a JSON object, and refuses keys unknown to the route. They have to be written exactly: to
// package json, capital letters are the same as small ones.
func parseBody(data []byte, keys string) (b body, err error) {
	if len(data) == 0 {
		data = []byte("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(data, &given); err != nil || given == nil {
		return b, newRefusal(http.StatusBadRequest, "invalid_argument", "the body is not a JSON object", "send one such as {\"message\":\"…\"}")
	}
	takes := slices.Sorted(strings.FieldsSeq(strings.ReplaceAll(keys, "!", "")))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(takes, key) {
			f := newInvalid(visible.Fit(key, 100), "is not a key of this request")
			f.Hint = "it takes " + cmp.Or(strings.Join(takes, ", "), "no keys")
			return b, f
		}
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(data, &b)); ok {
		return b, newInvalid(wrong.Field, "has to be %s", kinds[wrong.Type.Kind()])
	}
	for key := range strings.FieldsSeq(keys) {
		if key, needed := strings.CutSuffix(key, "!"); needed {
			var text string
			_ = json.Unmarshal(given[key], &text) // it is a text, or missing
			if err := requireText(key, text); err != nil {
				return b, err
			}
		}
	}
	return b, nil
}

// kinds has words for the types of values.
var kinds = map[reflect.Kind]string{reflect.String: "a string", reflect.Float64: "a number", reflect.Map: "an object"}

// requireText refuses a key without a text.
func requireText(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return newInvalid(field, "is missing or empty")
	}
	return nil
}

// parseLimit reads the limit of a request's costs.
func (h *Handler) parseLimit(usd float64) (price.Money, error) {
	if usd < 0 || usd > maxCost {
		return 0, newInvalid("costLimit", "has to be an amount in US dollars, at most %d", int(maxCost))
	}
	limit := price.Money(math.Round(usd * float64(price.Dollar)))
	if usd > 0 && limit == 0 {
		return 0, newInvalid("costLimit", "is less than can be counted")
	}
	if most := h.o.CostLimit; most > 0 && limit > most {
		return 0, newInvalid("costLimit", "is above %s, which this server allows", most.Short())
	}
	return limit, nil
}
