package jsonblock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var inline = pattern.New(`\{"a"`)

func hasA(raw string) bool { return strings.Contains(raw, "a") }

func TestFind(t *testing.T) {
	t.Parallel()
	const fence = "```"
	for name, tt := range map[string]struct{ text, want string }{
		"bare":                 {`{"a": 1}`, `0-8 {"a": 1}`},
		"two":                  {"{\"a\": 1}\n  {\"a\": 2} more", `0-8 {"a": 1}; 11-19 {"a": 2}`},
		"in a fence":           {"x\n" + fence + "json\n{\"a\": 1}\n" + fence + "\ny", `2-22 {"a": 1}`},
		"in a fence with more": {fence + "\n{\"a\": 1} and\n" + fence, "0-20 not read: {\"a\": 1} and"},
		"in a fence with text": {fence + "\nsay\n{\"a\": 1}\n" + fence, `8-16 {"a": 1}`},
		"beside such a fence":  {fence + "\nsay\n{\"a\": 1}\n" + fence + "\n{\"a\": 2}", `21-29 {"a": 2}`},
		"an open fence":        {fence + "\n{\"a\": 1}", `0-12 {"a": 1}`},
		"a fence in a text":    {fence + "\n{\"a\": \"\n" + fence + "\n\"}\n" + fence, "0-22 {\"a\": \"\n" + fence + "\n\"}"},
		"in a line":            {`so: {"a": 1}.`, `4-12 {"a": 1}`},
		"another in a line":    {`so: {"b": "a"}.`, ``},
		"in a comment":         {"<!--\n{\"a\": 1}\n-->", ``},
		"none of ours":         {"{\"b\": {\n\"c\": 1}}\n{\"a\": 1}", `17-25 {"a": 1}`},
		"no object":            {"{a word\n{ }\n{]\n{\"a\": 1}", `15-23 {"a": 1}`},
		"trailing comma":       {`{"a": [1,],}`, `0-12 {"a": [1,],}`},
		"a field twice":        {`{"a": 1, "a": 2}`, `0-16 {"a": 1, "a": 2} twice`},
		"breaks off":           {"{\"a\": [1\n" + fence + "\n{\"a\": 1}\n" + fence, "0-8 not read: {\"a\": [1; 9-25 {\"a\": 1}"},
		"too deep":             {`{"a": ` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `,}`, "0-1208 not read: " + `{"a": ` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `,}`},
	} {
		var got []string
		for _, b := range Find(tt.text, hasA, inline) {
			said := fmt.Sprintf("%d-%d ", b.Start, b.End)
			switch {
			case b.Object == nil:
				said += "not read: " + b.Raw
			case b.Err != nil:
				said += b.Raw + " twice"
			default:
				said += b.Raw
			}
			got = append(got, said)
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: got %s\nwant %s", name, got, tt.want)
		}
	}
}

// FuzzFind checks that blocks have their places in any text, one behind the other.
func FuzzFind(f *testing.F) {
	f.Add("x\n```json\n{\"a\": 1}\n```\n{\"a\": [1,]}\nso: {\"a\": 1}. <!--\n{\"a\": 1} -->\n{'a': \"")
	f.Add("````\nsay\n```\n{\"a\": \"\n```\n\"}\n```")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, b := range Find(text, hasA, inline) {
			if b.Start < at || b.At < b.Start || b.End > len(text) || b.At+len(b.Raw) > b.End || !strings.HasPrefix(text[b.At:], b.Raw) {
				t.Errorf("%q: %+v", text, b)
			}
			if (b.Object == nil) && b.Err == nil {
				t.Errorf("%q: nothing is said of what cannot be read", b.Raw)
			}
			at = b.End
		}
	})
}
