package criteria

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// readCode reads a line of a code block: scenarios may stand there.
func (r *reader) readCode(i int) {
	text := strings.TrimSpace(r.doc.Lines[i])
	if _, info, fence := markdown.Fence(r.doc.Lines[i]); fence {
		r.readFence(i, info)
	} else if r.gherkin && text != "" && text[0] != '#' && text[0] != '|' {
		r.readGherkin(line{at: i, form: Paragraph, number: -1, body: Narrow(text)})
	}
}

// readFence reads the first or the last line of a code block.
func (r *reader) readFence(i int, info string) {
	switch info {
	case "gherkin", "cucumber", "feature":
		r.gherkin = !r.gherkin
	case "":
		r.gherkin = !r.gherkin && i+1 < len(r.doc.Lines) && (beginsGherkin(r.doc.Lines[i+1]) || r.list != nil && r.beginsCriterion(i+1))
	default:
		r.gherkin = false
	}
	if r.gherkin && r.list == nil {
		r.list = newList(line{}, depthOfLabel)
		r.list.scenarios = true
	}
}

// readGherkin reads a line of scenarios.
func (r *reader) readGherkin(l line) {
	if m := gherkinFeature.FindStringSubmatch(l.body); m != nil {
		r.addFeature(l, m[1])
	} else if backgroundWord.MatchString(l.body) {
		r.list.background = true
	} else if m := scenarioWord.FindStringSubmatch(l.body); m != nil {
		if r.list.background = false; !r.heads(l.at) {
			r.addScenario(l, m[1], m[2])
		}
	} else if id, rest, ok := readID(l.body); ok && kindOf(id.Family) == Criterion {
		r.list.criterion = r.addDefined(l, id, rest, Criterion)
	} else if isGiven(l.body) && r.list.criterion < 0 && !r.list.background {
		r.addPlaced(l, l.body)
		r.list.begun = true
	}
}

// beginsGherkin reports whether a line of code is one of scenarios: a comment, a tag, or with one of the words.
func beginsGherkin(line string) bool {
	line = strings.TrimSpace(Narrow(line))
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "@") || gherkinFeature.MatchString(line) || scenarioWord.MatchString(line) || isGiven(line)
}

// beginsCriterion reports whether a line of code begins with the id of a criterion.
func (r *reader) beginsCriterion(i int) bool {
	id, rest, ok := readID(bare(r.doc.Lines[i]))
	return ok && kindOf(id.Family) == Criterion && hasWords(rest)
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
