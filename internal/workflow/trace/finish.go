package trace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// aside begins a line about something beside the story that it stands in.
var aside = pattern.New(`(?i)^[^\pL]*(?:depend|prerequisite|blocked by|blocks\b|related\b|see also|follows\b|依赖|前置|阻塞|相关|参见)`)

// isAside reports whether a line names what its story depends on, rather than what it does.
func isAside(line string) bool { return aside.MatchString(line[:min(len(line), 80)]) }

// listLinks returns the links between two kinds, by the places of the first kind and by the places of the second, in order.
func (t *tracer) listLinks(from, to int) (forth, back map[int][]int) {
	forth, back = map[int][]int{}, map[int][]int{}
	for l := range t.links {
		if l.from.kind == from && l.to.kind == to {
			forth[l.from.at] = append(forth[l.from.at], l.to.at)
			back[l.to.at] = append(back[l.to.at], l.from.at)
		}
	}
	for _, lists := range []map[int][]int{forth, back} {
		for at := range lists {
			slices.Sort(lists[at])
		}
	}
	return forth, back
}

// linkCriteria adds the links that others make: a part is linked with the stories of the whole, a requirement with the
// stories of its criteria, and a leaf, which is its own criterion, as the leaf is.
func (t *tracer) linkCriteria() {
	stories, _ := t.listLinks(requirement, story)
	for r, whole := range t.whole {
		for _, s := range stories[whole] {
			t.addLink(entity{requirement, r}, entity{story, s})
		}
	}
	_, requirements := t.listLinks(requirement, criterion)
	_, storiesOf := t.listLinks(story, criterion)
	for c, list := range requirements {
		for _, r := range list[:min(len(list), maxOfLine)] {
			for _, s := range storiesOf[c][:min(len(storiesOf[c]), maxOfLine)] {
				t.addLink(entity{requirement, r}, entity{story, s})
			}
		}
	}
	stories, back := t.listLinks(requirement, story)
	for i, c := range t.facts.Criteria.All {
		leaf := t.of[c.Node]
		for _, s := range stories[leaf[requirement]] {
			t.addLink(entity{story, s}, entity{criterion, i})
		}
		for _, r := range back[leaf[story]] {
			t.addLink(entity{requirement, r}, entity{criterion, i})
		}
	}
}

// linkSprints adds the sprints, and puts the stories into them: a story is in the sprint in which the plan defines it,
// else where the plan names it or its epic, else where it names criteria of it.
func (t *tracer) linkSprints() {
	var stage workflow.StageID
	var sprints []markdown.Sprint
	var omitted []bool
	if last := t.facts.Documents[len(t.facts.Documents)-1]; last.IsPlan {
		stage = last.Stage
		doc := markdown.Read(last.Text, nil)
		omitted = doc.LinesOf(doc.Sections(markdown.Omissions))
		sprints, _ = doc.Sprints()
	}
	lines := map[int]int{}
	for _, s := range sprints {
		lines[s.Number] = s.Line + 1
	}
	for _, s := range t.facts.Sprints {
		t.out.Sprints = append(t.out.Sprints, Sprint{
			Number: s.Number, Name: s.Name(), Title: s.Title, Status: s.Status, Place: Place{stage, lines[s.Number]}, Stories: []string{}, Criteria: []string{},
		})
	}
	t.ofEpic, _ = t.listLinks(epic, story)
	for _, entities := range []map[int][]entity{t.defined, t.named} {
		found := map[int][]int{}
		for _, s := range sprints {
			lines := slices.DeleteFunc(s.Lines(), func(line int) bool { return omitted[line] })
			for at := range t.storiesOn(lines, entities) {
				found[at] = append(found[at], s.Number)
			}
		}
		t.putInto(found)
	}
	of, _ := t.listLinks(story, criterion)
	found := map[int][]int{}
	for at := range t.out.Stories {
		for _, c := range of[at] {
			found[at] = append(found[at], t.out.Criteria[c].Sprints...)
		}
	}
	t.putInto(found)
}

// storiesOn returns the stories of the entities on lines, an epic's among them.
func (t *tracer) storiesOn(lines []int, entities map[int][]entity) map[int]bool {
	found := map[entity]bool{}
	for _, line := range lines {
		for _, e := range entities[line] {
			found[e] = true
		}
	}
	out := map[int]bool{}
	for e := range found {
		if e.kind == story {
			out[e.at] = true
		}
		if e.kind == epic {
			for _, at := range t.ofEpic[e.at] {
				out[at] = true
			}
		}
	}
	return out
}

// putInto puts stories that are in no sprint yet into sprints.
func (t *tracer) putInto(sprints map[int][]int) {
	for at, numbers := range sprints {
		if s := &t.out.Stories[at]; len(s.Sprints) == 0 && len(numbers) > 0 {
			slices.Sort(numbers)
			s.Sprints = slices.Compact(numbers)
		}
	}
}

