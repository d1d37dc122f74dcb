package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	namedStory = pattern.New(`(?i)^(?:user )?story\s*#?\s*(\d{1,3})\b|^(?:用户)?故事\s*(\d{1,3}|[一二三四五六七八九十])`)
	asA        = pattern.New(`(?i)\bas (?:an?|the|its|our)\b.{2,120}?\bI(?:'d| want| can| need| would|\s+must)|作为.{1,40}?(?:我希望|我想|我要|我需要|我能|我可以|希望|需要)`)
)

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

// readStories reads the stories of the document: by their ids, by headings such
// as "Story 1", or by the sentence "As a …, I want …".
func (d *text) readStories() []story {
	out := []story{}
	for _, def := range d.definitionsOf("US") {
		if !d.listsOthers(def.line) {
			out = append(out, story{id: def.id.String(), number: def.id.number, line: def.line, form: def.form})
		}
	}
	if len(out) == 0 {
		for _, h := range d.Heads {
			if m := namedStory.FindString(markdown.Unnumbered(h.Text)); m != "" {
				out = append(out, story{id: strings.TrimSpace(m), line: h.Line, form: 'h'})
			}
		}
	}
	if len(out) == 0 {
		for i, l := range d.Said {
			if containsAny(l, "s a", "s the", "作为") && asA.MatchString(l) && !emptyStory.MatchString(l) {
				nth := len(out) + 1
				out = append(out, story{id: "story " + strconv.Itoa(nth), nth: nth, line: i, form: 'l'})
			}
		}
	}
	d.endStories(out)
	return out
}

// endStories gives each story the lines up to the next one, or to the end of the section around it.
func (d *text) endStories(stories []story) {
	next, around := 0, []markdown.Heading(nil)
	for k := range stories {
		st := &stories[k]
		for ; next < len(d.Heads) && d.Heads[next].Line <= st.line; next++ {
			around = append(around, d.Heads[next])
		}
		for len(around) > 0 && around[len(around)-1].End <= st.line {
			around = around[:len(around)-1]
		}
		st.end = len(d.Lines)
		for _, h := range slices.Backward(around) {
			own := h.Line == st.line && st.form != 'h'
			if !own && h.Level <= 6 && h.End > st.line {
				st.end = h.End
				break
			}
		}
		if st.form == 't' {
			st.end = st.line + 1
		}
	}
	endAtNext(stories)
}

// endAtNext lets each story end at the next one.
func endAtNext(stories []story) {
	for i := range stories[:max(0, len(stories)-1)] {
		stories[i].end = min(stories[i].end, stories[i+1].line)
	}
}

// listsOthers reports whether a line stands in a section that only lists ids.
func (d *text) listsOthers(line int) bool {
	if row, ok := d.Rows[line]; ok {
		t := d.Tables[row.Table]
		if t.Column("traced to", "covered by", "requirements", "where", "sprint", "sprint stories", "met in",
			"component", "组件", "模块", "对应需求", "冲刺", "迭代", "覆盖", "位置") >= 0 &&
			t.Column("as a", "i want", "story", "user story", "requirement", "description", "故事", "描述", "需求",
				"内容") < 0 {
			return true
		}
	}
	return d.mapped()[line]
}

// findStoriesWithoutCriteria lists the stories that nobody could test.
func findStoriesWithoutCriteria(_ check, s *document) *miss {
	stories := s.userStories()
	if len(stories) == 0 {
		return nil
	}
	named, flat := s.namedByCriteria()
	var out miss
	good := map[string]bool{}
	for _, st := range stories {
		good[st.id] = good[st.id] || s.hasCriteria(st, named)
	}
	if flat >= len(good) {
		return nil // criteria without a story's number, and enough of them
	}
	for _, st := range stories {
		if !good[st.id] {
			good[st.id] = true // listed once
			out.addItem(st.line, st.label())
		}
	}
	return out.orNil()
}

// namedByCriteria returns the story numbers that criteria of the document refer to, and how many
// criteria refer to none.
func (s *document) namedByCriteria() (named map[string]bool, flat int) {
	named = map[string]bool{}
	accepted := s.LinesOf(s.Sections([]string{"acceptance criteria", "acceptance", "验收标准", "验收条件"}))
	current := ""
	for i := range s.Lines {
		if strings.Contains(s.Lines[i], "US") {
			if first, ok := firstID(s.Lines[i]); ok && !s.criterion[i] && first.prefix == "US" {
				current = first.id().String()
				if s.acceptanceTable(i) {
					s.markNamed(i, named)
				}
			}
		}
		if !s.criterion[i] || hasPlaceholder(s.Said[i]) {
			continue
		}
		def, ok := definitionAt(s.Document, i)
		switch {
		case ok && def.id.prefix == "AC" && len(def.body) > 4 && len(def.id.number) > 1:
			named[strconv.Itoa(def.id.number[0])] = true
		case ok && def.id.prefix == "AC" && len(def.body) > 4:
			flat++
		}
		s.markNamed(i, named)
		// Criteria in a section of their own stand under the story's name.
		if current != "" && accepted[i] {
			named[current] = true
		}
	}
	return named, flat
}

// acceptanceTable reports whether a line is a table row with a filled cell of criteria.
func (s *document) acceptanceTable(i int) bool {
	row, ok := s.Rows[i]
	return ok && hasSubstance(row.Cell(s.Tables[row.Table].Column(criteriaHeader...)))
}

func (s *document) markNamed(i int, named map[string]bool) {
	if !strings.Contains(s.Lines[i], "US") {
		return
	}
	for found := range idsIn(s.Lines[i]) {
		if found.prefix == "US" {
			named[found.id().String()] = true
		}
	}
}

var metaItem = pattern.New(`(?i)^[*_\s]*(?:priority|estimate|size|depends|dependencies|owner|status|goal|serves` +
	`|value|persona|actor|notes?|as an?|i want|so that|role|trace|traces to|优先级|估算|规模|工作量|负责人|依赖|状态|目标|价值|备注|说明|角色` +
	`|作为|我希望|以便)\b?[^\n]{0,4}[:：]|^\s*[*_]*(?:as an?\b|i want\b|so that\b|作为|我希望|以便)`)

// hasCriteria reports whether a story has criteria among the lines of the story, or elsewhere under
// its number.
func (s *document) hasCriteria(st story, named map[string]bool) bool {
	byNumber := len(st.number) == 1 && named[strconv.Itoa(st.number[0])]
	if byNumber || named[st.id] {
		return true
	}
	items := 0
	for i := st.line; i < st.end; i++ {
		if s.criterion[i] && hasSubstance(s.Lines[i]) && !hasPlaceholder(s.Said[i]) {
			return true
		}
		if i > st.line && !s.Code[i] {
			if _, body, ok := markdown.Item(s.Lines[i]); ok && !metaItem.MatchString(body) && len(body) > 12 && !hasPlaceholder(s.Said[i]) {
				items++
			}
		}
	}
	return items >= 2
}
