package intake

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// Limits of the values kept beside a document; the stored text has all of them.
const (
	maxItems = 200
	maxText  = 4000 // bytes
	maxID    = 80   // bytes
)

// objectsOf returns the items of a list as objects; a text becomes an object with the field
// textField. An object counts as the list of its values, with their keys as ids: {"R1": "the key is
// checked"}.
func objectsOf(v any, textField string) (out []map[string]any) {
	list, _ := v.([]any)
	byID, _ := v.(map[string]any)
	ids := slices.Sorted(maps.Keys(byID))
	for _, id := range ids {
		list = append(list, byID[id])
	}
	for i, item := range list {
		o := map[string]any{}
		if len(ids) > 0 {
			o["id"] = ids[i]
		}
		switch item := item.(type) {
		case map[string]any:
			maps.Copy(o, item)
		case string:
			o[textField] = item
		default:
			continue
		}
		out = append(out, o)
	}
	return out
}

// fieldText returns the text or number of the first of the keys that has one.
func fieldText(object map[string]any, keys ...string) string {
	for _, k := range keys {
		if text := scalarText(object[k]); text != "" {
			return text
		}
	}
	return ""
}

// scalarText returns a text or a number, cut to the limit of a text.
func scalarText(v any) string { return visible.Fit(jsonblock.Scalar(v), maxText) }

// stringList returns the texts of a list: the items that are texts, and from an item that is an
// object the first of the fields that it has. One text counts as a list of one.
func stringList(v any, fields ...string) []string {
	list, _ := v.([]any)
	if _, one := v.(string); one {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		text, _ := item.(string)
		if object, ok := item.(map[string]any); ok {
			text = fieldText(object, append(fields, "gap", "description", "text", "issue", "title")...)
		}
		if text = scalarText(text); text != "" && len(out) < maxItems {
			out = append(out, text)
		}
	}
	return mergeTexts(out, nil)
}

// mergeTexts joins two lists of texts, each text once.
func mergeTexts(a, b []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range slices.Concat(a, b) {
		if key := fold(s); key != "" && !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// fold returns the form in which two wordings of the same thing compare equal: lower case, without
// punctuation and spaces at the ends and runs of spaces.
func fold(s string) string {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	return strings.Trim(s, " .?!;:,。？！；：，*_`\"'")
}

var (
	numberOrRange = pattern.New(`(\d{1,4})(?:\.0)?(?:\s*[-–~]\s*(\d{1,4}))?`)
	everything    = pattern.New(`(?i)^\W*(?:all\b.*|全部)?$`)
)

// intList reads numbers as models write them: 1, 1.0, "1", "Sprint 1 and 2", "1-3", alone, listed,
// or as the keys of an object.
func intList(v any) []int { return numbersIn(scopeTexts(v)) }

// scopeTexts returns the texts of a value with numbers or names.
func scopeTexts(v any) []string {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	var texts []string
	for _, item := range list {
		if object, ok := item.(map[string]any); ok && isList {
			item = fieldText(object, "number", "sprint", "id", "name", "title")
		} else if ok {
			texts = slices.Sorted(maps.Keys(object))
		}
		texts = append(texts, scalarText(item))
	}
	return texts
}

func numbersIn(texts []string) []int {
	var out []int
	for _, text := range texts {
		for _, m := range numberOrRange.FindAllStringSubmatch(text, -1) {
			first, _ := strconv.Atoi(m[1])
			last := first
			if m[2] != "" {
				last, _ = strconv.Atoi(m[2])
			}
			for n := first; n <= last && len(out) < maxItems; n++ {
				out = append(out, n)
			}
		}
	}
	return out
}

// anyScope reports whether a scope names no sprint in particular: it is left out, empty, or "all".
func anyScope(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return everything.MatchString(v)
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool {
			text, ok := item.(string)
			return !ok || !everything.MatchString(text)
		})
	}
	return false
}

// ReadResolved reads a submission's outcomes of findings and change requests.
func ReadResolved(v any) []workflow.Resolution {
	var out []workflow.Resolution
	for _, o := range objectsOf(v, "problem") {
		if len(out) == maxItems {
			break
		}
		id := fieldText(o, "id", "finding", "problem")
		r := workflow.Resolution{ID: visible.Fit(id, maxID), How: fieldText(o, "how", "resolution", "fix", "note", "why", "reason")}
		if text := fieldText(o, "problem"); r.How == "" && text != id {
			r.How = text
		}
		state := fold(fieldText(o, "status", "state"))
		r.Declined = strings.HasPrefix(state, "declined") || strings.HasPrefix(state, "rejected")
		if r.ID != "" {
			out = append(out, r)
		}
	}
	return out
}
