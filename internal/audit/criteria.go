package audit

import (
	"regexp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/recent"
)

var (
	// acceptance is a line that announces criteria; what follows a colon in it is the first of them.
	acceptance = pattern.New(`(?i)^[\s>*_#+-]*(?:\d+(?:\.\d+)*[.)]?\s+)?(?:[一二三四五六七八九十]+、\s*)?(?:acceptance(?: criteri(?:a|on)| tests?)?|criteria|conditions of satisfaction|scenarios?|验收标准|验收条件|验收准则|验收要点|验收|接受标准|接受条件|通过标准|通过条件|场景)\b?[^:：|]{0,60}?(?:[*_]*\s*[:：]\s*[*_]*\s*(.*)|[*_\s]*)$`)
	// steps is a scenario, in one line or begun.
	steps = pattern.New(`(?i)\bgiven\b.*\bwhen\b|\bwhen\b.{3,}\bthen\b|^[\s>*_+-]*(?:\d+[.)]\s+)?(?:\[[ x]\]\s+)?(?:\*\*)?(?:given|when|then)\b|(?:假如|给定|假设|前提)[^|]{2,}|当[^|]{2,}(?:时|，|,)[^|]*(?:则|那么|应)`)
	// criteriaHeader names a column that holds criteria.
	criteriaHeader = []string{"acceptance criteria", "acceptance criterion", "acceptance", "criteria", "criterion", "accepted when", "done when", "given", "given/when/then", "验收标准", "验收条件", "验收", "标准", "通过条件", "完成条件"}
	otherLabel     = pattern.New(`^\s*(?:[-*+]\s+)?(?:\*\*|__)[^*_]{2,60}(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*[:：])`)
)

// markCriteria finds the lines that state an acceptance criterion: those with an
// AC id, those below a line that announces criteria, scenarios, and the cells of
// a column of criteria.
func (d *text) markCriteria() {
	d.criterion = make([]bool, len(d.Lines))
	var r criteriaReader
	next := 0
	for i := range d.Said {
		var h *markdown.Heading
		for next < len(d.Heads) && d.Heads[next].Line <= i {
			if d.Heads[next].Line == i {
				h = &d.Heads[next]
			}
			next++
		}
		switch {
		case d.Code[i]: // a scenario may stand in a block of its own
			d.criterion[i] = r.inside && steps.MatchString(d.Lines[i])
		case strings.TrimSpace(d.Said[i]) == "":
			r.blank = true
		default:
			d.criterion[i] = r.read(d, i, h)
		}
	}
}

// criteriaReader goes through a document and knows whether it is below a line
// that announced criteria.
type criteriaReader struct {
	inside, blank bool
	level, indent int // of the heading or the item that announced them
}

// read reports whether line i, which may be a heading, states a criterion.
func (r *criteriaReader) read(d *text, i int, h *markdown.Heading) bool {
	l := d.Said[i]
	depth, _, isItem := markdown.Item(l)
	row, isRow := d.Rows[i]
	if strings.Contains(l, "AC") {
		if def, ok := d.definitionAt(i); ok && def.id.prefix == "AC" {
			return true
		}
	}
	if m := announcement(l); m != nil && !isRow && announces(strings.TrimSpace(l), h != nil, isItem, m[1]) {
		r.begin(h, isItem, depth)
		return substance(m[1])
	}
	switch {
	case h != nil && h.Level <= markdown.BoldKnown:
		r.inside = r.inside && r.level < h.Level
	case otherLabel.MatchString(l), isItem && depth <= r.indent:
		r.inside = false
	}
	blank := r.blank
	r.blank = false
	if containsAny(l, "iven", "hen", "IVEN", "HEN", "假", "给定", "前提", "当") && steps.MatchString(l) {
		return true
	}
	if isRow {
		return r.inside || substance(row.Cell(d.Tables[row.Table].Column(criteriaHeader...)))
	}
	return r.inside && h == nil && (isItem || !blank || strings.HasPrefix(l, " "))
}

