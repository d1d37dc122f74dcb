package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Sources are the documents of a session from which the criteria are read.
type Sources struct {
	// Requirements are the documents that may define criteria, in the order of the workflow; the
	// first that does counts.
	Requirements []string
	// Plan assigns criteria to sprints. Approved is true if a person has approved it.
	Plan     string
	Approved bool
	// Others are the other documents: all ids in them are known.
	Others []string
	// Sprints are the session's sprints, InScope the numbers of those that are judged.
	Sprints []workflow.Sprint
	InScope []int
	// Changed is true if a text was changed after it was handed in.
	Changed bool
}

// Criteria are the criteria of a session.
type Criteria struct {
	All []Criterion
	// Assigned is true if the plan assigns any to a sprint.
	Assigned bool

	sources Sources
	known   map[string]bool
}

// Criterion is one criterion of the requirements.
type Criterion struct {
	ID   string
	Text string
	// Sprints are the numbers of the criterion's sprints in the plan.
	Sprints []int
	// Owed is true if the report has to have a row for the criterion, Waived if the person has
	// approved a plan without it.
	Owed, Waived bool

	leftOut            bool
	key, story, family string
	number             []int
}

// acceptance are the names of sections of acceptance criteria.
var acceptance = []string{"acceptance criteria", "acceptance criterion", "acceptance tests", "acceptance", "criteria", "验收标准", "验收条件", "验收准则", "验收要点", "验收"}

// ReadCriteria reads the criteria of a session, and which of them are owed: the criteria of the
// sprints in scope, or all once no sprint is pending or if the plan assigns none.
func ReadCriteria(src Sources) *Criteria {
	var out Criteria
	for _, text := range src.Requirements {
		if out = readCriteria(text, src.Plan, src.Approved); len(out.All) > 0 {
			break
		}
	}
	out.All, out.sources = slices.Clone(out.All), src
	pending := slices.ContainsFunc(src.Sprints, func(s workflow.Sprint) bool { return s.Status == workflow.SprintPending })
	for i := range out.All {
		c := &out.All[i]
		inScope := slices.ContainsFunc(c.Sprints, func(n int) bool { return slices.Contains(src.InScope, n) })
		due := inScope || !pending || !out.Assigned
		c.Owed = due && !c.Waived
	}
	return &out
}

// kept are the last read criteria, by the hash of the texts: each call of a stage needs them, and the documents
// hardly change.
var kept = recent.New[string, Criteria](8)

// readCriteria returns the criteria defined by a text and assigned by a plan, before it is known which are owed.
func readCriteria(text, plan string, approved bool) Criteria {
	key := workflow.Hash(fmt.Appendf(nil, "%v %d %s%s", approved, len(text), text, plan))
	out, known := kept.Get(key)
	if !known {
		if out.All = criteriaIn(text); len(out.All) > 0 {
			out.assignSprints(plan, approved)
		}
		kept.Put(key, out)
	}
	return out
}

// Changed reports whether the documents were changed after their submission.
func (c *Criteria) Changed() bool { return c != nil && c.sources.Changed }

// selectIDs returns the ids of the criteria for which keep returns true.
func (c *Criteria) selectIDs(keep func(Criterion) bool) (out []string) {
	if c == nil {
		return nil
	}
	for _, one := range c.All {
		if keep(one) {
			out = append(out, one.ID)
		}
	}
	return out
}

// Owed returns the ids of the criteria for which a report has to have a row.
func (c *Criteria) Owed() []string { return c.selectIDs(func(c Criterion) bool { return c.Owed }) }

// LeftOut returns the ids left out by the plan, whether it is approved or not.
func (c *Criteria) LeftOut() []string {
	return c.selectIDs(func(c Criterion) bool { return c.leftOut })
}

// Unassigned returns the ids that no sprint of the plan names and that the plan does not leave out;
// none if the plan assigns none at all.
func (c *Criteria) Unassigned() []string {
	if c == nil || !c.Assigned {
		return nil
	}
	return c.selectIDs(func(c Criterion) bool { return len(c.Sprints) == 0 && !c.leftOut })
}

