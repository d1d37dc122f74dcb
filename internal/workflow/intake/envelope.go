package intake

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// envelope is the JSON object of a submission with its place in the text.
type envelope struct {
	stage    workflow.Stage
	object   map[string]any // nil when there is none
	document string
	// inText is true when the document is the text around an object that holds only facts about it.
	inText     bool
	start, end int
	// scores are the values of all fields that state a score.
	scores []string
	// defect says why an object that is plainly the envelope could not be read.
	defect lang.Text
}

// Limits that keep hostile text cheap.
const (
	maxCandidates = 200
	maxRepairs    = 3
	// The repair library is quadratic on some texts (1.4 s at 100 kB of unescaped
	// quotes) and recurses once a level.
	maxRepairSize, maxRepairDepth = 128 << 10, 500
	// manyQuotes matches a run of quotes that no document has, and that takes the library longest.
	manyQuotes = `""""""""`
	// An object with a document below tinyDocument bytes, inside a text of more
	// than largeAround others, counts as an example of the format.
	tinyDocument, largeAround = 1000, 2000
)

// firstOfObject matches the text behind the brace of an object, also of one that a model writes loosely.
var firstOfObject = pattern.New(`^["'“}/\w]`)

// ourField matches the first field of an object that may stand inside a line.
var ourField = pattern.New(`^"(?:prd|architecture|sprint_plan|implementation|review|qa_report|quality_score|verdict)\w*"\s*:`)

// finder looks for the envelope in a text. It collects the facts about the whole text once, and
// charges every repeated read to the budget of its meter.
type finder struct {
	stage             workflow.Stage
	text              string
	m                 *meter
	repairs, repaired int // how often the repair library was tried, and on how many bytes
	// firstHeading and lastHeading are the offsets of headings of a document, -1 without one.
	firstHeading, lastHeading int
	// outer is the index after the last brace that ends the text or stands before a closing
	// fence, 0 without one.
	outer int
}

func newFinder(stage workflow.Stage, text string, m *meter) *finder {
	f := &finder{stage: stage, text: text, m: m, firstHeading: -1, lastHeading: -1, outer: outerEnd(text)}
	at := 0
	for line := range strings.Lines(text) {
		if line[0] == '#' && heading.MatchString(line[:min(len(line), 8)]) {
			if f.firstHeading < 0 {
				f.firstHeading = at
			}
			f.lastHeading = at
		}
		at += len(line)
	}
	return f
}

// headingBefore reports whether a heading begins before i; headingFrom, whether one does at i or later.
func (f *finder) headingBefore(i int) bool { return f.firstHeading >= 0 && f.firstHeading < i }
func (f *finder) headingFrom(i int) bool   { return f.lastHeading >= i }

// findEnvelope returns the last envelope in the text; an object with a document
// is preferred to one with only facts about it.
func findEnvelope(stage workflow.Stage, text string, m *meter) envelope {
	var withDocument, factsOnly envelope
	f := newFinder(stage, text, m)
	defect, past := lang.Text{}, 0
	for _, start := range f.candidates() {
		if start < past {
			continue
		}
		object, data, end := f.parseAt(start)
		if object == nil {
			if defect.Empty() {
				defect = f.defect(start)
			}
			if m.left < 0 || m.done() {
				break
			}
			continue
		}
		past = end
		if e, ok := f.asEnvelope(object, start, end); ok {
			e.scores = scoresIn(data)
			if e.inText {
				factsOnly = e
			} else {
				withDocument = e
			}
		}
	}
	switch {
	case withDocument.object != nil:
		withDocument.document = trimFence(withDocument.document)
		return withDocument.join(factsOnly)
	case factsOnly.object != nil:
		return factsOnly
	}
	return envelope{defect: defect}
}

// join returns an envelope with the facts that only another one states.
func (e envelope) join(other envelope) envelope {
	e.object = maps.Clone(e.object)
	for k, v := range other.object {
		if e.object[k] == nil {
			e.object[k] = v
		}
	}
	e.scores = append(e.scores, other.scores...)
	return e
}

// candidates returns the offsets at which an object can begin. The envelope begins the text or is the last object
// of it, so of very many the first and the last are looked at.
func (f *finder) candidates() []int {
	var out []int
	for i := range len(f.text) {
		if f.text[i] == '{' && f.begins(i) {
			out = append(out, i)
		}
	}
	if len(out) > maxCandidates+1 {
		out = slices.Delete(out, 1, len(out)-maxCandidates)
	}
	return out
}

