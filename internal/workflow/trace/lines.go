package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Line is a line of the table for people: a criterion with everything linked with it, or a requirement, story or row
// without one.
type Line struct {
	Requirements, Stories, Epics []string
	// Criterion is the id of the criterion, or of a row without one.
	Criterion string
	Text      string
	Place
	Sprints []int
	// State is empty for a line without a criterion.
	State State
	Row   *Row
	// Missing are the holes on the line.
	Missing map[HoleKind]bool
}

// liner makes the lines of a table.
type liner struct {
	stories map[string]Story
	epics   map[string][]string
	holes   map[Hole]bool
	// shown has the requirements and stories of the lines, by r or s and the id.
	shown map[string]bool
	lines []Line
}

func (m *liner) add(l Line) {
	l.Missing = map[HoleKind]bool{}
	note := func(kind HoleKind, id string) {
		if m.holes[Hole{kind, id}] {
			l.Missing[kind] = true
		}
	}
	for _, id := range l.Requirements {
		l.Epics = append(l.Epics, m.epics[id]...)
		m.shown["r"+id] = true
		note(WithoutStory, id)
	}
	for _, id := range l.Stories {
		m.shown["s"+id] = true
		note(InNoSprint, id)
	}
	for _, kind := range []HoleKind{CriterionNowhere, WithoutRow, WithoutEvidence, WithoutCriterion} {
		note(kind, l.Criterion)
	}
	slices.Sort(l.Epics)
	l.Epics = slices.Compact(l.Epics)
	m.lines = append(m.lines, l)
}

// addCriterion adds the line of a criterion. Where it has no requirements or sprints, its stories give them.
func (m *liner) addCriterion(c Criterion) {
	l := Line{Requirements: c.Requirements, Stories: c.Stories, Criterion: c.ID, Text: c.Text, Place: c.Place, Sprints: c.Sprints, State: c.State, Row: c.Row}
	for _, id := range c.Stories {
		if len(l.Requirements) == 0 {
			l.Requirements = m.stories[id].Requirements
		}
		if len(l.Sprints) == 0 {
			l.Sprints = m.stories[id].Sprints
		}
	}
	m.add(l)
}

// Lines returns the table of a trace, in the order of the documents.
func (t *Trace) Lines() []Line {
	m := liner{stories: map[string]Story{}, epics: map[string][]string{}, holes: map[Hole]bool{}, shown: map[string]bool{}}
	hasParts := map[string]bool{}
	for _, h := range t.Holes {
		m.holes[h] = true
	}
	for _, s := range t.Stories {
		m.stories[s.ID] = s
	}
	for _, r := range t.Requirements {
		m.epics[r.ID], hasParts[r.Whole] = r.Epics, true
	}
	for _, c := range t.Criteria {
		m.addCriterion(c)
	}
	for _, r := range t.Requirements {
		if !m.shown["r"+r.ID] && !hasParts[r.ID] {
			m.add(Line{Requirements: []string{r.ID}, Stories: r.Stories, Text: r.Text, Place: r.Place})
		}
	}
	for _, s := range t.Stories {
		if !m.shown["s"+s.ID] {
			m.add(Line{Requirements: s.Requirements, Stories: []string{s.ID}, Text: s.Title, Place: s.Place, Sprints: s.Sprints})
		}
	}
	for _, h := range t.Holes {
		if h.Kind == WithoutCriterion {
			m.add(Line{Criterion: h.ID})
		}
	}
	return m.lines
}

// SprintNames returns the names of sprints.
func (t *Trace) SprintNames(numbers []int) (out []string) {
	for _, n := range numbers {
		name := strconv.Itoa(n)
		if i := slices.IndexFunc(t.Sprints, func(s Sprint) bool { return s.Number == n }); i >= 0 {
			name = t.Sprints[i].Name
		}
		out = append(out, name)
	}
	return out
}

// Text names a state.
func (s State) Text(l lang.Language) string {
	switch s {
	case Met:
		return l.Say("met")
	case Failed:
		return l.Say("failed")
	case NotRun:
		return l.Say("not run")
	case LeftOut:
		return l.Say("left out")
	}
	return l.Say("still open")
}

// Text says in a few words what is missing.
func (k HoleKind) Text(l lang.Language) string {
	switch k {
	case WithoutStory:
		return l.Say("no story")
	case InNoSprint, CriterionNowhere:
		return l.Say("no sprint")
	case WithoutRow:
		return l.Say("no row")
	case WithoutEvidence:
		return l.Say("no evidence")
	}
	return l.Say("no criterion")
}

