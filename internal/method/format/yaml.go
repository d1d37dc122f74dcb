package format

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Scalars reads the plain values at the left edge of a YAML text, which may end anywhere.
func Scalars(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \t#-\"'") {
			continue
		}
		var v any
		if err := yaml.Unmarshal([]byte(value), &v); err == nil {
			if s, ok := v.(string); ok {
				out[key] = s
			}
		}
	}
	return out
}

// wrongKind finds the YAML parser's message about a value of the wrong kind, which names the
// expected kind in terms of Go.
var wrongKind = pattern.New("(?s)^line ([0-9]+): cannot unmarshal !!([a-z]+)(?: (`.*`))? into .*")

// kinds names the parser's kinds of values, for people.
var kinds = map[string]lang.Text{
	"str": lang.T("a text"), "int": lang.T("a number"), "float": lang.T("a number"), "bool": lang.T("true or false"), "seq": lang.T("a list"), "map": lang.T("a table"),
}

// YAMLError words an error of YAML for the person who wrote the text.
func YAMLError(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	parts := make([]lang.Text, len(wrong.Errors))
	for n, line := range wrong.Errors {
		parts[n] = explainKind(line)
	}
	return lang.Errorf("%s", lang.Join(parts, "; "))
}

// explainKind words a message about one value.
func explainKind(line string) lang.Text {
	m := wrongKind.FindStringSubmatch(line)
	if m == nil {
		return lang.T("%s", line)
	}
	is, known := kinds[m[2]]
	if !known {
		is = lang.T("%s", m[2])
	}
	if m[3] == "" {
		return lang.T("line %s: is %s, which does not belong there", m[1], is)
	}
	return lang.T("line %s: %s is %s, which does not belong there", m[1], m[3], is)
}