// begin notes what announced the criteria that follow.
func (r *criteriaReader) begin(h *markdown.Heading, isItem bool, depth int) {
	*r = criteriaReader{inside: true, level: markdown.BoldOther + 1, indent: -1}
	if h != nil {
		r.level = h.Level
	} else if isItem {
		r.indent = depth
	}
}

// announcement matches acceptance, in a line that somebody would read.
func announcement(l string) []string {
	if len(l) > 4000 {
		return nil
	}
	m := acceptance.FindStringSubmatch(l)
	if m == nil || !containsAny(l, "ccept", "riteri", "onditions", "cenario", "CCEPT", "RITERI", "验收", "接受", "通过", "场景") {
		return nil // also where a scenario is written in capitals alone
	}
	return m
}

func containsAny(l string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(l, w) {
			return true
		}
	}
	return false
}

// announces distinguishes a label from a sentence that begins with the same word.
func announces(trimmed string, onHeading, isItem bool, behind string) bool {
	return onHeading || behind != "" || strings.HasSuffix(strings.TrimRight(trimmed, "*_ "), ":") || strings.HasSuffix(strings.TrimRight(trimmed, "*_ "), "：") ||
		isItem && len(trimmed) < 60 || strings.HasPrefix(trimmed, "*")
}

// story is a user story with the lines that belong to it.
type story struct {
	id        string
	nth       int // of a story without an id, its place among them
	number    []int
	line, end int
	form      byte
}

var (
	namedStory = pattern.New(`(?i)^(?:user )?story\s*#?\s*(\d{1,3})\b|^(?:用户)?故事\s*(\d{1,3}|[一二三四五六七八九十])`)
	asA        = pattern.New(`(?i)\bas (?:an?|the|its|our)\b.{2,120}?\bI(?:'d| want| can| need| would|\s+must)|作为.{1,40}?(?:我希望|我想|我要|我需要|我能|我可以|希望|需要)`)
)

// named is the story in a finding.
func (st story) named() lang.Text {
	if st.nth > 0 {
		return lang.T("story %d", st.nth)
	}
	return plain(st.id)
}

// userStories reads the stories of the document: by their ids, by headings such
// as "Story 1", or by the sentence "As a …, I want …".
func (s *document) userStories() []story {
	if s.read {
		return s.stories
	}
	s.read = true
	for _, def := range s.definitions("US") {
		if !s.listsOthers(def.line) {
			s.stories = append(s.stories, story{id: def.id.String(), number: def.id.number, line: def.line, form: def.form})
		}
	}
	if len(s.stories) == 0 {
		for _, h := range s.Heads {
			if m := namedStory.FindStringSubmatch(markdown.Unnumbered(h.Text)); m != nil {
				s.stories = append(s.stories, story{id: strings.TrimSpace(m[0]), line: h.Line, form: 'h'})
			}
		}
	}
	if len(s.stories) == 0 {
		for i, l := range s.Said {
			if (strings.Contains(l, "s a") || strings.Contains(l, "s the") || strings.Contains(l, "作为")) && asA.MatchString(l) && !emptyStory.MatchString(l) {
				s.stories = append(s.stories, story{line: i, form: 'l'})
			}
		}
		for i := range s.stories {
			s.stories[i].nth, s.stories[i].id = i+1, "story "+itoa(i+1)
		}
	}
	s.endStories()
	return s.stories
}

// endStories gives each story the lines up to the next one, or to the end of
// what it stands in.
func (s *document) endStories() {
	next, current := 0, []markdown.Heading(nil)
	for k := range s.stories {
		st := &s.stories[k]
		for next < len(s.Heads) && s.Heads[next].Line <= st.line {
			current = append(current, s.Heads[next])
			next++
		}
		for len(current) > 0 && current[len(current)-1].End <= st.line {
			current = current[:len(current)-1]
		}
		st.end = len(s.Lines)
		for i := len(current) - 1; i >= 0; i-- {
			h := current[i]
			if h.Level <= 6 && h.End > st.line && (h.Line < st.line || st.form == 'h') {
				st.end = h.End
				break
			}
		}
		if k+1 < len(s.stories) {
			st.end = min(st.end, s.stories[k+1].line)
		}
		if st.form == 't' {
			st.end = st.line + 1
		}
	}
}

