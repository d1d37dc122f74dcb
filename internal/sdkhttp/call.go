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

// call is a request that is carried out.
type call struct {
	w http.ResponseWriter
	r *http.Request
	input
	// limit is the limit of the costs; 0 if the body has none.
	limit price.Money
	// reply is the answer, nil if it is written already or empty.
	reply any
}

// id is that of the path.
func (c *call) id() string { return c.r.PathValue("id") }

// write answers with something that is not a JSON value of ours.
func (c *call) write(kind string, data []byte) {
	c.w.Header().Set("Content-Type", kind)
	_, _ = c.w.Write(data) // a client that has gone needs no answer
}

// input has the values of a body.
type input struct {
	agent, message, question, answer string

	run     RunRequest
	usd     float64
	context map[string]any
}

// targets returns the place of each key.
func (in *input) targets() map[string]any {
	return map[string]any{
		"agentId": &in.agent, "message": &in.message, "questionId": &in.question, "answer": &in.answer,
		"objective": &in.run.Objective, "taskName": &in.run.TaskName, "workflow": &in.run.Workflow, "engine": &in.run.Engine,
		"costLimit": &in.usd, "context": &in.context,
	}
}

// read reads the body, which may be missing if the route needs no key.
func (h *Handler) read(c *call, keys string) error {
	kind := c.r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); kind != "" && (err != nil || media != "application/json") {
		return notJSON("the body is not sent as JSON")
	}
	data, done, err := h.limiter.Read(c.r.Body, c.r.ContentLength, maxBody)
	defer done()
	if errors.Is(err, httpguard.ErrBusy) || errors.Is(err, httpguard.ErrTooLarge) {
		c.w.Header().Set("Connection", "close") // the rest is not read
		return err
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid_argument", "the body did not arrive whole", "")
	}
	if len(data) > 0 && kind == "" {
		return notJSON("the body has no type")
	}
	if err := c.parse(data, keys); err != nil {
		return err
	}
	c.limit, err = h.limit(c.usd)
	return err
}

func notJSON(message string) *failure {
	return refuse(http.StatusUnsupportedMediaType, "not_json", message, "send it with Content-Type: application/json")
}

// parse reads a JSON object, and refuses keys that a route does not take.
func (in *input) parse(data []byte, keys string) error {
	var all map[string]json.RawMessage
	if len(data) > 0 {
		if err := json.Unmarshal(data, &all); err != nil || all == nil {
			return refuse(http.StatusBadRequest, "invalid_argument", "the body is not a JSON object", "send one such as {\"message\":\"…\"}")
		}
	}
	targets, takes := in.targets(), strings.Fields(strings.ReplaceAll(keys, "!", ""))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(takes, key) {
			f := invalid(visible.Clip(key, 100), "is not a key of this request")
			f.Hint = "it takes no keys"
			if len(takes) > 0 {
				f.Hint = "it takes " + strings.Join(slices.Sorted(slices.Values(takes)), ", ")
			}
			return f
		}
		if err := json.Unmarshal(all[key], targets[key]); err != nil {
			return invalid(key, "has to be %s", kindOf(targets[key]))
		}
	}
	for _, key := range strings.Fields(keys) {
		if key, needed := strings.CutSuffix(key, "!"); needed {
			if err := words(key, *targets[key].(*string)); err != nil {
				return err
			}
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
