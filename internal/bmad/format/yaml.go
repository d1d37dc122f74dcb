package format

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
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
var wrongKind = regexp.MustCompile("(?s)cannot unmarshal !!([a-z]+)(?: (`.*`))? into .*")

// YAMLError words an error of YAML for the person who wrote the text.
func YAMLError(err error) error {
	var kinds *yaml.TypeError
	if !errors.As(err, &kinds) {
		return err
	}
	var parts []string
	for _, line := range kinds.Errors {
		parts = append(parts, wrongKind.ReplaceAllStringFunc(line, func(text string) string {
			m := wrongKind.FindStringSubmatch(text)
			is := map[string]string{"str": "a text", "int": "a number", "float": "a number", "bool": "true or false", "seq": "a list", "map": "a table"}[m[1]]
			return strings.TrimSpace(m[2] + " is " + cmp.Or(is, m[1]) + ", which does not belong there")
		}))
	}
	return errors.New(strings.Join(parts, "; "))
}
