package provider_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// FuzzInputObject: whatever a model wrote, servers accept it back, and an object as it is.
func FuzzInputObject(f *testing.F) {
	for _, input := range []string{"", " ", "{}", `{"x":1}`, `{"x":`, `[1]`, `"text"`, "null", "\xff{"} {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		var object map[string]json.RawMessage
		got := provider.InputObject(input)
		if err := json.Unmarshal(got, &object); err != nil || object == nil {
			t.Fatalf("%q becomes %s", input, got)
		}
		var own map[string]json.RawMessage
		switch {
		case json.Unmarshal([]byte(input), &own) == nil && own != nil:
			if string(got) != input {
				t.Errorf("the object %s becomes %s", input, got)
			}
		case strings.TrimSpace(input) == "":
			if len(object) != 0 {
				t.Errorf("%q becomes %s", input, got)
			}
		default:
			var text string
			if err := json.Unmarshal(object["invalid_json"], &text); err != nil || text != strings.ToValidUTF8(input, "\uFFFD") && utf8.ValidString(input) {
				t.Errorf("%q becomes %s", input, got)
			}
		}
	})
}
