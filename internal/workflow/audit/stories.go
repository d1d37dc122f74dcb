package audit

import (
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

var asA = pattern.New(`(?i)\bas (?:an?|the|its|our)\b.{2,120}?\bI(?:'d| want| can| need| would|\s+must)` +
	`|作为.{1,40}?(?:我希望|我想|我要|我需要|我能|我可以|希望|需要)`)

// label names the story in a finding.
func (st story) label() lang.Text {
	if st.nth > 0 {
		return lang.T("story %d", st.nth)
	}
	return plainText(st.id)
}

// userStories returns the stories of the document.
func (s *document) userStories() []story {
	if s.stories == nil {
		s.stories = s.readStories()
	}
	return s.stories
}

// readStories reads the stories of the document: by their ids or numbers, else by the sentence "As a …, I want …".
func (d *text) readStories() []story {
	out := []story{}
	for i, n := range d.read().Nodes {
		if n.Kind == criteria.Story && n.Written != "" {
			out = append(out, story{id: nodeLabel(n), node: i, line: n.Line, end: n.End, form: byte(n.Form)})
		}
	}
	if len(out) > 0 {
		return out
	}
	for i, l := range d.Said {
		if containsAny(l, "s a", "s the", "作为") && asA.MatchString(withNext(d.Said, i)) && !emptyStory.MatchString(l) {
			nth := len(out) + 1
			out = append(out, story{id: "story " + strconv.Itoa(nth), node: -1, nth: nth, line: i, end: sectionEnd(d.Document, i), form: 'l'})
		}
	}
	endAtNext(out)
	return out
}

// withNext returns a line without emphasis, with the two lines below it: a story may take three.
func withNext(lines []string, i int) string {
	return strings.ReplaceAll(strings.Join(lines[i:min(len(lines), i+3)], " "), "*", "")
}

// sectionEnd returns the end of the innermost section around a line.
func sectionEnd(d *markdown.Document, line int) int {
	end := len(d.Lines)
	for _, h := range d.Heads {
		if h.Line > line {
			break
		}
		if h.Level <= 6 && h.End > line {
			end = h.End
		}
	}
	return end
}

// endAtNext lets each story end at the next one.
func endAtNext(stories []story) {
	for i := range stories[:max(0, len(stories)-1)] {
		stories[i].end = min(stories[i].end, stories[i+1].line)
	}
}

// findStoriesWithoutCriteria lists the stories that nobody could test.
func findStoriesWithoutCriteria(_ check, s *document) *miss {
	stories := s.userStories()
	loose := 0 // criteria below no story
	for i, n := range s.read().Nodes {
		if n.Kind == criteria.Criterion && n.Owed && s.read().Story(i) < 0 {
			loose++
		}
	}
	if loose >= len(stories) {
		return nil
	}
	var out miss
	good, listed := map[string]bool{}, map[string]bool{}
	for _, st := range stories {
		good[st.id] = good[st.id] || s.hasCriteria(st)
	}
	for _, st := range stories {
		if !good[st.id] && !listed[st.id] {
			listed[st.id] = true
			out.addItem(st.line, st.label())
		}
	}
	return out.orNil()
}

var metaItem = pattern.New(`(?i)^[*_\s]*(?:priority|estimate|size|depends|dependencies|owner|status|goal|serves` +
	`|value|persona|actor|notes?|as an?|i want|so that|role|trace|traces to|优先级|估算|规模|工作量|负责人|依赖|状态|目标|价值|备注|说明|角色` +
	`|作为|我希望|以便)\b?[^\n]{0,4}[:：]|^\s*[*_]*(?:as an?\b|i want\b|so that\b|作为|我希望|以便)`)

// hasCriteria reports whether a story has criteria: as the reader finds them, in the story's lines, or as two items that
// tell what the story does.
func (s *document) hasCriteria(st story) bool {
	if st.node >= 0 && !s.read().Nodes[st.node].Owed {
		return s.statesCriteria(st)
	}
	items := 0
	for i := st.line; i < st.end; i++ {
		substance := hasSubstance(s.Lines[i]) && !hasPlaceholder(s.Said[i])
		if substance && s.criterion()[i] {
			return true
		}
		if _, body, ok := markdown.Item(s.Lines[i]); i > st.line && ok && !s.Code[i] && substance && !metaItem.MatchString(body) && len(body) > 12 {
			items++
		}
	}
	return items >= 2
}

// statesCriteria reports whether one of the criteria of a story says something.
func (s *document) statesCriteria(st story) bool {
	for i, n := range s.read().Nodes {
		if n.Owed && s.read().Story(i) == st.node && n.Text != "" && !hasPlaceholder(n.Text) {
			return true
		}
	}
	return false
}
