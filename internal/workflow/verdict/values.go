package verdict

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// Limits of one value; the text of each round has all of it.
const (
	maxText = 4000 // bytes of an evidence, a problem, an output
	maxID   = 80   // characters
)

// textField returns a field as text.
func textField(o map[string]any, key string) string { return scalarText(o[key]) }

// scalarText returns a text, a number or a truth value as text.
func scalarText(v any) string {
	if is, ok := v.(bool); ok {
		return strconv.FormatBool(is)
	}
	return jsonblock.Scalar(v)
}

// readInteger reads a whole number, also one in quotation marks.
func readInteger(v any) (int, bool) {
	n, err := strconv.ParseInt(criteria.Narrow(jsonblock.Scalar(v)), 10, 32)
	return int(n), err == nil
}

// readOptionalInteger reads a whole number, 0 if there is none.
func readOptionalInteger(v any) (int, bool) {
	if v == nil {
		return 0, true
	}
	return readInteger(v)
}

func clip(s string) string { return visible.Fit(s, maxText) }

// quote returns a value of a report as a sentence names it.
func quote(s string) string { return visible.Line(strconv.Quote(visible.Fit(s, maxID))) }

// joinNeeds joins the reasons why a report is blocked: a text or a list of texts.
func joinNeeds(v any) string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		out = append(out, scalarText(item))
	}
	return clip(strings.Join(dropEmpty(out...), "; "))
}

// dropEmpty returns the texts without the empty ones.
func dropEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// isBlank reports whether a text says nothing.
func isBlank(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) < 0
}

// fold returns a value in lower case, of common width, with one underline between words and without
// the signs around it.
func fold(s string) string {
	s = strings.ToLower(criteria.Narrow(s))
	s = strings.Join(strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || c == '-' || c == '_' }), "_")
	return strings.Trim(s, "*`_.!。！\"'()（）[]")
}

// sortedKeys is faster than slices.Sorted, which cannot know the number of keys.
func sortedKeys(o map[string]any) []string {
	keys := slices.AppendSeq(make([]string, 0, len(o)), maps.Keys(o))
	slices.Sort(keys)
	return keys
}

// splitMeanings maps each single word to the meaning of a list of words, divided by spaces.
func splitMeanings[T any](words map[string]T) map[string]T {
	out := map[string]T{}
	for list, meaning := range words {
		for word := range strings.FieldsSeq(list) {
			out[word] = meaning
		}
	}
	return out
}
