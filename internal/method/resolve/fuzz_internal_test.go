package resolve

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// FuzzAgentFile: an agent of version 4 or 6, whatever is left of its file, is read without a panic.
func FuzzAgentFile(f *testing.F) {
	for _, text := range []string{
		"", "# X\n", "---\nagent:\n  name: a\n---\nbody\n", "```yaml\nagent: {id: x}\ncommands:\n  - a: b\n  - c\n```\n",
		"<agent><persona><role>R</role><principles>- a - b</principles></persona><item cmd=\"*x\" exec=\"y\">[X] z</item></agent>", "<persona><role>",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data string) {
		data = format.Normalize([]byte(data))
		if a, err := readClassic(data); err == nil && format.ClassicBlock(data) == "" && a.Persona.Role != "" {
			t.Fatalf("no block, and the role %q", a.Persona.Role)
		}
		p := &Persona{}
		p.fromXML(data)
		if len(p.Menu) > strings.Count(data, "<item") {
			t.Fatalf("%d items of a menu, got from %q", len(p.Menu), data)
		}
	})
}