// find returns the criterion with an id; nil if there is none.
func (c *Criteria) find(id string) *Criterion {
	if c == nil {
		return nil
	}
	key := canonicalID(id)
	at := slices.IndexFunc(c.All, func(one Criterion) bool { return one.key == key })
	if at < 0 {
		return nil
	}
	return &c.All[at]
}

// knowsID reports whether any document of the session has an id.
func (c *Criteria) knowsID(id string) bool {
	if c == nil {
		return false
	}
	if c.known == nil {
		c.known = map[string]bool{}
		for _, text := range slices.Concat(c.sources.Requirements, []string{c.sources.Plan}, c.sources.Others) {
			for _, found := range token.FindAllString(narrow(text), -1) {
				c.known[canonicalID(found)] = true
			}
		}
	}
	return c.known[canonicalID(id)]
}

// leftOut reports for each line of a document whether it belongs to a section on omissions. The
// heading of a story or criterion begins none.
func leftOut(doc *markdown.Document) []bool {
	return doc.LinesOf(slices.DeleteFunc(doc.Sections(markdown.Omissions), func(h markdown.Heading) bool {
		text := narrow(h.Text)
		return leadingID.MatchString(text) || leadingStory.MatchString(text)
	}))
}

// criteriaIn returns the criteria that a document defines: of the families AC, FR and US the first
// one present, else the ids that begin the items of a section on acceptance criteria.
func criteriaIn(text string) []Criterion {
	doc := markdown.Read(text, nil)
	d := definitions{doc: doc, leftOut: leftOut(doc), underlined: map[int]int{}}
	for _, h := range doc.Heads {
		if _, _, hash := markdown.HashHeading(doc.Lines[h.Line]); !hash && h.Level < markdown.BoldKnown {
			d.underlined[h.Line] = h.Level
		}
	}
	found := d.readCriteria()
	for _, family := range []string{"AC", "FR", "US"} {
		of := slices.DeleteFunc(slices.Clone(found), func(c Criterion) bool { return !strings.HasPrefix(c.family, family) })
		if len(of) > 0 {
			return qualifyIDs(of)
		}
	}
	return qualifyIDs(d.genericCriteria())
}

// qualifyIDs gives each criterion an id, once. A number that several stories use is qualified by
// the story.
func qualifyIDs(found []Criterion) (out []Criterion) {
	stories := map[string]map[string]bool{}
	for _, c := range found {
		key := canonicalID(c.ID)
		if stories[key] == nil {
			stories[key] = map[string]bool{}
		}
		parts := len(c.number)
		if parts == 2 && c.number[1] >= letter {
			parts = 1
		}
		if c.story != "" && parts == 1 && c.family == "AC" {
			stories[key][c.story] = true
		}
	}
	seen := map[string]bool{}
	for _, c := range found {
		c.key = canonicalID(c.ID)
		switch several := len(stories[c.key]) > 1; {
		case several && c.story == "":
			continue // an entry of a list of all ids
		case several:
			c.ID = "US-" + c.story + "/" + c.ID
			c.key = canonicalID(c.ID)
		default:
			c.story = ""
		}
		if !seen[c.key] {
			seen[c.key] = true
			out = append(out, c)
		}
	}
	return out
}

// definitions finds the lines of a document that define ids.
type definitions struct {
	doc     *markdown.Document
	leftOut []bool
	// underlined has the levels of headings made by a line of = or - below.
	underlined map[int]int
	// story is the number of the current story, level the level of the story's heading.
	story string
	level int
}

// levelOfItem is the level of a story in an item or a row.
const levelOfItem = 99

func (d *definitions) readCriteria() (out []Criterion) {
	for i, said := range d.doc.Said {
		if d.doc.Code[i] || strings.TrimSpace(said) == "" {
			continue
		}
		level, body, begins := d.readStart(i)
		heading := level < levelOfItem
		if heading && (level <= d.level || d.level == levelOfItem) {
			d.story, d.level = "", 0
		}
		if !begins || d.leftOut[i] {
			continue
		}
		if row, ok := d.doc.Rows[i]; ok {
			out = append(out, d.readRow(row)...)
			continue
		}
		if c, ok := readDefinition(body); ok {
			if c.family == "US" {
				d.story, d.level = formatNumber(c.number), level
			}
			c.story = cmp.Or(c.story, d.story)
			c.Text = clipText(c.Text + " " + d.linesBelow(i))
			out = append(out, c)
		} else if m := leadingStory.FindStringSubmatch(body); m != nil {
			d.story, d.level = formatNumber(parseNumber(m[1])), level
		}
	}
	return out
}

