package intake

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Of a field that an object has twice a decoder keeps the last. A decision about a gate must
// not depend on that, so all values of the fields that state a score are read.

// scoreKeys are the fields that state a score, by their form without case and separators.
var scoreKeys = map[string]bool{"qualityscore": true, "score": true, "overallscore": true, "totalscore": true, "finalscore": true}

// scoreParts are the fields of an object that stands for a score which state the whole of it.
var scoreParts = map[string]bool{"total": true, "score": true, "value": true, "overall": true, "final": true, "current": true, "actual": true, "now": true, "qualityscore": true}

// repeatedValues returns the values of all fields at the first two levels of an object of JSON that
// state a score.
func repeatedValues(text string) (out []any) {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	outer := ""
	for len(out) < maxItems {
		t, err := dec.ReadToken()
		depth := dec.StackDepth()
		if err != nil || depth == 0 {
			return out
		}
		if _, read := dec.StackIndex(depth); read%2 == 0 {
			continue // no name of a field
		}
		key := squeeze(t.String())
		states := key == "qualityscore" || depth == 1 && scoreKeys[key] || depth == 2 && scoreKeys[outer] && scoreParts[key]
		if depth == 1 {
			outer = key
		}
		switch kind := dec.PeekKind(); {
		case kind == '{' && depth == 1:
		case kind == '{' || kind == '[':
			err = dec.SkipValue()
		default:
			if t, err = dec.ReadToken(); err == nil && states {
				out = append(out, scalar(t))
			}
		}
		if err != nil {
			return out
		}
	}
	return out
}

// scalar returns a token of JSON as a decoder returns it that keeps numbers as they are written.
func scalar(t jsontext.Token) any {
	switch t.Kind() {
	case '"':
		return t.String()
	case '0':
		return json.Number(t.String())
	}
	return nil
}
