package audit

import (
	"errors"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxRubric is the largest rubric file accepted, in bytes.
const maxRubric = 256 << 10

// FileName returns the name of a stage's rubric file.
func FileName(st workflow.Stage) string { return st.RubricName() + ".yaml" }

// Read returns the text of a stage's rubric in a folder; nil if there is none.
func Read(own fs.FS, st workflow.Stage) ([]byte, error) {
	name := FileName(st)
	data, err := durable.ReadFile(own, name, maxRubric)
	var large *durable.TooLargeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &large):
		return nil, mistakeAt(name, 1, "the rubric takes %d bytes; at most %d are read", max(large.Size, maxRubric+1), maxRubric)
	case err != nil:
		return nil, fault.New(fault.Storage, "the rubric %s cannot be read: %w", name, err).
			WithHint("make it a readable file, or remove it to use the built-in rubric")
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

// Load returns the rubric of a stage of a workflow: from own, if own is not nil and has one, else
// the built-in one, else the built-in one of the stage's kind.
func Load(own fs.FS, d *workflow.Definition, st workflow.Stage) (Rubric, error) {
	if !st.Audited() {
		return Rubric{}, fault.New(fault.InvalidArgument, "the report of stage %q is judged by its rows, and not audited", st.ID).
			WithHint("audit the documents and plans before it")
	}
	if own != nil {
		data, err := Read(own, st)
		switch {
		case err != nil:
			return Rubric{}, err
		case data != nil:
			return Parse(FileName(st), d, st, data)
		}
	}
	r, err := loadBuiltin(st)
	r.Stage = st.ID
	return r, err
}

// Builtin reports whether there is a built-in rubric of the stage's own, and not only of the kind.
func Builtin(st workflow.Stage) bool {
	_, err := fs.Stat(builtin, "rubrics/"+FileName(st))
	return err == nil
}

// loadBuiltin returns the built-in rubric for a stage.
func loadBuiltin(st workflow.Stage) (Rubric, error) {
	if !Builtin(st) {
		st.Rubric = map[workflow.Kind]string{
			workflow.KindDocument: "document", workflow.KindPlan: string(workflow.SM), workflow.KindBuild: string(workflow.Dev),
		}[st.Kind]
	}
	if r, ok := parsed.Load(st.RubricName()); ok {
		return r.(Rubric), nil
	}
	data, err := fs.ReadFile(builtin, "rubrics/"+FileName(st))
	if err != nil {
		return Rubric{}, fault.From(err)
	}
	r, err := Parse(FileName(st), nil, st, data)
	if err == nil {
		parsed.Store(st.RubricName(), r)
	}
	return r, err
}

// parsed keeps the built-in rubrics by name, as they never change.
var parsed sync.Map

// sectionNames returns the section names of the rubric.
func (r Rubric) sectionNames() []string {
	var out []string
	for _, c := range r.checks {
		if c.Kind == "section" {
			out = append(out, c.Names...)
		}
	}
	return out
}

// Parse reads the text of the rubric file of a stage of a workflow. An error has the file's name and
// the line. d may be nil: the rubric then names only stages of the built-in workflows.
func Parse(name string, d *workflow.Definition, st workflow.Stage, data []byte) (Rubric, error) {
	r := Rubric{Stage: st.ID}
	if len(data) > maxRubric {
		return r, mistakeAt(name, 1, "the rubric takes %d bytes; at most %d are read", len(data), maxRubric)
	}
	var doc yaml.Node
	if line, err := workflow.ReadYAML(data, &doc); err != nil {
		return r, mistakeAt(name, line, "%s", err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return r, mistakeAt(name, max(doc.Line, 1), "a rubric begins with stage: and checks:")
	}
	top := doc.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		switch {
		case key.Value == "stage" && value.Value != string(st.ID) && value.Value != st.RubricName():
			return r, mistakeAt(name, value.Line, "it is for stage %q and is used for %q", value.Value, st.ID)
		case key.Value == "stage":
		case key.Value != "checks":
			return r, mistakeAt(name, key.Line, "unknown key %q; valid are stage, checks", key.Value)
		case value.Kind != yaml.SequenceNode:
			return r, mistakeAt(name, value.Line, "checks is a list: lines that begin with - id:")
		default:
			if err := r.parseChecks(name, d, value.Content); err != nil {
				return r, err
			}
		}
	}
	if len(r.checks)+len(r.Retired) == 0 {
		return r, mistakeAt(name, 1, "it has no checks; take the file away to use the built-in rubric")
	}
	return r, nil
}

func (r *Rubric) parseChecks(name string, d *workflow.Definition, nodes []*yaml.Node) error {
	for _, n := range nodes {
		if kind, _ := kindOf(n); retired[kind] {
			r.Retired = append(r.Retired, kind)
			continue
		}
		c, err := parseCheck(name, n, d)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.checks, func(o check) bool { return o.ID == c.ID }) {
			return mistakeAt(name, n.Line, "the check %s is there twice; give each its own id", c.ID)
		}
		r.checks = append(r.checks, c)
	}
	return nil
}

