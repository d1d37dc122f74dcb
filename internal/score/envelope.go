package score

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"

	"bmad-mcp/internal/workflow"
)

// envelope is the JSON object of a submission and where it stood in the text.
type envelope struct {
	object   map[string]any // nil when there is none
	document string
	// inText is true when the document is the text around an object that holds only facts about it.
	inText     bool
	start, end int
	// defect says why an object that is plainly the envelope could not be read.
	defect string
}

// Limits that keep hostile text cheap.
const (
	maxCandidates = 200
	maxRepairs    = 3
	// The repair library is quadratic on some texts (1.4 s at 100 kB of unescaped
	// quotes) and recurses once a level.
	maxRepairSize, maxRepairDepth = 128 << 10, 500
	// An object with a document below tinyDocument bytes, inside a text of more
	// than largeAround others, is taken for an example of the format.
	tinyDocument, largeAround = 1000, 2000
)

// objectStart matches a line that can begin a JSON object, and an object inside
// a line whose first field is one of ours.
var objectStart = regexp.MustCompile(`(?m)^[ \t]*\{\s*["'“}/\w]|\{\s*"(?:prd|architecture|sprint_plan|implementation|review|qa_report|quality_score|verdict)\w*"\s*:`)

// findEnvelope returns the last envelope in the text; an object with a document
// is preferred to one with only facts about it.
func findEnvelope(stage workflow.StageID, text string) envelope {
	var withDocument, factsOnly *envelope
	defect := ""
	repairs, past := 0, 0
	starts := objectStart.FindAllStringIndex(text, -1)
	if len(starts) > maxCandidates {
		// The envelope begins the text or is the last object of it.
		starts = slices.Concat(starts[:1], starts[len(starts)-maxCandidates+1:])
	}
	for _, loc := range starts {
		start := loc[0] + strings.IndexByte(text[loc[0]:], '{')
		if start < past {
			continue
		}
		object, end := parseAt(stage, text, start, &repairs)
		if object == nil {
			defect = cmp.Or(defect, envelopeDefect(stage, text, start))
			continue
		}
		past = end
		if e, ok := asEnvelope(stage, text, object, start, end); ok {
			if e.inText {
				factsOnly = &e
			} else {
				withDocument = &e
			}
		}
	}
	switch {
	case withDocument != nil:
		withDocument.document = unfenced(withDocument.document)
		if factsOnly != nil {
			for k, v := range factsOnly.object {
				if _, has := withDocument.object[k]; !has {
					withDocument.object[k] = v
				}
			}
		}
		return *withDocument
	case factsOnly != nil:
		return *factsOnly
	}
	return envelope{defect: defect}
}

// parseAt reads the object that begins at start: strictly where it can, else
// through the repair library.
func parseAt(stage workflow.StageID, text string, start int, repairs *int) (object map[string]any, end int) {
	ends := make([]int, 0, 2)
	if e := balancedEnd(text, start); e > 0 {
		if object := decode(text[start:e]); object != nil {
			return object, e
		}
		ends = append(ends, e)
	}
	// Unescaped quotes derail the scan for the balanced end: the outermost end is the other guess.
	if e := outerEnd(text, start); e > 0 && !slices.Contains(ends, e) {
		ends = append(ends, e)
	}
	if !namesDocument(stage, text[start:min(len(text), start+4096)]) {
		return nil, 0
	}
	for _, e := range ends {
		if e-start > maxRepairSize || tooDeep(text[start:e]) {
			continue
		}
		if *repairs++; *repairs > maxRepairs {
			return nil, 0
		}
		fixed, err := jsonrepair.Repair(text[start:e])
		if err != nil {
			continue
		}
		if object := decode(fixed); object != nil {
			if _, ok := documentOf(stage, object); ok || hasAny(object, strongMeta) {
				return object, e
			}
		}
	}
	return nil, 0
}

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

// balancedEnd returns the index after the brace that closes the one at start, or 0.
func balancedEnd(text string, start int) int {
	depth, inString := 0, false
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
				return i + 1
			}
		}
	}
	return 0
}

