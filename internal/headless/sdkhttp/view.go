package sdkhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// object is a JSON object of a reply.
type object = map[string]any

// progress returns the id and status of a conversation.
func progress(id string, status sdk.Status) object {
	return object{"conversationId": id, "status": status}
}

// renamed has the keys with another name in the API.
var renamed = map[string]string{"usage": "tokensUsed", "spent_nano_usd": "cost", "took_ns": "duration"}

// toCamel returns a value of the sdk as JSON with the keys of this API: camelCase, amounts in US
// dollars, durations in milliseconds.
func toCamel(value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		return nil // a bug: all values are plain
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	_ = decoder.Decode(&out) // it was encoded above
	return renameKeys(out)
}

func renameKeys(value any) any {
	switch value := value.(type) {
	case []any:
		for n := range value {
			value[n] = renameKeys(value[n])
		}
	case object:
		out := object{}
		for key, inner := range value {
			name, known := renamed[key]
			if !known {
				parts := strings.Split(strings.TrimSuffix(key, "_nano_usd"), "_")
				for n := 1; n < len(parts); n++ {
					parts[n] = strings.ToUpper(parts[n][:1]) + parts[n][1:]
				}
				name = strings.Join(parts, "")
			}
			out[name] = renameKeys(inner)
			if problem, ok := inner.(string); ok && key == "problem" {
				out[name] = redact(problem)
			}
			if n, ok := inner.(json.Number); ok {
				whole, _ := n.Int64()
				switch {
				case strings.HasSuffix(key, "_nano_usd"):
					out[name] = price.Money(whole).USD()
				case strings.HasSuffix(key, "_ns"):
					out[name] = whole / 1e6
				}
			}
		}
		return out
	}
	return value
}

// viewOf describes a conversation as it is now.
func viewOf(c *entry) object {
	status := c.Status()
	v := progress(c.ID(), status)
	v["agentId"], v["isIdle"] = c.Agent().ID, status == sdk.Idle
	v["turns"], v["documents"] = toCamel(c.History()), toCamel(c.Documents())
	v["costs"], v["questions"] = toCamel(c.Costs()), append([]sdk.Question{}, c.Questions()...)
	if err := c.turnError(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		v["error"] = asFailure(err)
	}
	return v
}

// resultOf describes the outcome of a conversation's last turn.
func resultOf(c *entry) object {
	v := viewOf(c)
	v["text"] = ""
	if turns := c.History(); len(turns) > 0 {
		last := turns[len(turns)-1]
		v["text"], v["duration"] = last.Response, last.Took.Milliseconds()
	}
	return v
}

// outcomeOf describes an ended conversation.
func outcomeOf(o *sdk.Outcome) object {
	return object{
		"conversationId": o.ID, "status": sdk.Ended, "turns": toCamel(o.Turns), "documents": toCamel(o.Documents), "costs": toCamel(o.Costs),
		"totalCost": o.Costs.Spent.USD(), "totalTokens": toCamel(o.Usage), "duration": o.Took.Milliseconds(),
	}
}
