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

// envelope is the facts of a submission from all of its blocks of JSON.
type envelope struct {
	object   map[string]any // nil when there is none
	document string
	// inText is true when the document is the text around objects with mere facts about it.
	inText bool
	// places are the objects in the text, with their fences.
	places []place
	// scores are the values of all score fields, remarks those of blocks in the midst of the document.
	scores, remarks []string
	// defect says why an object that is plainly the envelope could not be read.
	defect lang.Text
}

// place is a part of a text.
type place struct{ start, end int }

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

// findEnvelope returns what the blocks of JSON in the text state: the document of the last one that has one, and of
// facts stated twice the last; all scores.
func findEnvelope(stage workflow.Stage, text string) envelope {
	var out envelope
	var facts []envelope
	f := finder{stage: stage, text: text, headings: heading.FindAllStringIndex(text, -1)}
	for _, b := range jsonblock.Find(text, hasOurs(stage), ourField) {
		if b.Object == nil {
			if out.defect.Empty() {
				out.defect = f.describeDefect(b)
			}
			continue
		}
		e, role := f.asEnvelope(b)
		switch role {
		case isExample:
			continue
		case isDocument:
			out.object, out.document = e.object, e.document
		case isFacts:
			facts = append(facts, e)
		}
		if role == isRemark {
			out.remarks = append(out.remarks, e.scores...)
			continue
		}
		out.scores = append(out.scores, e.scores...)
		out.places = append(out.places, e.places...)
	}
	out.inText = out.object == nil && len(facts) > 0
	if out.inText || out.object != nil {
		out.defect = lang.Text{}
	}
	for _, e := range slices.Backward(facts) {
		out.object = withMissing(out.object, e.object)
	}
	if out.inText {
		out.document = f.documentAround(out.places)
	}
	out.document, _ = unwrapText(out.document)
	if !out.inText && out.document != "" {
		out.scores = append(out.scores, scoresInside(stage, out.document)...)
	}
	return out
}

// scoresInside returns the scores of blocks in a document that came in a field, if they have nothing but our fields.
func scoresInside(stage workflow.Stage, document string) (out []string) {
	for _, b := range jsonblock.Find(document, hasOurs(stage), ourField) {
		if b.Object != nil && onlyKnown(canonicalizeFields(b.Object)) {
			out = append(out, scoresIn(b.Data)...)
		}
	}
	return out
}

// withMissing returns an object with the fields that it lacks from another.
func withMissing(object, other map[string]any) map[string]any {
	out := maps.Clone(other)
	for k, v := range object {
		if v != nil {
			out[k] = v
		}
	}
	return out
}

// documentAround returns the document in the text around blocks of facts. Other words there are to the reader.
func (f *finder) documentAround(blocks []place) string {
	parts := partsAround(f.text, blocks)
	isContent := func(part string) bool { return heading.MatchString(part) }
	if !slices.ContainsFunc(parts, isContent) {
		longest := slices.MaxFunc(append(parts, ""), func(a, b string) int { return len(a) - len(b) })
		isContent = func(part string) bool { return part == longest }
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return !isContent(part) && !noWords.MatchString(part) })
	return strings.TrimSpace(strings.TrimSuffix(strings.Join(parts, "\n\n"), "\n\n---")) // a rule before the facts
}

// noWords matches a table or a fence, which no words to the reader have.
var noWords = pattern.New("(?m)^[ \t]*(?:\\||```|~~~)")

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

// role is what an object of JSON in a text is.
type role int

const (
	isExample  role = iota // of the product or of the format
	isRemark               // a score in the midst of a document, which stays there
	isFacts                // about the document around it
	isDocument             // with the document in a field
)

// asEnvelope returns the content of an object found in the text, and what it is.
func (f *finder) asEnvelope(b jsonblock.Block) (envelope, role) {
	object, text := unwrap(canonicalizeFields(b.Object)), f.text
	e := envelope{object: object, places: []place{{b.Start, b.End}}, scores: scoresIn(b.Data)}
	around := len(text) - len(b.Raw)
	inDocument := f.headingBefore(b.Start) || f.headingFrom(b.End)
	document, ok := documentOf(f.stage, object)
	if ok {
		smallPart := inDocument && len(document) < around
		dwarfed := smallPart || around > largeAround
		small := dwarfed && len(document) < tinyDocument
		isMost := len(b.Raw)*2 >= len(text)
		hasFacts := hasAny(object, strongMeta) || hasAny(object, weakMeta)
		e.document = document
		if small || !isMost && !hasFacts {
			return e, isExample
		}
		if placeholder.MatchString(document) {
			e.scores = nil // the form, shown before the document
		}
		return e, isDocument
	}
	return e, f.factsRole(b, e)
}

// factsRole returns what an object without a document is. Facts stand before or behind the document; in the
// middle, with headings on both sides, they are an example, or a remark if they have nothing but our fields.
func (f *finder) factsRole(b jsonblock.Block, e envelope) role {
	isLast, isPure := isBlank(f.text[b.End:]), onlyKnown(e.object)
	isFact := hasAny(e.object, factKeys[f.stage.Kind])
	if f.stage.Kind == workflow.KindDocument {
		isFact = isFact || (isLast || isPure) && len(e.scores) > 0 || isLast && e.object["gaps"] != nil
	}
	isFact = isFact || isLast && len(ReadResolved(e.object["resolved"])) > 0
	isFact = isFact || isLast && f.stage.Kind == workflow.KindBuild && e.object["files"] != nil && len(e.object) == 1
	midst := f.headingFrom(b.End) && f.headingBefore(b.Start)
	switch {
	case !isFact, midst && !isPure:
		return isExample
	case midst:
		return isRemark
	}
	return isFacts
}

// placeholder matches a text in the place of a document.
var placeholder = pattern.New(`^(?:.{0,80}(?:…|\.\.\.)|<[^>\n]{0,80}>)$`)

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// partsAround returns the parts of a text around places in it.
func partsAround(text string, places []place) (out []string) {
	at := 0
	for _, p := range append(slices.Clone(places), place{len(text), len(text)}) {
		if part := strings.TrimSpace(text[min(at, len(text)):min(p.start, len(text))]); part != "" {
			out = append(out, part)
		}
		at = p.end
	}
	return out
}
