package resolve

import (
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// textList returns a list of texts, or the one text. A text that YAML reads as a table, because of a
// colon in it, counts too.
func textList(v any) []string {
	var out []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	switch v := v.(type) {
	case string:
		for part := range strings.SplitSeq("\n"+v, "\n- ") { // a list, written as a text
			add(part)
		}
	case []any:
		for _, item := range v {
			if s, ok := format.PlainText(item); ok {
				add(s)
				continue
			}
			table, _ := item.(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(table)) {
				if s, ok := format.PlainText(table[key]); ok {
					add(key + ": " + s)
				}
			}
		}
	}
	return out
}

func multiline(v any) string {
	s, _ := v.(string)
	return s
}