// readStart returns the text of a line that may define an id, and the level.
func (d *definitions) readStart(i int) (level int, body string, ok bool) {
	line := narrow(d.doc.Written(i))
	if level, text, ok := markdown.HashHeading(line); ok {
		return level, markdown.Unnumbered(text), true
	}
	if level, ok := d.underlined[i]; ok {
		return level, markdown.Unnumbered(strings.TrimSpace(line)), true
	}
	if _, isRow := d.doc.Rows[i]; isRow {
		return levelOfItem, "", true
	}
	if _, text, ok := markdown.Item(line); ok {
		return levelOfItem, text, true
	}
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "**") || strings.HasPrefix(trimmed, "__") {
		return levelOfItem, trimmed, true
	}
	m := leadingID.FindStringSubmatchIndex(trimmed)
	if m == nil {
		return levelOfItem, trimmed, false
	}
	behind := trimmed[m[5]:]
	marked := strings.ContainsAny(behind[:min(len(behind), 3)], ":)")
	return levelOfItem, trimmed, marked || strings.HasPrefix(behind, " - ")
}

// readRow reads the first cells of a row: an id, a story and the id of one of its criteria, or an
// id alone between a number, a name or a priority and its text.
func (d *definitions) readRow(row markdown.Row) (out []Criterion) {
	story := ""
	for n, cell := range row.Cells[:min(2, len(row.Cells))] {
		c, ok := readDefinition(narrow(cell))
		second := n == 1 && story == ""
		if !ok && n == 0 {
			continue
		}
		explained := !second || isBlank(c.Text) && len(row.Cells) > 2
		if !ok || !explained {
			break
		}
		c.story = cmp.Or(c.story, story, d.story)
		c.Text = clipText(strings.Join(append([]string{c.Text}, row.Cells[n+1:]...), " "))
		ofStory := story != "" && c.family != "US"
		if n == 0 || second || ofStory {
			out = append(out, c)
		}
		if c.family != "US" {
			break
		}
		story = formatNumber(c.number)
	}
	return out
}

