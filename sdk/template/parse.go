package template

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// interactive is the mode in which the person is asked.
const interactive = "interactive"

// The bounds of a template: MaxSize in bytes of the file, maxText of the texts with the copies by aliases, and maxName of
// a title, filename or id. maxSections bounds the keys of each table, too.
const (
	MaxSize      = 1 << 20
	maxSections  = 1000
	maxDepth     = 64
	maxNodes     = 100_000
	maxText      = 4 << 20
	maxName      = 300
	maxVariables = 10_000
)

// Template is a document to be written.
type Template struct {
	ID, Name string
	Output   struct{ Format, Filename, Title string }
	// Mode is workflow.mode. Options are offered to the person with each draft.
	Mode     string     `yaml:"-"`
	Options  []string   `yaml:"-"`
	Sections []*Section `yaml:"-"`
	// Warnings name keys and values that are not used as written, with lines.
	Warnings []string `yaml:"-"`
	// rest are the other keys of the file, for the model.
	rest string
	keys map[string]bool
	// variables counts the ones in all sections, shared are the ones in the title and the filename.
	variables int
	shared    []string
}

// Section is a part of a template. Title and Content, which is text of the document word for word, can hold
// {{variables}}; a Condition of "" always holds.
type Section struct {
	ID, Title, Type, Language, Condition, Instruction, Template, Content string

	Repeatable, Elicit bool
	Choices            any
	Sections           []*Section
	// More are keys for the model alone.
	More map[string]any `yaml:",inline"`
	Line int            `yaml:"-"`
	// source is the section as the model reads it, key names it in answers.
	source, key string
	up          *Section
	problems    []string
	// variables are the ones in Title and Content.
	variables []string
}

// forModel are the keys of templates that are for the model alone.
const forModel = " columns prefix example examples owner editors item_template items rows mermaid_type custom_elicitation "

// variable is a {{name}}, alternatives are a choice within a title, {One|Two}, and outside is the beginning of a filename
// that is not in the project.
var (
	variable     = pattern.New(`\{\{\s*([^{}\s](?:[^{}\n]{0,200}[^{}\s])?)\s*\}\}`)
	alternatives = pattern.New(`\{([^{}|\n]+(?:\|[^{}|\n]+)+)\}`)
	outside      = pattern.New(`^(?:/|[A-Za-z]:|\.\.(?:/|$))`)
)

// variablesOf returns the variables in a text, each once.
func variablesOf(text string) (names []string) {
	seen := map[string]bool{}
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		if !seen[m[1]] {
			seen[m[1]], names = true, append(names, m[1])
		}
	}
	return names
}

// checkNames refuses names that are too long.
func checkNames(line int, names ...string) error {
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("line %d: the title, filename or id %q… has %d bytes, more than %d", line, visible.Head(visible.Line(name), 40), len(name), maxName)
		}
	}
	return nil
}

// nameAlternatives makes variables of alternatives.
func nameAlternatives(title, key string) string {
	return alternatives.ReplaceAllStringFunc(title, func(found string) string {
		return "{{" + strings.NewReplacer("{", "", "}", "").Replace(key) + ": " + strings.Trim(found, "{}") + "}}"
	})
}

// UnmarshalYAML reads a section. Values of a wrong type become warnings.
func (s *Section) UnmarshalYAML(n *yaml.Node) error {
	type plain Section
	err := n.Decode((*plain)(s))
	s.Line, s.source = n.Line, asYAML(withoutKeys(n, "id", "sections"))
	s.Sections = slices.DeleteFunc(s.Sections, func(below *Section) bool { return below == nil })
	s.problems, err = splitProblems(err)
	return err
}

// splitProblems takes values of a wrong type out of an error.
func splitProblems(err error) (problems []string, rest error) {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return nil, err
	}
	for _, text := range wrong.Errors {
		text, _, _ = strings.Cut(text, " into ") // a type of Go
		problems = append(problems, text)
	}
	return problems, nil
}