// stageNames returns the stages of a workflow and of the built-in ones, each once.
func stageNames(d *workflow.Definition) []string {
	return workflow.IDsOf(workflow.StagesOf(append([]*workflow.Definition{d}, workflow.Builtins()...)...))
}

var checkID = pattern.New(`^[A-Z][A-Z0-9-]{1,39}$`)

func mistakeAt(name string, line int, format string, args ...any) error {
	return fault.New(fault.InvalidArgument, "%s, line %d: %s", name, line, lang.T(format, args...)).
		WithHint("correct that line of the rubric; nothing was changed")
}

// common are the keys possible in every check.
var common = []string{"id", "kind", "severity", "points", "each", "cap", "problem", "fix", "unless_title"}

func parseCheck(name string, n *yaml.Node, d *workflow.Definition) (check, error) {
	var c check
	if n.Kind != yaml.MappingNode {
		return c, mistakeAt(name, n.Line, "a check is a block of key: value lines")
	}
	var line int
	c.Kind, line = kindOf(n)
	if _, ok := kinds[c.Kind]; !ok && c.Kind != "" {
		return c, mistakeAt(name, line, "unknown kind %q; valid are %s", c.Kind, strings.Join(kindNames(), ", "))
	}
	if c.Kind == "" {
		return c, mistakeAt(name, n.Line, "the check has no kind; valid are %s", strings.Join(kindNames(), ", "))
	}
	valid := append(slices.Clone(common), kinds[c.Kind].keys...)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !slices.Contains(valid, key.Value) {
			return c, mistakeAt(name, key.Line, "unknown key %q of a check of kind %s; valid are %s", key.Value, c.Kind, strings.Join(valid, ", "))
		}
		if err := c.setParameter(key.Value, value); err != nil {
			return c, mistakeAt(name, key.Line, "%s: %s", key.Value, err)
		}
		if key.Value != "from" {
			continue
		}
		if stages := stageNames(d); !slices.Contains(stages, c.From) {
			return c, mistakeAt(name, key.Line, "from: %q is not a stage; valid are %s", c.From, strings.Join(stages, ", "))
		}
	}
	return c, c.completeParameters(name, n.Line)
}

// kindOf returns the kind of a check, and the line.
func kindOf(n *yaml.Node) (kind string, line int) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "kind" {
			kind, line = n.Content[i+1].Value, n.Content[i].Line
		}
	}
	return kind, line
}

