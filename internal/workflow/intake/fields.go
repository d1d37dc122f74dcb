package intake

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// documentKeys are the fields for a document of a built-in stage.
var documentKeys = sync.OnceValue(func() map[workflow.StageID][]string {
	out := map[workflow.StageID][]string{}
	for _, d := range workflow.Builtins() {
		for _, st := range d.Stages {
			if out[st.ID] == nil {
				out[st.ID] = st.Keys
			}
		}
	}
	return out
})

// keysOf returns the fields for a stage's document, the best first.
func keysOf(st workflow.Stage) []string {
	if len(st.Keys) == 0 {
		return []string{strings.ReplaceAll(string(st.ID), "-", "_") + "_report", "report"}
	}
	return st.Keys
}

// otherKeys are fields in which models hand in a document of a kind, though no prompt names them.
var otherKeys = map[workflow.Kind][]string{
	workflow.KindPlan:    {"plan_updated"},
	workflow.KindBuild:   {"dev_result", "result", "code"},
	workflow.KindVerdict: {"review_result", "code_review", "qa_result", "result"},
}

// distinctKeys are those no object of something else has.
var distinctKeys = []string{"plan_updated", "dev_result", "review_result", "code_review", "qa_result", "claude_result", "codex_result"}

// Keys returns all fields in which the document of a stage is handed in, the best first.
func Keys(st workflow.Stage) []string { return slices.Concat(keysOf(st), otherKeys[st.Kind]) }

// genericKeys hold a document only in an object that is plainly an envelope: API examples use the
// same words.
var genericKeys = []string{"final_result", "document", "result", "draft", "content", "output", "markdown", "text"}

var (
	strongMeta = []string{"quality_score", "verdict", "ready_for_approval", "gaps"}
	weakMeta   = []string{"questions", "findings", "criteria", "resolved", "files", "sprints", "score"}
)

// factKeys are the fields by which an object without a document speaks about the one around it.
var factKeys = map[workflow.Kind][]string{
	workflow.KindDocument: {"quality_score", "questions"},
	workflow.KindPlan:     {"sprints"},
	workflow.KindBuild:    {"sprints", "resolved"},
	workflow.KindVerdict:  {"verdict", "criteria", "findings"},
}

// known are all field names, by their form without case and separators.
var known = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	lists := [][]string{distinctKeys, genericKeys, strongMeta, weakMeta, {"clarification_questions", "clarifying_questions", "open_questions", "status"}}
	lists = slices.AppendSeq(lists, maps.Values(documentKeys()))
	lists = slices.AppendSeq(lists, maps.Values(otherKeys))
	for _, k := range slices.Concat(lists...) {
		out[jsonblock.Name(k)] = k
	}
	maps.Copy(out, map[string]string{
		"质量评分": "quality_score", "质量得分": "quality_score", "澄清问题": "questions", "差距": "gaps", "缺口": "gaps",
	})
	return out
})

// canonicalizeFields renames fields, for example "prdDraft" or "Verdict", to the names we read.
func canonicalizeFields(object map[string]any) map[string]any {
	for _, k := range slices.Sorted(maps.Keys(object)) {
		if name := known()[jsonblock.Name(k)]; name != "" && name != k && object[name] == nil {
			object[name] = object[k]
			delete(object, k)
		}
	}
	return object
}

// onlyKnown reports whether all fields of an object are ours.
func onlyKnown(object map[string]any) bool {
	for k := range object {
		if known()[jsonblock.Name(k)] == "" && !statesScore(k) {
			return false
		}
	}
	return true
}

// unwrap looks into an object that has none of our documents for the one object in it that has:
// {"status": "ok", "result": {…}}. The result also has the outer fields that the inner one lacks.
func unwrap(object map[string]any) map[string]any {
	for range 3 {
		if hasDocument(object) || hasAny(object, []string{"quality_score", "verdict"}) {
			break
		}
		var inner map[string]any
		for _, k := range slices.Sorted(maps.Keys(object)) {
			if o, ok := object[k].(map[string]any); ok {
				if inner != nil {
					return object
				}
				inner = canonicalizeFields(o)
			}
		}
		if inner == nil {
			break
		}
		if len(object) > 1 && !hasDocument(inner) {
			break
		}
		for k, v := range object {
			if _, nested := v.(map[string]any); !nested && inner[k] == nil && k != "status" {
				inner[k] = v
			}
		}
		object = inner
	}
	return object
}

// hasDocument reports whether a document field of any stage is there.
func hasDocument(object map[string]any) bool {
	for _, keys := range documentKeys() {
		if hasAny(object, keys) {
			return true
		}
	}
	return hasAny(object, distinctKeys)
}

// documentOf returns the document field of an object: the stage's own, else the field of another
// stage, else a generic one if facts stand beside it.
func documentOf(st workflow.Stage, object map[string]any) (string, bool) {
	keys := Keys(st)
	for _, id := range slices.Sorted(maps.Keys(documentKeys())) {
		for _, k := range documentKeys()[id] {
			// "review" or "plan" of another stage is too common a word to trust.
			if id != st.ID && strings.Contains(k, "_") {
				keys = append(keys, k)
			}
		}
	}
	for _, k := range append(keys, distinctKeys...) {
		if d, ok := asText(object[k]); ok {
			return d, true
		}
	}
	if !hasAny(object, strongMeta) && len(object) > 1 && !onlyKnown(object) {
		return "", false
	}
	for _, k := range genericKeys {
		if inner, ok := object[k].(map[string]any); ok {
			if d, ok := documentOf(st, canonicalizeFields(inner)); ok {
				return d, true
			}
		}
		if d, ok := asText(object[k]); ok {
			return d, true
		}
	}
	return "", false
}

// asText returns a document given as a string, or as structured JSON, indented.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		v = strings.TrimSpace(v)
		return v, v != ""
	case map[string]any, []any:
		text := jsonblock.Format(v, "  ")
		return text, len(text) > 2
	}
	return "", false
}

func hasAny(object map[string]any, keys []string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return object[k] != nil })
}