// addRows adds the rows of the reports. A later report counts before an earlier one, and a stale one only where there
// is no other.
func (t *tracer) addRows() {
	at, strange := map[string]int{}, map[string]bool{}
	for i, c := range t.out.Criteria {
		at[c.ID] = i
	}
	for _, stale := range []bool{true, false} {
		for _, r := range t.facts.Reports {
			if r.Stale != stale || len(r.Record.Criteria) == 0 {
				continue
			}
			t.report = t.report || !stale
			citer, lines := verdict.NewCiter(r.Record, r.Lines), linesOfRows(r.Text)
			for _, row := range r.Record.Criteria {
				if found := t.facts.Criteria.Find(row.ID); found != nil {
					c := &t.out.Criteria[at[found.ID]]
					c.Row = makeRow(r, row, citer.Cite(row))
					c.Row.Place = Place{r.Stage, lines[criteria.Key(row.ID)]}
					c.State = stateOf(row.Result, stale)
				} else if !stale && !strange[row.ID] {
					strange[row.ID] = true
					t.strangers = append(t.strangers, row.ID)
				}
			}
		}
	}
	for i, c := range t.facts.Criteria.All {
		if t.out.Criteria[i].Row == nil && c.Waived {
			t.out.Criteria[i].State = LeftOut
		}
	}
}

// linesOfRows returns the lines of tables by the canonical ids in their first cells.
func linesOfRows(text string) map[string]int {
	out := map[string]int{}
	at := 0
	for line := range strings.Lines(text) {
		at++
		if after, ok := strings.CutPrefix(line, "|"); ok {
			first, _, _ := strings.Cut(after, "|")
			if key := criteria.Key(strings.ReplaceAll(first, `\`, "")); out[key] == 0 {
				out[key] = at
			}
		}
	}
	return out
}

func makeRow(r Report, row workflow.Criterion, cited verdict.Citation) *Row {
	out := &Row{Result: row.Result, Evidence: cmp.Or(row.Evidence, row.Why), Tests: cited.Tests, Files: cited.Files, Stale: r.Stale}
	for _, c := range cited.Checks {
		out.Checks = append(out.Checks, Check{c.ID, c.Command, c.Exit, c.Server})
	}
	out.byWord = row.ByWord || strings.TrimSpace(row.Evidence) == "" && len(cited.Checks) == 0
	return out
}

// stateOf returns the state of a criterion with a row. A pass before an earlier stage was reopened says nothing.
func stateOf(result string, stale bool) State {
	switch {
	case result == workflow.ResultFail:
		return Failed
	case stale:
		return Open
	case result == workflow.ResultPass:
		return Met
	case result == workflow.ResultNotTested:
		return NotRun
	}
	return Open
}

// write writes the links into the lists, by ids.
func (t *tracer) write() {
	out := &t.out
	sprints := map[int]*Sprint{}
	for i := range out.Sprints {
		sprints[out.Sprints[i].Number] = &out.Sprints[i]
	}
	storyID := func(i int) string { return out.Stories[i].ID }
	criterionID := func(i int) string { return out.Criteria[i].ID }
	requirementID := func(i int) string { return out.Requirements[i].ID }
	stories, requirementsOf := t.listLinks(requirement, story)
	answered, askedBy := t.listLinks(requirement, criterion)
	epics, _ := t.listLinks(requirement, epic)
	parts, storiesOf := t.listLinks(story, criterion)
	_, epicOf := t.listLinks(epic, story)
	for i := range out.Requirements {
		r := &out.Requirements[i]
		r.Stories, r.Criteria = idsOf(stories[i], storyID), idsOf(answered[i], criterionID)
		for _, e := range epics[i] {
			r.Epics = append(r.Epics, t.epics[e])
		}
		if t.whole[i] != none {
			r.Whole = requirementID(t.whole[i])
		}
	}
	for i := range out.Stories {
		s := &out.Stories[i]
		s.Requirements, s.Criteria = idsOf(requirementsOf[i], requirementID), idsOf(parts[i], criterionID)
		if len(epicOf[i]) > 0 {
			s.Epic = t.epics[epicOf[i][0]]
		}
		for _, number := range s.Sprints {
			if sprint := sprints[number]; sprint != nil {
				sprint.Stories = append(sprint.Stories, s.ID)
			}
		}
	}
	for i := range out.Criteria {
		c := &out.Criteria[i]
		c.Requirements, c.Stories = idsOf(askedBy[i], requirementID), idsOf(storiesOf[i], storyID)
		for _, number := range c.Sprints {
			if sprint := sprints[number]; sprint != nil {
				sprint.Criteria = append(sprint.Criteria, c.ID)
			}
		}
	}
}

func idsOf(places []int, id func(int) string) []string {
	out := make([]string, len(places))
	for i, at := range places {
		out[i] = id(at)
	}
	return out
}