// completeParameters returns an error if a check lacks a required parameter.
func (c *check) completeParameters(name string, line int) error {
	c.Names, c.FiguresIn = namesOf(append([]string{c.Name}, c.Also...)), namesOf(c.FiguresIn)
	switch {
	case c.ID == "":
		return mistakeAt(name, line, "the check has no id")
	case c.Severity == "":
		return mistakeAt(name, line, "the check %s has no severity; valid are critical, major, minor, question", c.ID)
	case c.Severity == workflow.SeverityQuestion && c.Points+c.Each > 0:
		return mistakeAt(name, line, "the check %s is a question, which takes no points", c.ID)
	case c.Severity != workflow.SeverityQuestion && c.Points+c.Each == 0:
		return mistakeAt(name, line, "the check %s has neither points nor each", c.ID)
	case c.Problem == "" || c.Fix == "":
		return mistakeAt(name, line, "the check %s needs a problem and a fix", c.ID)
	}
	for _, key := range kinds[c.Kind].needs {
		if reflect.ValueOf(c.parameterFor(key)).Elem().IsZero() {
			return mistakeAt(name, line, "the check %s of kind %s needs %s", c.ID, c.Kind, key)
		}
	}
	if whats := kinds[c.Kind].whats; len(whats) > 0 && !slices.Contains(whats, c.What) {
		return mistakeAt(name, line, "the check %s has what: %q; valid are %s", c.ID, c.What, strings.Join(whats, ", "))
	}
	return nil
}

// namesOf normalizes the names of sections.
func namesOf(names []string) (out []string) {
	for _, n := range names {
		mark := ""
		if strings.HasPrefix(n, "=") {
			mark = "="
		}
		if n = markdown.NameOf(strings.TrimPrefix(n, "=")); n != "" {
			out = append(out, mark+n)
		}
	}
	return out
}

// parameterFor returns the parameter of a key.
func (c *check) parameterFor(key string) any {
	return map[string]any{
		"id": &c.ID, "severity": &c.Severity, "problem": &c.Problem, "fix": &c.Fix, "name": &c.Name, "what": &c.What,
		"only": &c.Only, "from": &c.From, "points": &c.Points, "each": &c.Each, "cap": &c.Cap, "alone": &c.Alone,
		"min": &c.Min, "at": &c.At, "full": &c.Full, "also": &c.Also, "figures_in": &c.FiguresIn, "words": &c.Words, "ids": &c.IDs,
		"through": &c.Through, "unless_title": &c.UnlessTitle,
	}[key]
}

func (c *check) setParameter(key string, value *yaml.Node) (err error) {
	switch p := c.parameterFor(key).(type) {
	case *string:
		*p = value.Value
		return c.checkValue(key)
	case *float64:
		*p, err = readPoints(value)
	case *int:
		*p, err = wholeNumber(value)
	case *[]string:
		*p, err = readTexts(value)
	}
	for i := range c.UnlessTitle {
		c.UnlessTitle[i] = markdown.NameOf(c.UnlessTitle[i])
	}
	return err
}

// checkValue rejects a text that is not one of the values of a key.
func (c *check) checkValue(key string) error {
	switch {
	case key == "id" && !checkID.MatchString(c.ID):
		return lang.Errorf("%q is not an id; use capitals, digits and hyphens, as in NO-CRITERIA", c.ID)
	case key == "severity" && !slices.Contains([]string{"critical", "major", "minor", workflow.SeverityQuestion}, c.Severity):
		return lang.Errorf("%q is not a severity; valid are critical, major, minor, question", c.Severity)
	case key == "only" && c.Only != "must":
		return lang.Errorf("%q is not known; the only value is must", c.Only)
	}
	return nil
}

func readPoints(n *yaml.Node) (float64, error) {
	f, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f > 100 {
		return 0, lang.Errorf("must be a number above 0 and at most 100, not %q", n.Value)
	}
	return f, nil
}

func wholeNumber(n *yaml.Node) (int, error) {
	i, err := strconv.Atoi(n.Value)
	if err != nil || i <= 0 {
		return 0, lang.Errorf("%q is not a whole number above 0", n.Value)
	}
	return i, nil
}

func readTexts(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		return []string{n.Value}, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, lang.Errorf("want a list such as [one, two]")
	}
	var out []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || strings.TrimSpace(item.Value) == "" {
			return nil, lang.Errorf("want a list of plain words")
		}
		out = append(out, item.Value)
	}
	return out, nil
}

// Rubric is the rules for one stage, as data.
type Rubric struct {
	Stage workflow.StageID
	// Retired are the kinds of checks that no longer find anything.
	Retired []string

	checks []check
}
