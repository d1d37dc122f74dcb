package audit

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// sprintLabel names a sprint in a finding.
func sprintLabel(sp markdown.Sprint) lang.Text { return lang.T("Sprint %s", sp.Name()) }

var (
	// storyHead begins the heading, item or row of a sprint's story.
	storyHead = pattern.New(`(?i)^[\s*_\[(（]*(?:S\d+[-.]\d+|US-?\d+|[A-Z]{1,8}-\d+(?:[.-]\d+)?|(?:story|task|故事|任务|用户故事)\s*#?\d+(?:[.-]\d+)?|\d+\.\d+)(?:$|[^\w])`)
	notStory  = pattern.New(`(?i)^[\s*_\[(（]*(?:AC|FR|NFR|BG|RK|R|D|Q|T|ADR|TR)-?\d`)
	sizeWords = pattern.New(`(?i)[\d½¼¾](?:[.,]\d+)?(?:\s*[–-]\s*\d+)?\s*-?(?:story[ -])?(?:points?|pts?|sp|d|days?` +
		`|pd|h|hrs?|hours?)\b|half an? (?:day)|\b(?:one|two|three|a|an) (?:days?|hours?)\b|\b(?:size|estimate|effort` +
		`|points?)\W{0,6}(?:XS|S|M|L|XL|\d+)\b|[(（\[](?:XS|S|M|L|XL|\d{1,2})[)）\]]|\d+(?:\.\d+)?\s*个?(?:故事)?(?:点|人?天` +
		`|人日|人时|工作日|小时)|半天|[一两二三四五]个?(?:人?天|工作日|小时)|(?:估算|规模|工作量|大小)\s*[:：]?\s*(?:\d|XS|S|M|L|XL)`)
	metWords = pattern.New(`(?i)\baccept(?:ance|ed)\b|\bAC-\d|\bcriteri|\bdone when\b|\bgiven\b|\bverif(?:y|ied)\b|\btest(?:s|ed)?\s*:|验收|完成条件|完成标准|通过条件|通过标准|验证|测试\s*[:：]`)
)

func isStory(head string) bool { return storyHead.MatchString(head) && !notStory.MatchString(head) }

// rowStories reads the stories of a sprint in a row of a table: the stories of the row, else the
// ones anywhere whose ids have the row's number, as in S2-1.
func (d *text) rowStories(sp markdown.Sprint) (out []story) {
	for _, line := range sp.Rows {
		if out = append(out, cellStories(d.Document, line)...); len(out) > 0 {
			continue
		}
		for _, cell := range d.Rows[line].Cells {
			for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(",，;；、<", r) }) {
				part = strings.TrimSpace(strings.TrimPrefix(part, "br>"))
				if !ownNumber.MatchString(part) && isStory(part) {
					out = append(out, story{id: idOf(part), line: line, end: line + 1, form: 't'})
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	return slices.DeleteFunc(d.storiesIn(markdown.Sprint{Line: -1, End: len(d.Lines)}), func(st story) bool {
		number, rest, _ := strings.Cut(strings.ReplaceAll(st.id, ".", "-"), "-")
		return rest == "" || !strings.EqualFold(number, "S"+sp.Name())
	})
}

// cellStories reads the stories that a row names in a column of stories.
func cellStories(d *markdown.Document, line int) (out []story) {
	row := d.Rows[line]
	cell := row.Cell(d.Tables[row.Table].Column("stories", "story ids", "user stories", "tasks", "items", "故事", "用户故事", "任务"))
	for part := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(",，;；、", r) }) {
		if id := strings.TrimSpace(part); strings.ContainsAny(id, "0123456789") {
			out = append(out, story{id: id, node: -1, line: line, end: line + 1, form: 't'})
		}
	}
	return out
}

// ownNumber is a cell with the number of a sprint, or with a figure.
var ownNumber = pattern.New(`(?i)^\W*(?:\d|sprint|iteration|冲刺|迭代)`)

// sprintStories reads the stories of a sprint.
func (d *text) sprintStories(sp markdown.Sprint) []story {
	if len(sp.Rows) > 0 {
		return d.rowStories(sp)
	}
	return d.storiesIn(sp)
}

// headedStories reads the stories and tasks that begin with a heading: as the reader finds them, else by their form.
func (d *text) headedStories(sp markdown.Sprint) (out []story) {
	for i, n := range d.read().Nodes {
		task := n.Kind == criteria.Story || n.Kind == criteria.Requirement
		if task && n.Written != "" && n.Form == criteria.Heading && sp.Line < n.Line && n.Line < sp.End {
			out = append(out, story{id: nodeLabel(n), node: i, line: n.Line, end: min(n.End, sp.End), form: 'h'})
		}
	}
	for _, h := range d.HeadsIn(sp.Line+1, sp.End) {
		if found := len(out) > 0 && out[0].node >= 0; !found && isStory(h.Text) {
			out = append(out, story{id: idOf(h.Text), node: -1, line: h.Line, form: 'h', end: min(h.End, sp.End)})
		}
	}
	endAtNext(out)
	for k, st := range out {
		for j := st.line + 1; j < st.end; j++ {
			if ofSprint.MatchString(d.Lines[j]) {
				out[k].end = j
				break
			}
		}
	}
	return out
}

