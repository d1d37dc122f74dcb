package score

import (
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// objects returns the items of a list as objects; a text stands for one of their fields. An object
// counts as the list of its values, with their keys as ids: {"R1": "the key is checked"}.
func objects(v any, textField string) (out []map[string]any) {
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

// readResolved reads the outcomes of findings and change requests that a submission states.
func readResolved(v any) []workflow.Resolution {
	var out []workflow.Resolution
	for _, o := range objects(v, "problem") {
		if len(out) == maxItems {
			break
		}
		id := field(o, "id", "finding", "problem")
		r := workflow.Resolution{ID: clipRunes(id, maxID), How: field(o, "how", "resolution", "fix", "note", "reason")}
		if text := field(o, "problem"); r.How == "" && text != id {
			r.How = text
		}
		state := fold(field(o, "status", "state"))
		r.Declined = strings.HasPrefix(state, "declined") || strings.HasPrefix(state, "rejected")
		if r.ID != "" {
			out = append(out, r)
		}
	}
	return out
}