// mapping are headings below which ids are named and not explained.
var mapping = []string{"trace", "traceability", "coverage", "mapping", "matrix", "release", "releases", "release plan", "roadmap", "priorities", "priority", "milestones", "dependencies", "glossary", "out of scope", "追踪", "追溯", "覆盖", "矩阵", "对应", "优先级", "发布", "里程碑", "范围之外", "范围外", "依赖", "不做", "版本计划", "路线图", "术语", "词汇表", "summary", "overview", "概览", "总览", "概要", "摘要", "概述", "change log", "changelog", "changes", "revision history", "修订", "变更记录", "变更历史"}

// listsOthers reports whether a line stands where ids are only listed.
func (d *text) listsOthers(line int) bool {
	if row, ok := d.Rows[line]; ok {
		t := d.Tables[row.Table]
		if t.Column("traced to", "covered by", "requirements", "where", "sprint", "sprint stories", "met in", "component", "组件", "模块", "对应需求", "冲刺", "迭代", "覆盖", "位置") >= 0 && t.Column("as a", "i want", "story", "user story", "requirement", "description", "故事", "描述", "需求", "内容") < 0 {
			return true
		}
	}
	return d.Within(line, mapping)
}

// findStoriesWithoutCriteria lists the stories that nobody could test.
func findStoriesWithoutCriteria(_ check, s *document) []miss {
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
			if len(out.items) == 0 {
				out.line = st.line
			}
			out.items = append(out.items, st.named())
		}
	}
	if len(out.items) == 0 {
		return nil
	}
	return []miss{out}
}

// namedByCriteria returns the story numbers that criteria of the document refer
// to, and how many criteria refer to none.
func (s *document) namedByCriteria() (named map[string]bool, flat int) {
	named = map[string]bool{}
	current := ""
	for i := range s.Lines {
		if strings.Contains(s.Lines[i], "US") {
			if at, ok := anyID.next(s.Lines[i], 0); ok && !s.criterion[i] && at.in(s.Lines[i]).prefix == "US" {
				current = at.in(s.Lines[i]).String()
				if s.acceptanceTable(i) {
					s.markNamed(i, named)
				}
			}
		}
		if !s.criterion[i] || hasPlaceholder(s.Said[i]) {
			continue
		}
		def, ok := s.definitionAt(i)
		switch {
		case ok && def.id.prefix == "AC" && len(def.body) > 4 && len(def.id.number) > 1:
			named[itoa(def.id.number[0])] = true
		case ok && def.id.prefix == "AC" && len(def.body) > 4:
			flat++
		}
		s.markNamed(i, named)
		// Criteria in a section of their own stand under the story's name.
		if current != "" && s.Within(i, []string{"acceptance criteria", "acceptance", "验收标准", "验收条件"}) {
			named[current] = true
		}
	}
	return named, flat
}

// acceptanceTable reports whether a line is a table row with a filled cell of criteria.
func (s *document) acceptanceTable(i int) bool {
	row, ok := s.Rows[i]
	return ok && substance(row.Cell(s.Tables[row.Table].Column(criteriaHeader...)))
}

func (s *document) markNamed(i int, named map[string]bool) {
	if !strings.Contains(s.Lines[i], "US") {
		return
	}
	for _, at := range anyID.all(s.Lines[i]) {
		if id := at.in(s.Lines[i]); id.prefix == "US" {
			named[id.String()] = true
		}
	}
}

var metaItem = pattern.New(`(?i)^[*_\s]*(?:priority|estimate|size|depends|dependencies|owner|status|goal|serves|value|persona|actor|notes?|as an?|i want|so that|role|trace|traces to|优先级|估算|规模|工作量|负责人|依赖|状态|目标|价值|备注|说明|角色|作为|我希望|以便)\b?[^\n]{0,4}[:：]|^\s*[*_]*(?:as an?\b|i want\b|so that\b|作为|我希望|以便)`)