// begins reports whether the brace at i can begin an object: on a line of its own, or with one of
// our fields as its first.
func (f *finder) begins(i int) bool {
	rest := strings.TrimLeft(f.text[i+1:min(len(f.text), i+200)], " \t\r\n")
	if rest == "" {
		return false
	}
	return firstOfObject.MatchString(rest) && f.aloneBefore(i) || rest[0] == '"' && ourField.MatchString(rest)
}

// aloneBefore reports whether nothing but spaces stands before i on its line.
func (f *finder) aloneBefore(i int) bool {
	for j := i - 1; j >= 0 && i-j < 200; j-- {
		switch f.text[j] {
		case ' ', '\t':
		case '\n':
			return true
		default:
			return false
		}
	}
	return i < 200
}

// parseAt reads the object that begins at start: strictly if it can, else through the repair library. data is
// its JSON.
func (f *finder) parseAt(start int) (object map[string]any, data string, end int) {
	// Text without a quoted key is not JSON, and is repaired only if it names one of our fields.
	named := namesDocument(f.stage, f.text[start:min(len(f.text), start+4096)])
	if !named && !quotedKey.MatchString(f.text[start:min(len(f.text), start+64)]) {
		return nil, "", 0
	}
	ends := make([]int, 0, 2)
	if e := f.balancedEnd(start); e > 0 {
		if !f.m.spend(e - start) {
			return nil, "", 0
		}
		if object := decode(f.text[start:e]); object != nil {
			return object, f.text[start:e], e
		}
		ends = append(ends, e)
	}
	// Unescaped quotes derail the scan for the balanced end: the outermost end is the other guess.
	if f.outer > start && !slices.Contains(ends, f.outer) {
		ends = append(ends, f.outer)
	}
	if !named {
		return nil, "", 0
	}
	for _, e := range ends {
		if f.repaired += e - start; f.repaired > maxRepairSize || tooDeep(f.text[start:e]) || strings.Contains(f.text[start:e], manyQuotes) {
			continue
		}
		if f.repairs++; f.repairs > maxRepairs || f.m.done() {
			return nil, "", 0
		}
		fixed, err := jsonrepair.Repair(f.text[start:e])
		if err != nil {
			continue
		}
		if object := decode(fixed); object != nil {
			if _, ok := documentOf(f.stage, object); ok || hasAny(object, strongMeta) {
				return object, fixed, e
			}
		}
	}
	return nil, "", 0
}

// quotedKey matches the beginning of an object of JSON.
var quotedKey = pattern.New(`^\{\s*(?:["“'/}]|//)`)

func decode(s string) map[string]any {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil || dec.More() {
		return nil
	}
	return unwrap(canonical(object))
}

// tooDeep reports whether a text nests further than any document does.
func tooDeep(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxRepairDepth {
				return true
			}
		case '}', ']':
			depth = max(0, depth-1)
		}
	}
	return false
}

// balancedEnd returns the index after the brace that closes the one at start, or 0; 0 too if
// the budget does not reach that far.
func (f *finder) balancedEnd(start int) int {
	depth, inString := 0, false
	text := f.text
	if most := start + max(0, f.m.left); most < len(text) {
		text = text[:most]
	}
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				f.m.spend(i + 1 - start)
				return i + 1
			}
		}
	}
	f.m.spend(len(text) - start)
	return 0
}

// OnlyJSON reports whether a text is nothing but a JSON value, fenced or not.
func OnlyJSON(text string) bool {
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSuffix(strings.TrimSpace(rest), "```")
	}
	return text != "" && json.Valid([]byte(text))
}

var closingFence = pattern.New("(?m)\\}[ \\t]*\\r?\\n[ \\t]*(?:```|~~~)[ \\t]*$")

// outerEnd returns the index after the last brace that ends the text or stands
// before a closing fence, or 0.
func outerEnd(text string) int {
	if trimmed := strings.TrimRight(text, " \t\r\n"); strings.HasSuffix(trimmed, "}") {
		return len(trimmed)
	}
	locs := closingFence.FindAllStringIndex(text, -1)
	if len(locs) == 0 {
		return 0
	}
	return locs[len(locs)-1][0] + 1
}

