package workflow

import (
	"embed"
	"sync"
)

// DefaultName is the workflow of a session that names none.
const DefaultName = "bmad"

//go:embed definitions/*.yaml definitions/schema.json
var builtin embed.FS

// Builtins returns the built-in definitions, the default first. The caller owns them.
func Builtins() []*Definition {
	out := make([]*Definition, 0, len(builtins()))
	for _, d := range builtins() {
		out = append(out, d.Clone())
	}
	return out
}

// BuiltinText returns the YAML of a built-in definition; "" if there is none of the name.
func BuiltinText(name string) string {
	data, err := builtin.ReadFile("definitions/" + name + ".yaml")
	if err != nil {
		return ""
	}
	return string(data)
}

// Schema returns the JSON Schema of the YAML of a definition, for editors.
func Schema() string {
	data, _ := builtin.ReadFile("definitions/schema.json") // embedded, so it is always there
	return string(data)
}

// builtins are read once, as they never change.
var builtins = sync.OnceValue(func() []*Definition {
	var out []*Definition
	for _, name := range []string{DefaultName, "quick", "plan", "fix"} {
		d, problems := Read(name, []byte(BuiltinText(name)))
		if problems != nil {
			panic(problems) // a mistake in this package, which the tests find
		}
		out = append(out, d)
	}
	return out
})

// Default returns the six stages PO → Architect → SM → Dev → Review → QA. The
// caller owns the returned value and may adjust gates and engines.
func Default() *Definition { return builtins()[0].Clone() }