// onlyJSON reports whether a text is nothing but a JSON value, fenced or not.
func onlyJSON(text string) bool {
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSuffix(strings.TrimSpace(rest), "```")
	}
	return text != "" && json.Valid([]byte(text))
}

var closingFence = regexp.MustCompile("(?m)\\}[ \\t]*\\r?\\n[ \\t]*(?:```|~~~)[ \\t]*$")

// outerEnd returns the index after the last brace that ends the text or stands
// before a closing fence, or 0.
func outerEnd(text string, start int) int {
	if trimmed := strings.TrimRight(text, " \t\r\n"); strings.HasSuffix(trimmed, "}") && len(trimmed) > start {
		return len(trimmed)
	}
	locs := closingFence.FindAllStringIndex(text[start:], -1)
	if len(locs) == 0 {
		return 0
	}
	return start + locs[len(locs)-1][0] + 1
}

// namesDocument reports whether the text has the field name of a document or of a fact.
func namesDocument(stage workflow.StageID, head string) bool {
	for _, k := range slices.Concat(documentKeys[stage], genericKeys, strongMeta) {
		if i := strings.Index(head, k); i > 0 {
			return true
		}
	}
	return false
}

// envelopeDefect says what is wrong with the object at start, if it stands where
// an envelope stands and has an envelope's fields; "" if it does not.
func envelopeDefect(stage workflow.StageID, text string, start int) string {
	before := strings.TrimSpace(text[max(0, start-16):start])
	if heading.MatchString(text[:start]) {
		return "" // an example in a document
	}
	if before != "" && !strings.HasSuffix(strings.TrimSuffix(strings.ToLower(before), "json"), "```") {
		return ""
	}
	head := text[start:min(len(text), start+200)]
	if !slices.ContainsFunc(slices.Concat(documentKeys[stage], []string{"quality_score"}), func(k string) bool {
		return strings.Contains(head, `"`+k+`"`)
	}) {
		return ""
	}
	if balancedEnd(text, start) == 0 && outerEnd(text, start) == 0 {
		return "breaks off before its closing brace"
	}
	return "is not valid JSON"
}

// heading matches a Markdown heading: what has one is a document, not prose
// around an envelope.
var heading = regexp.MustCompile(`(?m)^#{1,4} \S`)

// asEnvelope decides whether an object found in the text is the submission's
// envelope or an example inside the document.
func asEnvelope(stage workflow.StageID, text string, object map[string]any, start, end int) (envelope, bool) {
	e := envelope{object: object, start: start, end: end}
	around := len(text) - (end - start)
	inDocument := heading.MatchString(text[:start]) || heading.MatchString(text[end:])
	document, ok := documentOf(stage, object)
	if ok {
		small := len(document) < tinyDocument && (around > largeAround || inDocument && len(document) < around)
		whole := (end-start)*2 >= len(text)
		if (hasAny(object, strongMeta) || hasAny(object, weakMeta) || whole) && !small {
			e.document = document
			return e, true
		}
		return envelope{}, false
	}
	// Facts about a document stand before or behind it; where it goes on with
	// another heading they are an example in its midst.
	if !hasAny(object, factKeys[stage]) || heading.MatchString(text[end:]) && !edge(text[:start]) {
		return envelope{}, false
	}
	e.inText = true
	e.document = without(text, start, end)
	return e, true
}

// edge reports whether nothing but a fence is left on one side of an object.
func edge(side string) bool {
	side = strings.ToLower(strings.TrimSpace(side))
	return side == "" || side == "```" || side == "```json" || side == "~~~" || side == "~~~json"
}

// without returns the text around an object, and around the fence that holds it.
func without(text string, start, end int) string {
	before, after := strings.TrimRight(text[:start], " \t\r\n"), strings.TrimLeft(text[end:], " \t\r\n")
	if i := strings.LastIndexByte(before, '\n') + 1; strings.HasPrefix(strings.TrimSpace(before[i:]), "```") && strings.HasPrefix(after, "```") {
		before, after = before[:i], strings.TrimPrefix(after, "```")
	}
	return strings.TrimSpace(strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(after))
}
