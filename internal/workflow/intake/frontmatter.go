package intake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// A document may state its facts in YAML front matter instead of a block of JSON at its end. It is
// read as that block would be; fields that are not facts about a submission stay in the document.

// Limits of front matter; a text that exceeds them begins with something else.
const (
	maxFront      = 64 << 10
	maxFrontDepth = 20
)

// frontFacts are the fields for which front matter is taken as the block of a submission.
var frontFacts = []string{"quality_score", "questions", "clarification_questions", "clarifying_questions", "gaps", "verdict", "findings", "criteria", "checks", "resolved"}

// frontFields are those that are then taken out of the document.
var frontFields = slices.Concat(frontFacts, []string{"score", "ready_for_approval", "needs", "问题"})

// front is the front matter of a submission.
type front struct {
	envelope
	// body is the text without the fields that were taken, data the JSON of all fields.
	body, data string
}

// FrontBlock returns the fields of a text's front matter as a block of JSON, each field as often as it
// occurs, and the text below; block is empty if there is none with facts of a
// submission. defect says why one cannot be read.
func FrontBlock(stage workflow.Stage, text string) (block, body string, defect lang.Text) {
	f := readFront(stage, text)
	return f.data, f.body, f.defect
}

// readFront reads the front matter of a text. If it has none with facts, body is the
// text as it is.
func readFront(stage workflow.Stage, text string) front {
	none := front{body: text}
	head, body, ok := cutFront(text)
	if !ok || !frontField.MatchString(head) || heading.MatchString(head) || !frontFact.MatchString(head) {
		return none
	}
	fields, err := readYAML(quoteTexts(head))
	if plain, is := readYAML(head); is == nil && (err != nil || frontBlock.MatchString(head)) {
		fields, err = plain, nil
	}
	if err != nil {
		line := 0
		_, _ = fmt.Sscanf(err.Error(), "yaml: line %d:", &line) // 0 if it names none
		none.defect = lang.T("is not valid YAML, at line %d", line+1)
		return none
	}
	data := formatJSON(fields, 0)
	object := decodeObject(data)
	if object == nil || !hasAny(object, frontFacts) {
		return none
	}
	e := envelope{stage: stage, object: object, inText: true, scores: repeatedValues(data)}
	return front{envelope: e, data: data, body: strings.TrimSpace(leave(fields, head) + body)}
}

// cutFront returns the text between the two lines of dashes that begin a text, and the rest.
func cutFront(text string) (head, body string, ok bool) {
	rest, ok := strings.CutPrefix(text, "---")
	if !ok || strings.TrimSpace(rest[:max(0, strings.IndexByte(rest, '\n'))]) != "" {
		return "", "", false
	}
	_, rest, _ = strings.Cut(rest, "\n")
	m := frontEnd.FindStringIndex(rest[:min(len(rest), maxFront)])
	if m == nil {
		return "", "", false
	}
	return rest[:m[0]], rest[m[1]:], true
}

var (
	// frontEnd is the line that closes front matter, frontFact the name of a field for which it is read.
	frontEnd  = pattern.New(`(?m)^(?:---|\.\.\.)[ \t]*$\n?`)
	frontFact = pattern.New(`(?im)^["']?(?:quality[ _-]?score|(?:clarif(?:ication|ying)[ _-])?questions|gaps|verdict` +
		`|findings|criteria|resolved|质量评分|质量得分|问题|澄清问题|差距|缺口)["']?[ \t]*[:：]`)
	// frontField sets it apart from a text below a line of dashes.
	frontField = pattern.New(`^["']?[\p{L}_][\p{L}\d _-]{0,40}["']?[ \t]*:(?:\s|$)`)
	// frontBlock begins a text of several lines, in which a colon means nothing.
	frontBlock = pattern.New(`(?m)[:-][ \t]+[|>][+-]?[ \t]*$`)
	// bareText is an item or a field with a text without quotation marks; bareQuestion is such a
	// question in a list on one line.
	bareText     = pattern.New(`^([ \t]*(?:-[ \t]+(?:[\p{L}_][\p{L}\d_-]*:[ \t]+)?|[\p{L}_][\p{L}\d_-]*:[ \t]+))([^\s"'\[{|>&*!#-].*?)[ \t]*$`)
	bareQuestion = pattern.New(`([\[{,:][ \t]*)([^\s"'\[\]{},:][^"'\[\]{},:]*\?)([ \t]*[\]},])`)
)