// linesBelow returns the lines that belong to the definition at line i: up to the next heading,
// definition or item of the same level.
func (d *definitions) linesBelow(i int) string {
	indent, _, item := markdown.Item(d.doc.Lines[i])
	var out []string
	for j := i + 1; j < len(d.doc.Lines) && len(out) < 20; j++ {
		line := d.doc.Lines[j]
		if _, _, heading := markdown.HashHeading(line); heading || leadingID.MatchString(narrow(bodyOf(line))) {
			break
		}
		deeper, _, other := markdown.Item(line)
		next := other && deeper <= indent
		if item && (next || strings.TrimSpace(line) == "") {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, " ")
}

func bodyOf(line string) string {
	if _, body, ok := markdown.Item(line); ok {
		return body
	}
	return strings.TrimSpace(line)
}

// readDefinition reads the id that begins a text and is explained there. An id that begins a list
// or a range is only named.
func readDefinition(text string) (Criterion, bool) {
	if m := qualifiedID.FindStringSubmatchIndex(text); m != nil {
		return Criterion{
			ID: "AC-" + text[m[4]:m[5]], family: "AC", story: formatNumber(parseNumber(text[m[2]:m[3]])), number: parseNumber(text[m[4]:m[5]]), Text: text[m[5]:],
		}, true
	}
	m := leadingID.FindStringSubmatchIndex(text)
	if m == nil {
		return Criterion{}, false
	}
	rest := text[m[5]:]
	if strings.EqualFold(text[m[2]:m[3]], "US") && text[m[3]] == ' ' { // "US 50 companies"
		return Criterion{}, false
	}
	if to.MatchString(rest) || also.MatchString(rest) || listed.MatchString(rest) {
		return Criterion{}, false
	}
	return Criterion{
		ID: strings.ToUpper(strings.TrimSpace(text[m[2]:m[3]])) + text[m[3]:m[5]], family: strings.ToUpper(text[m[2]:m[3]]), number: parseNumber(text[m[4]:m[5]]), Text: rest,
	}, true
}

// genericCriteria returns the ids at the beginning of items and rows in a section on acceptance
// criteria.
func (d *definitions) genericCriteria() (out []Criterion) {
	for i, within := range d.doc.LinesOf(d.doc.Sections(acceptance)) {
		if !within || d.doc.Code[i] || d.doc.Said[i] == "" || d.leftOut[i] {
			continue
		}
		_, body, item := markdown.Item(narrow(d.doc.Lines[i]))
		if row, ok := d.doc.Rows[i]; ok && len(row.Cells) > 0 {
			body, item = narrow(strings.Join(row.Cells, " ")), true
		}
		if m := genericID.FindStringSubmatch(body); item && m != nil {
			out = append(out, Criterion{ID: m[1], Text: clipText(body[len(m[0]):] + " " + d.linesBelow(i))})
		}
	}
	return out
}

// assignSprints notes the sprints of the plan for each criterion, and the criteria in the plan's
// section on omissions.
func (c *Criteria) assignSprints(plan string, approved bool) {
	if strings.TrimSpace(plan) == "" {
		return
	}
	doc := markdown.Read(plan, nil)
	omitted := leftOut(doc)
	sprints, _ := doc.Sprints()
	for _, s := range sprints {
		lines := slices.Clone(s.Rows)
		if len(lines) == 0 {
			for i := s.Line; i < s.End; i++ {
				lines = append(lines, i)
			}
		}
		lines = slices.DeleteFunc(lines, func(i int) bool { return omitted[i] })
		c.eachNamed(doc, lines, func(one *Criterion) {
			if !slices.Contains(one.Sprints, s.Number) {
				one.Sprints, c.Assigned = append(one.Sprints, s.Number), true
			}
		})
	}
	var left []int
	for i := range doc.Lines {
		if omitted[i] && isListEntry(doc, i) {
			left = append(left, i)
		}
	}
	c.eachNamed(doc, left, func(one *Criterion) {
		one.leftOut = len(one.Sprints) == 0
		one.Waived = one.leftOut && approved
	})
}

// isListEntry reports whether a line is an entry of a list: an item, a row, or a paragraph that
// begins with an id. Ids in other sentences may be named to be kept in.
func isListEntry(doc *markdown.Document, i int) bool {
	line := narrow(doc.Written(i))
	_, row := doc.Rows[i]
	_, _, item := markdown.Item(line)
	return row || item || leadingID.MatchString(line)
}

// eachNamed calls found for each criterion named in lines of a document.
func (c *Criteria) eachNamed(doc *markdown.Document, lines []int, found func(*Criterion)) {
	story := ""
	for _, i := range lines {
		if doc.Code[i] {
			continue
		}
		if m := leadingStory.FindStringSubmatch(bodyOf(narrow(doc.Written(i)))); m != nil {
			story = formatNumber(parseNumber(m[1]))
		}
		for _, m := range mentionsIn(doc.Written(i)) { // nobody who approves a plan sees the comments in it
			if m.family == "US" {
				story = formatNumber(m.from)
			}
			m.story = formatNumber(parseNumber(m.story))
			for k := range c.All {
				one := &c.All[k]
				// A part is not meant if the whole is a criterion too.
				whole := len(m.from) != len(one.number) && c.find(m.family+"-"+formatNumber(m.from)) != nil
				if m.namesCriterion(one, cmp.Or(m.story, story)) && !whole {
					found(one)
				}
			}
		}
	}
}

// namesCriterion reports whether a mention, in the lines of a story, names a criterion: itself, its whole ("AC-1"
// for AC-1.2), or in a range.
func (m mention) namesCriterion(c *Criterion, story string) bool {
	if c.family != "" && c.family != m.family {
		return false
	}
	if c.story != "" && c.story != story {
		return false
	}
	if m.to == nil {
		return len(m.from) <= len(c.number) && slices.Equal(m.from, c.number[:len(m.from)])
	}
	upTo := c.number[:min(len(c.number), len(m.to))]
	return slices.Compare(m.from, c.number) <= 0 && slices.Compare(upTo, m.to) <= 0
}

func clipText(s string) string {
	return strings.Trim(visible.Fit(strings.Join(strings.Fields(strings.ReplaceAll(s, "**", "")), " "), 600), " *_`:：.|-")
}
