package words_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// fake is a line of its own that a file puts into a text.
const fake = "FAKE LINE"

// names are the keys of a session whose texts store.Decode lets be lines only.
var names = []string{
	"session_id", "task_name", "cwd", "file_path", "path", "kept", "sha256", "from", "to",
	"by", "subject", "name", "client", "artifacts", "work_tree", "prev", "standing", "judged", "project",
}

// addLines puts a line of its own into each text of a value that people, models and commands write.
func addLines(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			addLines(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			addLines(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if value := v.MapIndex(key); value.Kind() == reflect.Pointer {
				addLines(value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if v.Type().Field(i).IsExported() && key != "workflow" && !slices.Contains(names, key) {
				addLines(v.Field(i))
			}
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.CanSet() && v.String() != "" && !isResult(v.String()) {
			v.SetString(v.String() + "\n" + fake)
		}
	}
}

// isResult reports whether a text is one of those that decide which sentence is said.
func isResult(text string) bool {
	return slices.Contains([]string{"pass", "fail", "not_tested", "out_of_scope", "critical", "major", "minor", "open", "fixed", "withdrawn"}, text)
}

// TestNoValueBeginsALine: what a person decides by has no line that a file, and not this program, has begun.
func TestNoValueBeginsALine(t *testing.T) {
	t.Parallel()
	told := 0
	for _, language := range lang.All() {
		for _, one := range situations() {
			s := at(one.stage, one.state)
			s.Language, s.Call.Subject = language, "cat"
			if one.change != nil {
				one.change(s)
			}
			addLines(reflect.ValueOf(s.Session))
			said := describe(s)
			told += strings.Count(said, fake)
			for line := range strings.Lines(said) {
				if strings.HasPrefix(strings.TrimLeft(line, " \t>-*•"), fake) {
					t.Errorf("%s, %s:\n%s", one.name, language, said)
					break
				}
			}
		}
	}
	if told < 100 {
		t.Errorf("%d of the texts are told", told)
	}
}