// quoteTexts puts texts of front matter into quotation marks in which YAML sees something else, as
// models write them: "question: Which one: A or B?", "questions: [Who?]".
func quoteTexts(head string) string {
	var out strings.Builder
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, "\r\n")
		m := bareText.FindStringSubmatch(line)
		switch {
		case m == nil:
			for range 2 { // matches share their commas
				line = bareQuestion.ReplaceAllString(line, `$1"$2"$3`)
			}
		case strings.Contains(m[2], ": "), strings.Contains(m[2], " #"), strings.HasSuffix(m[2], ":") && strings.Contains(m[1], ":"):
			line = m[1] + `'` + strings.ReplaceAll(m[2], `'`, `''`) + `'`
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// readYAML returns the fields of front matter.
func readYAML(head string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("not a mapping")
	}
	return doc.Content[0], nil
}

// formatJSON returns a value of YAML as JSON. A value that JSON has no form for is a null.
func formatJSON(n *yaml.Node, depth int) string {
	var parts []string
	switch {
	case depth > maxFrontDepth:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, quote(n.Content[i].Value)+":"+formatJSON(n.Content[i+1], depth+1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, formatJSON(oneText(item), depth+1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case n.Kind == yaml.ScalarNode:
		return formatScalar(n)
	}
	return "null"
}

func formatScalar(n *yaml.Node) string {
	number := n.Tag == "!!int" || n.Tag == "!!float"
	switch {
	case number && n.LineComment != "": // "95 # target"
		return quote(n.Value + " (" + strings.TrimLeft(n.LineComment, "# ") + ")")
	case n.Tag == "!!null":
		return "null"
	case (number || n.Tag == "!!bool") && json.Valid([]byte(n.Value)):
		return n.Value
	}
	return quote(n.Value)
}

// oneText returns the text of an item that YAML reads as a field because of a colon in it: "- Who
// signs in: staff or customers?". The name of a field has no spaces and no capitals.
func oneText(item *yaml.Node) *yaml.Node {
	if item.Kind != yaml.MappingNode || len(item.Content) != 2 || item.Style&yaml.FlowStyle != 0 || item.Content[1].Kind != yaml.ScalarNode {
		return item
	}
	key := item.Content[0].Value
	if !strings.ContainsAny(key, " \t") && key == strings.ToLower(key) {
		return item
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key + ": " + item.Content[1].Value}
}

func quote(s string) string {
	out, _ := jsontext.AppendQuote(nil, s) // the error only reports bytes that were replaced
	return string(out)
}

func decodeObject(data string) map[string]any {
	dec := json.NewDecoder(strings.NewReader(data))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil {
		return nil
	}
	if object["questions"] == nil { // in an example of JSON the word is too common
		object["questions"] = object["问题"]
	}
	return canonical(object)
}

// leave returns the front matter without the fields that were taken, in its dashes; "" if nothing
// else is in it.
func leave(fields *yaml.Node, head string) string {
	lines, rest := strings.SplitAfter(head, "\n"), ""
	for i := 0; i+1 < len(fields.Content); i += 2 {
		name := fields.Content[i].Value
		if slices.Contains(frontFields, cmp.Or(known()[squeeze(name)], name)) {
			continue
		}
		end := len(lines)
		if i+2 < len(fields.Content) {
			end = fields.Content[i+2].Line - 1
		}
		rest += strings.Join(lines[fields.Content[i].Line-1:end], "")
	}
	if rest == "" {
		return ""
	}
	return "---\n" + strings.TrimRight(rest, "\n") + "\n---\n"
}

// under returns an envelope with the facts that only the front matter of its text states.
func (e envelope) under(f front) envelope {
	if f.object == nil {
		return e
	}
	if e.object == nil {
		f.defect, f.document = e.defect, f.body
		return f.envelope
	}
	return e.join(f.envelope)
}