// storiesIn reads the stories of a section: the sub-headings with an id, else the rows, else the
// items.
func (d *text) storiesIn(sp markdown.Sprint) []story {
	heads := d.headedStories(sp)
	if len(heads) > 0 {
		return heads
	}
	var rows, items []story
	for i := sp.Line + 1; i < sp.End; i++ {
		row, isRow := d.Rows[i]
		_, body, isItem := markdown.Item(d.Lines[i])
		switch {
		case d.Code[i]:
		case isRow && isStory(row.Cells[0]):
			rows = append(rows, story{id: idOf(row.Cells[0]), line: i, end: i + 1, form: 't'})
		case !isRow && isItem && isStory(body):
			items = append(items, story{id: idOf(body), line: i, end: sp.End, form: 'l'})
		}
	}
	if len(rows) > 0 {
		return rows
	}
	endAtNext(items)
	return items
}

// ofSprint is a bold label about the sprint again, behind the last story.
var ofSprint = pattern.New(`(?i)^ {0,3}\*\*(?:done|definition of done|exit|demo|sprint|goal|risks?|dependencies|完成|退出|演示|冲刺|迭代|风险|目标|交付|依赖)`)

// namedStory is a story with a number.
var namedStory = pattern.New(`(?i)^(?:user )?story\s*#?\s*(\d{1,3})\b|^(?:用户)?故事\s*(\d{1,3}|[一二三四五六七八九十])`)

// bareID is the id at the beginning of a text.
var bareID = pattern.New(`^[A-Za-z0-9.-]+`)

func idOf(s string) string {
	s = strings.TrimLeft(s, " *_[(（`")
	if m := namedStory.FindString(s); m != "" {
		return m
	}
	return strings.TrimRight(bareID.FindString(s), ".-")
}

func findNoSprints(_ check, s *document) *miss {
	if len(s.planned()) > 0 {
		return nil
	}
	return &miss{line: -1}
}

// findSprintsWithout lists the sprints that have no line beginning with one of the words. A section
// for all sprints, or a column of an overview, serves too.
func findSprintsWithout(c check, s *document) *miss {
	sprints := s.planned()
	if len(sprints) == 0 {
		return nil
	}
	var names []string
	for _, w := range c.Words {
		names = append(names, markdown.NameOf(w))
	}
	for _, h := range s.Sections(names) {
		inside := slices.ContainsFunc(sprints, func(sp markdown.Sprint) bool { return sp.Line <= h.Line && h.Line < sp.End })
		if !inside && h.Level <= 3 && s.hasContent(h) {
			return nil
		}
	}
	for _, t := range s.Tables {
		if t.Column(names...) >= 0 && len(t.Rows) >= len(sprints) && (t.Column("sprint", "iteration", "冲刺", "迭代") >= 0) {
			return nil
		}
	}
	begins := wordPattern(c.Words)
	var out miss
	for _, sp := range sprints {
		found := false
		for i := sp.Line + 1; i < sp.End && !found; i++ {
			l := strings.TrimLeft(s.Lines[i], " \t#*_>-+|")
			at := begins.FindStringIndex(l)
			found = !s.Code[i] && at != nil && at[0] <= 30
		}
		if !found {
			out.addItem(sp.Line, sprintLabel(sp))
		}
	}
	return out.orNil()
}

// findSprintStories lists sprints without stories, or stories without acceptance or size.
func findSprintStories(c check, s *document) *miss {
	var out miss
	for _, sp := range s.planned() {
		stories := s.sprintStories(sp)
		if c.What == "any" {
			if len(stories) == 0 {
				out.addItem(sp.Line, sprintLabel(sp))
			}
			continue
		}
		for _, st := range stories {
			if !s.storyHas(c.What, st) {
				out.addItem(st.line, st.label())
			}
		}
	}
	return out.orNil()
}

func (s *document) storyHas(what string, st story) bool {
	words, header := metWords, criteriaHeader
	if what == "size" {
		words, header = sizeWords, []string{"size", "estimate", "points", "pts", "days", "hours", "effort", "sp",
			"d", "估算", "估时", "预估", "点数", "点", "工作量", "人天", "天数", "规模", "大小", "工期"}
	}
	if row, ok := s.Rows[st.line]; ok {
		if t := s.Tables[row.Table]; hasSubstance(row.Cell(t.Column(header...))) {
			return true
		}
	}
	for i := st.line; i < st.end; i++ {
		criterion := what == "acceptance" && s.criterion()[i]
		labelled := words.MatchString(s.Lines[i]) && !emptyLabel.MatchString(s.Lines[i])
		if criterion || labelled {
			return true
		}
	}
	return false
}
