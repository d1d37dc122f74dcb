package intake

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// envelope is the JSON object of a submission with the place in the text.
type envelope struct {
	object   map[string]any // nil when there is none
	document string
	// inText is true when the document is the text around an object with mere facts about it.
	inText     bool
	start, end int
	// scores are the values of all score fields.
	scores []string
	// defect says why an object that is plainly the envelope could not be read.
	defect lang.Text
}

// An object with a document below tinyDocument bytes, inside a text of more
// than largeAround others, counts as an example of the format.
const tinyDocument, largeAround = 1000, 2000

// ourField matches the first field of an object inside a line.
var ourField = pattern.New(`\{\s*"(?:prd|architecture|sprint_plan|implementation|review|qa_report|quality_score|verdict)\w*"\s*:`)

// hasOurs reports whether the text of an object has the name of a known field.
func hasOurs(stage workflow.Stage) func(raw string) bool {
	names := slices.Collect(maps.Keys(known()))
	for _, key := range append(keysOf(stage), "open_questions") {
		names = append(names, jsonblock.Name(key))
	}
	return func(raw string) bool {
		raw = jsonblock.Name(raw)
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(raw, name) })
	}
}

// finder looks for the envelope in a text.
type finder struct {
	stage workflow.Stage
	text  string
	// headings are the places of the headings of a document.
	headings [][]int
}

// headingBefore reports whether a heading begins before i; headingFrom, whether one does at i or later.
func (f *finder) headingBefore(i int) bool { return len(f.headings) > 0 && f.headings[0][0] < i }
func (f *finder) headingFrom(i int) bool {
	return len(f.headings) > 0 && f.headings[len(f.headings)-1][0] >= i
}

// findEnvelope returns the last envelope in the text; an object with a document is preferred to one
// with only facts about it.
func findEnvelope(stage workflow.Stage, text string) envelope {
	var withDocument, factsOnly envelope
	f := finder{stage: stage, text: text, headings: heading.FindAllStringIndex(text, -1)}
	defect := lang.Text{}
	for _, b := range jsonblock.Find(text, hasOurs(stage), ourField) {
		if b.Object == nil {
			if defect.Empty() {
				defect = f.describeDefect(b)
			}
			continue
		}
		e, ok := f.asEnvelope(b)
		switch {
		case !ok:
		case e.inText:
			factsOnly = e
		default:
			withDocument = e
		}
	}
	switch {
	case withDocument.object != nil:
		withDocument.document = trimFence(withDocument.document)
		return withDocument.withFactsOf(factsOnly)
	case factsOnly.object != nil:
		return factsOnly
	}
	return envelope{defect: defect}
}

// withFactsOf returns the envelope with the missing facts from the other one.
func (e envelope) withFactsOf(other envelope) envelope {
	e.object = maps.Clone(e.object)
	for k, v := range other.object {
		if e.object[k] == nil {
			e.object[k] = v
		}
	}
	e.scores = append(e.scores, other.scores...)
	return e
}

// OnlyJSON reports whether a text is nothing but a JSON value, fenced or not.
func OnlyJSON(text string) bool {
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSuffix(strings.TrimSpace(rest), "```")
	}
	return text != "" && json.Valid([]byte(text))
}

// describeDefect names the problem of an unreadable object, if it is in an envelope's place and has an envelope's
// fields; no text otherwise.
func (f *finder) describeDefect(b jsonblock.Block) lang.Text {
	fenced := b.At > b.Start
	behindText := !fenced && !isBlank(f.text[:b.Start])
	if behindText || f.headingBefore(b.At) {
		return lang.Text{} // an example in a document
	}
	head := b.Raw[:min(len(b.Raw), 200)]
	fields := slices.Concat(keysOf(f.stage), []string{"quality_score"})
	if !slices.ContainsFunc(fields, func(k string) bool { return strings.Contains(head, `"`+k+`"`) }) {
		return lang.Text{}
	}
	var unclosed *jsonblock.Unclosed
	if errors.As(b.Err, &unclosed) {
		return lang.T("breaks off before its closing brace")
	}
	return lang.T("is not valid JSON")
}

// heading matches a Markdown heading: a text with one is a document, not prose around an envelope.
var heading = pattern.New(`(?m)^#{1,4} \S`)

// asEnvelope decides whether an object found in the text is the submission's
// envelope or an example inside the document.
func (f *finder) asEnvelope(b jsonblock.Block) (envelope, bool) {
	object, text := unwrap(canonicalizeFields(b.Object)), f.text
	e := envelope{object: object, start: b.Start, end: b.End, scores: scoresIn(b.Data)}
	around := len(text) - len(b.Raw)
	inDocument := f.headingBefore(b.Start) || f.headingFrom(b.End)
	document, ok := documentOf(f.stage, object)
	if ok {
		smallPart := inDocument && len(document) < around
		dwarfed := smallPart || around > largeAround
		isExample := dwarfed && len(document) < tinyDocument
		isMost := len(b.Raw)*2 >= len(text)
		hasFacts := hasAny(object, strongMeta) || hasAny(object, weakMeta)
		plausible := isMost || hasFacts
		e.document = document
		return e, plausible && !isExample
	}
	// Facts about a document stand before or behind it; in the middle, with another heading after
	// them, they are an example.
	facts := hasAny(object, factKeys[f.stage.Kind])
	if isBlank(text[b.End:]) { // there these are facts too
		gaps := f.stage.Kind == workflow.KindDocument && object["gaps"] != nil
		facts = facts || gaps || len(ReadResolved(object["resolved"])) > 0
	}
	midst := f.headingFrom(b.End) && !isBlank(text[:b.Start])
	e.inText = true
	e.document = textAround(text, b.Start, b.End)
	return e, facts && !midst
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// textAround returns the text around an object.
func textAround(text string, start, end int) string {
	return strings.TrimSpace(strings.TrimSpace(text[:start]) + "\n\n" + strings.TrimSpace(text[end:]))
}

var markdownFence = pattern.New("^(```+|~~~+)(?:markdown|md)[ \\t]*\\n")

// trimFence removes one Markdown fence around a whole document.
func trimFence(text string) string {
	if m := markdownFence.FindStringSubmatch(text); m != nil {
		if body, closed := strings.CutSuffix(text[len(m[0]):], "\n"+m[1]); closed {
			return strings.TrimSpace(body)
		}
	}
	return text
}
