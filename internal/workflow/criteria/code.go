package criteria

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// readCode reads a line of a code block: scenarios may stand there.
func (r *reader) readCode(i int) {
	_, info, fence := markdown.Fence(r.doc.Lines[i])
	text := strings.TrimSpace(r.doc.Lines[i])
	switch {
	case fence:
		opens := i == 0 || !r.doc.Code[i-1] || !r.gherkin
		r.gherkin = opens && (info == "gherkin" || info == "cucumber" || info == "feature" || info == "" && i+1 < len(r.doc.Lines) && (gherkinBegin.MatchString(r.doc.Lines[i+1]) || r.list != nil && r.beginsCriterion(i+1)))
		if r.gherkin && r.list == nil {
			r.list = &list{depth: depthOfLabel, indent: -1, base: -1, criterion: -1, scenarios: true}
		}
		return
	case !r.gherkin || text == "" || r.list == nil || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "|"):
		return
	}
	l := line{at: i, form: Paragraph, number: -1, body: Narrow(text)}
	if m := gherkinFeature.FindStringSubmatch(l.body); m != nil {
		r.addFeature(l, m[1])
	} else if backgroundWord.MatchString(l.body) {
		r.list.background = true
	} else if m := scenarioWord.FindStringSubmatch(l.body); m != nil {
		if r.list.background = false; !r.heads(i) {
			r.addScenario(l, m[1], m[2])
		}
	} else if id, rest, ok := readID(l.body); ok && criterionFamilies[stem(id.Family)] {
		r.list.criterion = r.addDefined(l, id, rest, Criterion)
	} else if isGiven(l.body) && r.list.criterion < 0 && !r.list.background {
		r.addPlaced(l, l.body)
		r.list.begun = true
	}
}

// beginsCriterion reports whether a line of code begins with the id of a criterion.
func (r *reader) beginsCriterion(i int) bool {
	id, rest, ok := readID(strip(Narrow(r.doc.Lines[i])))
	return ok && criterionFamilies[stem(id.Family)] && hasWords(rest)
}

// heads reports whether the heading right above a code block names the block's scenario already.
func (r *reader) heads(i int) bool {
	at := r.list.criterion
	if at < 0 || r.nodes[at].Form != Heading || r.nodes[at].Title == "" {
		return false
	}
	for j := r.nodes[at].Line + 1; j < i; j++ {
		if _, _, fence := markdown.Fence(r.doc.Lines[j]); !fence && strings.TrimSpace(r.doc.Lines[j]) != "" {
			return false
		}
	}
	return true
}
