package intake

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// Of a field that an object has twice a decoder keeps the last. A decision about a gate must
// not depend on that, so all values of the fields that state a score are read.

// scoreFields are the fields that state a score.
var scoreFields = map[string]bool{"quality_score": true, "score": true, "overallscore": true, "totalscore": true, "finalscore": true}

// scoreParts are the fields of an object that stands for a score which state the whole of it.
var scoreParts = map[string]bool{"total": true, "score": true, "value": true, "overall": true, "final": true, "current": true, "actual": true, "now": true}

// scoresIn returns the values of all fields at the first two levels of an object of JSON that
// state a score.
func scoresIn(text string) (out []string) {
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
		key := jsonblock.Name(t.String())
		key = cmp.Or(known()[key], key)
		states := key == "quality_score" || depth == 1 && scoreFields[key] || depth == 2 && scoreFields[outer] && scoreParts[key]
		if depth == 1 {
			outer = key
		}
		switch kind := dec.PeekKind(); {
		case kind == '{' && depth == 1:
		case states && (kind == '"' || kind == '0'):
			if t, err = dec.ReadToken(); err == nil {
				out = append(out, t.String())
			}
		default:
			err = dec.SkipValue()
		}
		if err != nil {
			return out
		}
	}
	return out
}
