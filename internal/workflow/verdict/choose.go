package verdict

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// chooseBlocks keeps the objects that are blocks of the report. If one has rows, the others are the
// product's own data, unless they have nothing but commands or a verdict of the report.
func chooseBlocks(found []block, keys []string) []block {
	var out, other []block
	parts := 0
	for _, b := range found {
		switch {
		case b.object == nil, hasRows(b.object):
			out = append(out, b)
		case hasOnlyBlockFields(b.object, keys):
			_, checks := b.object["checks"].([]any)
			if checks || readVerdict(textField(b.object, "verdict")) != "" {
				parts++
				out = append(out, b)
			}
			other = append(other, b)
		default:
			if key, _ := documentIn(b.object, keys); key != "" {
				other = append(other, b)
			}
		}
	}
	if len(out) == parts {
		out = other
	}
	return out
}

// isDocument reports whether a field holds the report itself.
func isDocument(key string, keys []string) bool {
	return slices.Contains(keys, key) || strings.HasSuffix(key, "_report") || key == "report" || key == "document" || key == "markdown"
}

// documentIn returns the field of an object that holds the report, the stage's own first.
func documentIn(object map[string]any, keys []string) (key, text string) {
	names := slices.Clone(keys)
	for name := range object {
		if isDocument(name, nil) {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(keys):])
	for _, name := range names {
		if text, ok := object[name].(string); ok && strings.TrimSpace(text) != "" {
			return name, text
		}
	}
	return "", ""
}

// hasRows reports whether an object has rows: a block does, a sample of the product's data does
// not.
func hasRows(object map[string]any) bool {
	for _, key := range []string{"criteria", "findings"} {
		switch object[key].(type) {
		case []any, map[string]any:
			return true
		}
	}
	return false
}

// hasOnlyBlockFields reports whether an object has nothing but fields of a block.
func hasOnlyBlockFields(object map[string]any, keys []string) bool {
	for key := range object {
		if fields[jsonblock.Name(key)] == "" && !isDocument(key, keys) {
			return false
		}
	}
	return true
}

// withoutBlocks returns the text around blocks.
func withoutBlocks(text string, blocks []block) string {
	var out strings.Builder
	at := 0
	for _, b := range blocks {
		out.WriteString(text[at:b.Start])
		at = b.End
		if strings.HasPrefix(text[at:], "\n") {
			at++
		}
	}
	return out.String() + text[at:]
}
