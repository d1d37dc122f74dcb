package intake

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// Of a repeated field of an object a decoder keeps the last. A decision about a gate must not
// depend on that, so all values of score fields are read.

// scoreFields are the fields with a score.
var scoreFields = []string{"quality_score", "score", "overallscore", "totalscore", "finalscore"}

// statesScore reports whether a field states a score.
func statesScore(field string) bool {
	field = jsonblock.Name(field)
	return slices.Contains(scoreFields, field) || known()[field] == "quality_score"
}

// scoreParts are the fields that state the whole of a score written as an object.
var scoreParts = []string{"total", "score", "value", "overall", "final", "current", "actual", "now"}

// scoresIn returns the values of all fields at the first two levels of an object of JSON that state
// a score.
func scoresIn(text string) (out []string) {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	inScore := false
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
		states := known()[key] == "quality_score"
		if depth == 1 {
			states = statesScore(key)
			inScore = states
		} else if inScore && slices.Contains(scoreParts, key) {
			states = true
		}
		switch kind := dec.PeekKind(); {
		case kind == '{' && depth == 1:
		case states && slices.Contains([]jsontext.Kind{'"', '0'}, kind):
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