// hasCriteria reports whether a story has criteria among its own lines, or
// elsewhere under its number.
func (s *document) hasCriteria(st story, named map[string]bool) bool {
	if named[st.id] || len(st.number) == 1 && named[itoa(st.number[0])] {
		return true
	}
	items := 0
	for i := st.line; i < st.end; i++ {
		if s.criterion[i] && substance(s.Lines[i]) && !hasPlaceholder(s.Said[i]) {
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

// findVague lists the criteria with a word that two testers would read
// differently, and nothing in the line that makes it sharp.
func findVague(c check, s *document) []miss {
	words, lower := wordPattern(c.Words), lowered(c.Words)
	var out miss
	for i, l := range s.Said {
		// Most lines have none of the words, which is cheap to see.
		if !s.criterion[i] || s.Code[i] || !containsAny(strings.ToLower(l), lower...) {
			continue
		}
		if sharp.MatchString(anyID.blank(s.Lines[i])) {
			continue
		}
		if m := words.FindString(l); m != "" {
			if len(out.items) == 0 {
				out.line = i
			}
			place := atLine(i)
			if def, ok := s.definitionAt(i); ok {
				place = plain(def.id.String())
			}
			out.items = append(out.items, lang.T("%s \"%s\"", place, strings.ToLower(strings.TrimSpace(m))))
		}
	}
	if len(out.items) == 0 {
		return nil
	}
	return []miss{out}
}

// findPhrases lists the lines with a phrase that promises much and says nothing.
func findPhrases(c check, s *document) []miss {
	words := phrasePattern(c.Words)
	var lines []int
	for i, l := range s.Said {
		if l != "" && words.MatchString(strings.ToLower(l)) && !strings.ContainsAny(s.Lines[i], "0123456789`") {
			lines = append(lines, i)
		}
	}
	return atLines(lines)
}

func lowered(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}

// sharp is what makes a criterion exact: a figure, a quotation, a code, a status.
var sharp = pattern.New("\\d|[\"“”「」`]|(?i)\\b(?:never|exactly|only|none|error|refused|rejected|disabled|empty|unchanged|sorted|listed|shown)\\b|『|绝不|从不|恰好|只有|仅|没有|报错|错误|拒绝|退回|禁用|为空|不变|排序|列出|显示")

// patterns keeps those that were made, by their expressions: few rubrics are in use at a time.
var patterns = recent.New[string, *pattern.Pattern](1000)

func patternOf(expression string) *pattern.Pattern {
	if known, ok := patterns.Get(expression); ok {
		return known
	}
	made := pattern.New(expression)
	patterns.Put(expression, made)
	return made
}

// wordPattern matches one of the words as a whole word, in any case.
func wordPattern(words []string) *pattern.Pattern {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = regexp.QuoteMeta(w)
		if w[0] < 0x80 {
			parts[i] = `\b` + parts[i] + `\b`
		}
	}
	return patternOf(`(?i)` + strings.Join(parts, "|"))
}

// phrasePattern matches a line in lower case that [markdown.MatchesName] finds one of the phrases in.
func phrasePattern(phrases []string) *pattern.Pattern {
	var parts []string
	for _, p := range lowered(phrases) {
		whole, exactly := strings.CutPrefix(p, "=")
		switch {
		case exactly:
			parts = append(parts, `\A`+regexp.QuoteMeta(whole)+`\z`)
		case p == "":
		case p[0] < 0x80:
			parts = append(parts, `(?:\A|[^a-zA-Z0-9_])`+regexp.QuoteMeta(p)+`(?:\z|[^a-zA-Z0-9_])`)
		default:
			parts = append(parts, regexp.QuoteMeta(p))
		}
	}
	if len(parts) == 0 {
		return patternOf(`[^\x00-\x{10FFFF}]`)
	}
	return patternOf(strings.Join(parts, "|"))
}
