package workflow

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// MaxDefinition is the largest definition accepted, in bytes: each session keeps a copy.
const MaxDefinition = 32 << 10

const (
	maxStages = 20
	maxLine   = 200 // characters of a text, a name or a list item
)

// Problem is a mistake in a definition, at a line of the file.
type Problem struct {
	Line int    `json:"line"`
	Text string `json:"text"` // in English, or in the language of [Problem.Translated]
	said lang.Text
}

// Translated returns the problem with the text in a language.
func (p Problem) Translated(l lang.Language) Problem {
	if !p.said.Empty() {
		p.Text = p.said.In(l)
	}
	return p
}

// In returns the problem for people, with the line.
func (p Problem) In(l lang.Language) string {
	return l.Say("line %d: %s", p.Line, p.Translated(l).Text)
}

// String returns the problem for people, in English.
func (p Problem) String() string { return p.In(lang.English) }

// Read reads the definition in a file <name>.yaml, and lists the mistakes in the order of lines.
func Read(name string, data []byte) (*Definition, []Problem) {
	r := reader{d: &Definition{}}
	if len(data) > MaxDefinition {
		r.addMistake(1, "the file takes %d bytes; at most %d are read", len(data), MaxDefinition)
		return nil, r.problems
	}
	r.readDocument(data)
	if len(r.problems) == 0 {
		r.checkDefinition(name)
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	r.d.Hash = r.d.contentHash()
	return r.d, nil
}

// reader gathers a definition and the mistakes in it.
type reader struct {
	d *Definition
	// lines has the line of each stage, by position, keyed by the name of a field; "" is the line
	// of the stage.
	lines    []map[string]int
	top      map[string]int
	problems []Problem
}

func (r *reader) addMistake(line int, format string, args ...any) {
	text := lang.T(format, args...)
	r.problems = append(r.problems, Problem{max(line, 1), text.String(), text})
}

// errSecondDocument is the error for a file of which a part would not count.
var errSecondDocument = lang.Errorf("a second document begins (--- or ...), and only one is read")

// ReadYAML reads the only document of a file into a node, which stays as it is without one. An error is in a line.
func ReadYAML(data []byte, root *yaml.Node) (line int, err error) {
	documents := yaml.NewDecoder(bytes.NewReader(data))
	for err = documents.Decode(root); err == nil; {
		var next yaml.Node
		if err = documents.Decode(&next); err == nil && len(next.Content) > 0 && next.Content[0].Tag != "!!null" {
			return next.Content[0].Line, errSecondDocument
		}
	}
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	text := err.Error()
	place := yamlPlace.FindStringSubmatch(text) // each error of the library has it
	line, _ = strconv.Atoi(place[1])
	if err = errors.New(text[len(place[0]):]); strings.Contains(text, "<document start>") {
		err = errSecondDocument
	}
	return max(line, 1), err
}

var yamlPlace = pattern.New(`^(?:yaml: (?:line (\d+): )?)?`)

func (r *reader) readDocument(data []byte) {
	var root yaml.Node
	if line, err := ReadYAML(data, &root); err != nil {
		r.addMistake(line, "not valid YAML: %s", err)
		return
	}
	if len(root.Content) == 0 {
		r.addMistake(1, "the file is empty")
		return
	}
	r.top = r.readFields(root.Content[0], reflect.ValueOf(r.d).Elem(), lang.T("a definition"))
}

// readFields fills the fields of a struct from a mapping, by their JSON names, and returns the
// lines of the keys.
func (r *reader) readFields(n *yaml.Node, into reflect.Value, what lang.Text) map[string]int {
	lines := map[string]int{"": n.Line}
	if n.Kind != yaml.MappingNode {
		r.addMistake(n.Line, "expected key: value lines for %s", what)
		return lines
	}
	known := map[string]reflect.Value{}
	var valid []string
	for i := range into.NumField() {
		key, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		if key != "" && key != "-" && key != "hash" {
			known[key] = into.Field(i)
			valid = append(valid, key)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field, ok := known[key.Value]
		switch {
		case !ok:
			r.addMistake(key.Line, "unknown key %q; the keys of %s are %s", key.Value, what, strings.Join(valid, ", "))
			continue
		case lines[key.Value] > 0:
			r.addMistake(key.Line, "%q is there twice", key.Value)
			continue
		}
		lines[key.Value] = key.Line
		r.readValue(key.Value, value, field)
	}
	return lines
}

func (r *reader) readValue(key string, n *yaml.Node, field reflect.Value) {
	if n.Kind == yaml.AliasNode {
		r.addMistake(n.Line, "%q is an alias (*%s); write the value out", key, n.Value)
		return
	}
	switch field.Interface().(type) {
	case []Stage:
		r.readStages(n)
	case []Engine, []string:
		if n.Kind != yaml.SequenceNode {
			r.addMistake(n.Line, "%s: want a list such as [one, two]", key)
			return
		}
		for _, item := range n.Content {
			r.checkText(key, item)
			field.Set(reflect.Append(field, reflect.ValueOf(item.Value).Convert(field.Type().Elem())))
		}
	case bool:
		if n.Value != "true" && n.Value != "false" {
			r.addMistake(n.Line, "%s: want true or false, not %q", key, n.Value)
			return
		}
		field.SetBool(n.Value == "true")
	case float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || !(f >= 0 && f <= 100) { // in this form NaN is refused too
			r.addMistake(n.Line, "%s: want a number from 0 to 100, not %q", key, n.Value)
			return
		}
		field.SetFloat(f)
	default: // a text
		r.checkText(key, n)
		field.SetString(strings.TrimSpace(n.Value))
	}
}

// checkText refuses a value that is not one short line.
func (r *reader) checkText(key string, n *yaml.Node) {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.addMistake(n.Line, "%s: want a text", key)
	case len([]rune(n.Value)) > maxLine:
		r.addMistake(n.Line, "%s has %d characters; at most %d are accepted", key, len([]rune(n.Value)), maxLine)
	case visible.Steers(n.Value), strings.ContainsAny(strings.TrimSpace(n.Value), "\n\t"):
		r.addMistake(n.Line, "%s has a line break or a control character", key)
	}
}

func (r *reader) readStages(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.addMistake(n.Line, "stages: want a list of stages, each beginning with \"- id:\"")
		return
	}
	if len(n.Content) > maxStages {
		r.addMistake(n.Content[maxStages].Line, "%d stages; at most %d are accepted", len(n.Content), maxStages)
		return
	}
	for _, item := range n.Content {
		var st Stage
		r.lines = append(r.lines, r.readFields(item, reflect.ValueOf(&st).Elem(), lang.T("a stage")))
		r.d.Stages = append(r.d.Stages, st)
	}
}
