package score

import (
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// objects returns the items of a list as objects; a text stands for the problem. An object counts
// as the list of its values, with their keys as ids: {"R1": "the key is checked"}.
func objects(v any) []map[string]any {
	var out []map[string]any
	add := func(item any, id string) {
		o := map[string]any{}
		switch item := item.(type) {
		case map[string]any:
			maps.Copy(o, item)
		case string:
			o["problem"] = item
		default:
			return
		}
		if _, has := o["id"]; id != "" && !has {
			o["id"] = id
		}
		out = append(out, o)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			add(item, "")
		}
	case map[string]any:
		for _, id := range slices.Sorted(maps.Keys(v)) {
			add(v[id], id)
		}
	}
	return out
}

// readResolved reads the outcomes of findings and change requests that a submission states.
func readResolved(v any) []workflow.Resolution {
	var out []workflow.Resolution
	for _, o := range objects(v) {
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