// namesDocument reports whether the text has the field name of a document or of a fact.
func namesDocument(stage workflow.Stage, head string) bool {
	for _, k := range slices.Concat(keysOf(stage), genericKeys, strongMeta) {
		if i := strings.Index(head, k); i > 0 {
			return true
		}
	}
	return false
}

// defect names the problem of the object at start, if it is in an envelope's place and
// has an envelope's fields; no text otherwise.
func (f *finder) defect(start int) lang.Text {
	before := strings.TrimSpace(f.text[max(0, start-16):start])
	if f.headingBefore(start) {
		return lang.Text{} // an example in a document
	}
	if before != "" && !strings.HasSuffix(strings.TrimSuffix(strings.ToLower(before), "json"), "```") {
		return lang.Text{}
	}
	head := f.text[start:min(len(f.text), start+200)]
	if !slices.ContainsFunc(slices.Concat(keysOf(f.stage), []string{"quality_score"}), func(k string) bool {
		return strings.Contains(head, `"`+k+`"`)
	}) {
		return lang.Text{}
	}
	if f.outer <= start && f.balancedEnd(start) == 0 {
		return lang.T("breaks off before its closing brace")
	}
	return lang.T("is not valid JSON")
}

// heading matches a Markdown heading: a text with one is a document, not prose
// around an envelope.
var heading = pattern.New(`(?m)^#{1,4} \S`)

// asEnvelope decides whether an object found in the text is the submission's
// envelope or an example inside the document.
func (f *finder) asEnvelope(object map[string]any, start, end int) (envelope, bool) {
	e, stage, text := envelope{stage: f.stage, object: object, start: start, end: end}, f.stage, f.text
	around := len(text) - (end - start)
	inDocument := f.headingBefore(start) || f.headingFrom(end)
	document, ok := documentOf(stage, object)
	if ok {
		dwarfed := inDocument && len(document) < around
		small := len(document) < tinyDocument && (dwarfed || around > largeAround)
		whole := (end-start)*2 >= len(text)
		facts := hasAny(object, strongMeta) || hasAny(object, weakMeta)
		if !small && (facts || whole) {
			e.document = document
			return e, true
		}
		return envelope{}, false
	}
	// Facts about a document stand before or behind it; if it goes on with
	// another heading they are an example in its midst.
	facts := hasAny(object, factKeys[stage.Kind])
	if edge(text[end:]) { // there these are facts too
		gaps := stage.Kind == workflow.KindDocument && object["gaps"] != nil
		facts = facts || gaps || len(readResolved(object["resolved"])) > 0
	}
	midst := f.headingFrom(end) && !edge(text[:start])
	if !facts || midst {
		return envelope{}, false
	}
	e.inText = true
	e.document = without(text, start, end)
	return e, true
}

// edge reports whether nothing but a fence is left on one side of an object.
func edge(side string) bool { return fenceAlone.MatchString(strings.TrimSpace(side)) }

var fenceAlone = pattern.New("(?i)^(?:(?:```|~~~)(?:json)?)?$")

// without returns the text around an object, and around the fence that holds it.
func without(text string, start, end int) string {
	before, after := strings.TrimRight(text[:start], " \t\r\n"), strings.TrimLeft(text[end:], " \t\r\n")
	if i := strings.LastIndexByte(before, '\n') + 1; strings.HasPrefix(strings.TrimSpace(before[i:]), "```") && strings.HasPrefix(after, "```") {
		before, after = before[:i], strings.TrimPrefix(after, "```")
	}
	return strings.TrimSpace(strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(after))
}

// meter bounds the work on one submission: each reader charges the bytes that it looks at more
// than once, and stops if the budget is spent or the caller has gone.
type meter struct {
	ctx context.Context
	// left is how many bytes may still be read to find an envelope.
	left int
}

// The budget for finding an envelope: generous for any honest document, and for hostile ones
// a small multiple of their size.
const (
	leastBudget  = 8 << 20
	budgetFactor = 4
)

func newMeter(ctx context.Context, size int) *meter {
	return &meter{ctx: ctx, left: max(leastBudget, budgetFactor*size)}
}

// spend takes bytes from the budget and reports whether it had them.
func (m *meter) spend(n int) bool {
	m.left -= n
	return m.left >= 0 && !m.done()
}

// done reports whether the caller has gone.
func (m *meter) done() bool { return m.ctx.Err() != nil }

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