// holeOrder is the order in which holes are told.
var holeOrder = []HoleKind{WithoutStory, InNoSprint, CriterionNowhere, WithoutRow, WithoutEvidence, WithoutCriterion}

// maxNamed is how many ids a sentence has.
const maxNamed = 40

// Sentences returns a sentence for each kind of hole.
func (t *Trace) Sentences(l lang.Language) (out []string) {
	for _, kind := range holeOrder {
		var ids []string
		for _, h := range t.Holes {
			if h.Kind == kind {
				ids = append(ids, h.ID)
			}
		}
		if len(ids) > 0 {
			out = append(out, kind.sentence(l, nameIDs(l, ids)))
		}
	}
	return out
}

func nameIDs(l lang.Language, ids []string) string {
	text := ""
	for i, id := range ids {
		if i == maxNamed {
			return l.Say("%s and %d more", text, len(ids)-maxNamed)
		}
		if i > 0 {
			text += ", "
		}
		text += id
	}
	return text
}

func (k HoleKind) sentence(l lang.Language, ids string) string {
	switch k {
	case WithoutStory:
		return l.Say("Requirements without a story: %s.", ids)
	case InNoSprint:
		return l.Say("Stories in no sprint: %s.", ids)
	case CriterionNowhere:
		return l.Say("Criteria in no sprint: %s.", ids)
	case WithoutRow:
		return l.Say("Criteria without a row in the report: %s.", ids)
	case WithoutEvidence:
		return l.Say("Passed without evidence that can be looked up: %s.", ids)
	}
	return l.Say("Rows that belong to no criterion: %s.", ids)
}

// Text says why nothing is known of a kind of link.
func (u Unknown) Text(l lang.Language) string {
	switch u {
	case NoCriteria:
		return l.Say("No document of this run has requirements or criteria that can be read: give each one an id, such as FR-1 or AC-1.1.")
	case NoRequirements:
		return l.Say("The documents have stories and criteria, and no requirements beside them.")
	case NoStories:
		return l.Say("The documents have no stories: the requirements stand by themselves.")
	case Unlinked:
		return l.Say("No story names a requirement, and no requirement a story: their links are not known.")
	case NoSprints:
		return l.Say("There is no plan with sprints yet.")
	case Unassigned:
		return l.Say("The sprints of the plan name no story and no criterion by its id: their links are not known.")
	case NoReport:
		return l.Say("No report has answered the criteria yet.")
	}
	return l.Say("The documents name more ids than are followed: some links are missing here.")
}

// Cell is a cell of the table for people. The text of a hole names the missing link.
type Cell struct {
	Text   string
	IsHole bool
}

// ColumnNames names the columns of the table.
func ColumnNames(l lang.Language) []string {
	return []string{l.Say("Requirement"), l.Say("Story"), l.Say("Criterion"), l.Say("Sprint"), l.Say("Result"), l.Say("Check or test"), l.Say("File")}
}

// Cells returns the cells of a line, as plain text.
func (t *Trace) Cells(l lang.Language, line Line) []Cell {
	cell := func(items []string, holes ...HoleKind) Cell {
		for _, kind := range holes {
			if line.Missing[kind] {
				return Cell{kind.Text(l), true}
			}
		}
		if len(items) == 0 {
			return Cell{Text: "–"}
		}
		return Cell{Text: strings.Join(items, ", ")}
	}
	criterion, result := cell(nil), cell(nil, WithoutRow)
	if line.Criterion != "" {
		criterion.Text = line.Criterion
	}
	if line.State != "" && !result.IsHole {
		result.Text = line.State.Text(l)
	}
	stories := line.Stories
	if len(stories) == 0 {
		stories = line.Epics
	}
	return []Cell{
		cell(line.Requirements, WithoutCriterion), cell(stories, WithoutStory), criterion,
		cell(t.SprintNames(line.Sprints), InNoSprint, CriterionNowhere), result,
		cell(line.Row.Proofs(), WithoutEvidence), cell(line.Row.Places()),
	}
}

// Proofs returns the ids of the checks and the names of the tests of a row.
func (r *Row) Proofs() (out []string) {
	if r == nil {
		return nil
	}
	for _, c := range r.Checks {
		out = append(out, c.ID)
	}
	return append(out, r.Tests...)
}

// Places returns the files of a row with their lines.
func (r *Row) Places() (out []string) {
	if r == nil {
		return nil
	}
	for _, f := range r.Files {
		place := f.Path
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		out = append(out, place)
	}
	return out
}
