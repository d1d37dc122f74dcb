package score

import (
	"encoding/json"
	"strings"
)

// Of a field that an object has twice a decoder keeps the last. A decision about a gate must
// not depend on that, so all values of the fields that state a score are read.

// scoreKeys are the fields that state a score, by their form without case and separators.
var scoreKeys = map[string]bool{"qualityscore": true, "score": true, "overallscore": true, "totalscore": true, "finalscore": true}

// scoreParts are the fields of an object that stands for a score which state the whole of it.
var scoreParts = map[string]bool{"total": true, "score": true, "value": true, "overall": true, "final": true, "current": true, "actual": true, "now": true, "qualityscore": true}

// fieldValues calls found with every field at the first two levels of an object of JSON, with the
// key of the object around it.
func fieldValues(text string, found func(outer, key string, value any)) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	type level struct {
		array bool
		key   string
		value bool // a key was read, its value comes next
	}
	var stack []level
	for {
		t, err := dec.Token()
		if err != nil {
			return
		}
		top := len(stack) - 1
		if d, ok := t.(json.Delim); ok {
			switch d {
			case '{', '[':
				if top >= 0 {
					stack[top].value = false
				}
				stack = append(stack, level{array: d == '['})
			default:
				if stack = stack[:top]; len(stack) == 0 {
					return
				}
			}
			continue
		}
		if top < 0 {
			return
		}
		if stack[top].array {
			continue
		}
		if !stack[top].value {
			stack[top].key, _ = t.(string)
			stack[top].value = true
			continue
		}
		stack[top].value = false
		if top <= 1 {
			outer := ""
			if top == 1 {
				outer = squeeze(stack[0].key)
			}
			found(outer, squeeze(stack[top].key), t)
		}
	}
}

// repeatedValues returns the values of all fields that state a score.
func repeatedValues(text string) []any {
	var out []any
	fieldValues(text, func(outer, key string, value any) {
		states := scoreKeys[key]
		if outer != "" {
			states = scoreKeys[outer] && scoreParts[key]
		}
		if len(out) < maxItems && (states || key == "qualityscore") {
			out = append(out, value)
		}
	})
	return out
}