// Parse reads a template. The error names the line.
func Parse(data []byte) (*Template, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the template has %d bytes, more than %d", len(data), MaxSize)
	}
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&document); errors.Is(err, io.EOF) {
		return nil, errors.New("the template is empty")
	} else if err != nil {
		return nil, fmt.Errorf("the template is not valid YAML: %s", visible.Line(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	root := document.Content[0]
	if err := (&bounds{maxNodes, maxText}).expandAliases(root, 0); err != nil {
		return nil, err
	}
	t := &Template{keys: map[string]bool{}}
	var file struct {
		Template *Template
		Workflow struct {
			Mode        string
			Elicitation any
			Custom      struct{ Options []string } `yaml:"custom_elicitation"`
		}
		Sections []*Section
	}
	file.Template = t
	var err error
	if t.Warnings, err = splitProblems(root.Decode(&file)); err != nil {
		return nil, fmt.Errorf("the template cannot be read: %s", visible.Line(err.Error()))
	}
	t.Mode, t.Options = strings.ToLower(cmp.Or(file.Workflow.Mode, interactive)), file.Workflow.Custom.Options[:min(len(file.Workflow.Custom.Options), 12)]
	if file.Workflow.Elicitation == false {
		t.Mode = "non-interactive"
	}
	t.Output.Filename = path.Clean(strings.ReplaceAll(cmp.Or(t.Output.Filename, "docs/"+cmp.Or(t.ID, "document")), `\`, "/"))
	if err = checkNames(root.Line, t.ID, t.Name, t.Output.Title, t.Output.Filename); err != nil {
		return nil, err
	}
	if outside.MatchString(t.Output.Filename) {
		t.warn(root.Line, "the filename %q lies outside of the project; the document is written into docs", t.Output.Filename)
		t.Output.Filename = "docs/" + path.Base(t.Output.Filename)
	}
	t.Output.Title = nameAlternatives(t.Output.Title, "title")
	t.shared = variablesOf(t.Output.Title + t.Output.Filename)
	t.rest = asYAML(withoutKeys(root, "template", "workflow", "sections"))
	if root.Kind == yaml.MappingNode && !hasKey(root, "sections") && t.rest != "{}" { // a form of YAML fields
		file.Sections, t.rest = []*Section{{ID: "form", Type: "yaml", Line: root.Line, source: formText + "\n\n" + t.rest}}, ""
	}
	if t.Sections, err = t.prepareSections(slices.DeleteFunc(file.Sections, func(s *Section) bool { return s == nil }), nil); err == nil && len(t.Sections) == 0 {
		err = errors.New(strings.Join(append([]string{fmt.Sprintf("line %d: the template has no sections", root.Line)}, t.Warnings...), "; "))
	}
	return t, err
}

func (t *Template) warn(line int, format string, args ...any) {
	t.Warnings = append(t.Warnings, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// bounds are the parts and the bytes of text that may come.
type bounds struct{ parts, text int }

// expandAliases puts the parts that aliases name in their places. The keys of a table are compared here, because the decoder
// compares each with each.
func (b *bounds) expandAliases(n *yaml.Node, depth int) error {
	b.parts--
	b.text -= len(n.Value) + len(n.Tag) + len(n.HeadComment) + len(n.LineComment) + len(n.FootComment)
	switch isTable := n.Kind == yaml.MappingNode; {
	case b.parts < 0:
		return fmt.Errorf("line %d: the template has more than %d parts, with the copies by aliases", n.Line, maxNodes)
	case b.text < 0:
		return fmt.Errorf("line %d: the template has more than %d bytes, with the copies by aliases", n.Line, maxText)
	case depth > maxDepth:
		return fmt.Errorf("line %d: the template is nested more than %d deep, or an alias contains itself", n.Line, maxDepth)
	case isTable && len(n.Content) > 2*maxSections:
		return fmt.Errorf("line %d: a table has more than %d keys", n.Line, maxSections)
	}
	n.Anchor = ""
	keys := map[string]bool{}
	for i, c := range n.Content {
		if c.Kind == yaml.AliasNode {
			c = c.Alias
			n.Content[i] = c
		}
		if err := b.expandAliases(c, depth+1); err != nil {
			return err
		}
		switch isKey := i%2 == 0; {
		case n.Kind != yaml.MappingNode:
		case isKey && keys[c.Value]:
			return fmt.Errorf("line %d: the key %q is already defined in this table", c.Line, visible.Head(visible.Line(c.Value), 40))
		case isKey:
			keys[c.Value] = true
		case n.Content[i-1].Value == "sections" && c.Kind == yaml.MappingNode:
			listSections(c)
		}
	}
	return nil
}

// listSections makes a list of a table of sections by id.
func listSections(n *yaml.Node) {
	n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	for i := 0; i+1 < len(n.Content); i++ {
		if s := n.Content[i+1]; s.Kind == yaml.MappingNode && !hasKey(s, "id") {
			s.Content = append([]*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "id"}, n.Content[i]}, s.Content...)
		}
		n.Content = slices.Delete(n.Content, i, i+1)
	}
}

func hasKey(n *yaml.Node, key string) bool {
	return slices.ContainsFunc(n.Content, func(k *yaml.Node) bool { return k.Value == key })
}

// formText is the instruction for a form of YAML fields.
const formText = "Fill in the fields of the form, all but the examples, in their order. The answer is the whole YAML document."

// withoutKeys returns a table without some of its keys.
func withoutKeys(table *yaml.Node, keys ...string) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(table.Content); i += 2 {
		if !slices.Contains(keys, table.Content[i].Value) {
			out.Content = append(out.Content, table.Content[i], table.Content[i+1])
		}
	}
	return out
}

// asYAML returns a part as text.
func asYAML(v any) string {
	data, err := yaml.Marshal(v)
	if err != nil {
		return "" // the model does without it
	}
	return strings.TrimSpace(string(data))
}

// prepareSections gives the sections of a list their keys, and makes two forms one: a variable in the titles of neighbours
// gets a name for each; and if a repeatable section has a fixed title, the ones in it with variables repeat.
func (t *Template) prepareSections(list []*Section, up *Section) (_ []*Section, err error) {
	uses := map[string]int{}
	for n, s := range list {
		if err = checkNames(s.Line, s.ID, s.Title); err != nil {
			return nil, err
		}
		s.up, s.ID, s.Title = up, cmp.Or(visible.Line(s.ID), fmt.Sprintf("section-%d", n+1)), visible.Line(s.Title)
		if s.key = s.ID; t.keys[s.key] && up != nil && len(up.key) <= maxName {
			s.key = up.key + "/" + s.ID
		}
		if t.keys[s.key] {
			t.warn(s.Line, "there is another section %q beside this one", s.ID)
			s.key += fmt.Sprintf("~%d", len(t.keys))
		}
		if t.keys[s.key] = true; len(t.keys) > maxSections {
			return nil, fmt.Errorf("line %d: the template has more than %d sections", s.Line, maxSections)
		}
		s.Title = nameAlternatives(s.Title, s.key)
		for _, name := range variablesOf(s.Title) {
			uses[name]++
		}
		if t.checkSection(s); s.Title+s.Content == "" && len(s.Sections) == 0 && !s.hasText() {
			t.rest = visible.Head(t.rest+"\n"+s.source, groupSize) // for all sections
		}
	}
	for _, s := range list {
		s.Title = variable.ReplaceAllStringFunc(s.Title, func(found string) string {
			name := variablesOf(found)[0]
			if s.Repeatable || uses[name] < 2 || slices.Contains(t.shared, name) {
				return found
			}
			return "{{" + s.key + "." + name + "}}"
		})
		s.variables = variablesOf(s.Title + "\n" + s.Content)
		if t.variables += len(s.variables); t.variables > maxVariables {
			return nil, fmt.Errorf("line %d: the template has more than %d variables", s.Line, maxVariables)
		}
		if s.Sections, err = t.prepareSections(s.Sections, s); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// checkSection warns of keys and values that are not used as written.
func (t *Template) checkSection(s *Section) {
	t.Warnings = append(t.Warnings, s.problems...)
	for _, key := range slices.Sorted(maps.Keys(s.More)) {
		if !strings.Contains(forModel, " "+key+" ") {
			t.warn(s.Line, "the key %q is not known; the model reads it as it is", visible.Line(key))
		}
	}
	if s.Type == "mermaid" {
		s.Type, s.Language = "code", s.Type
	}
	isEmpty := s.Instruction+s.Template+s.Content+s.Type == "" && len(s.Sections) == 0
	switch {
	case s.Type == "choice" && s.textSchema()["enum"] == nil:
		t.warn(s.Line, "the section %q is a choice without choices", s.ID)
	case s.Title == "" && isEmpty:
		t.warn(s.Line, "the section %q has neither a title nor anything to write", s.ID)
	case s.Repeatable && isEmpty && len(variablesOf(s.Title)) == 0:
		t.warn(s.Line, "the section %q is repeatable, but nothing says with which items", s.ID)
	}
	if s.Repeatable && len(variablesOf(s.Title)) == 0 {
		s.Repeatable = false
		for _, below := range s.Sections {
			below.Repeatable = below.Repeatable || len(variablesOf(below.Title)) > 0
		}
	}
}
