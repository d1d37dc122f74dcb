package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
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
	// Current is the index of the document that a decision is about, -1 if it is none of them.
	Current int
	// Stages are the stages of the documents of the requirements, and PlanStage the one of the plan.
	Stages    []workflow.StageID
	PlanStage workflow.StageID
	// Former is true if the criteria are read by the rules of former programs.
	Former bool
	// Changed is true if a text was changed after it was handed in.
	Changed bool
}

// Criteria are the criteria of a session.
type Criteria struct {
	All []Criterion
	// Defined is the index of the document of the requirements that defines them, -1 if none does.
	Defined int
	// Assigned is true if the plan assigns any to a sprint.
	Assigned bool

	sources Sources
	doc     *criteria.Document
	at      map[int]int // the place in All of a node
	known   map[string]bool
}

// Criterion is one criterion of the requirements.
type Criterion struct {
	ID   string
	Text string
	// Place is the story or requirement of the criterion, or the letters of the id.
	Place string
	// Sprints are the numbers of the criterion's sprints in the plan.
	Sprints []int
	// Owed is true if the report has to have a row for the criterion, Waived if the person has
	// approved a plan without it.
	Owed, Waived bool

	// Node is the index of the node in [Criteria.Document].
	Node int

	leftOut bool
}

// ReadCriteria reads the criteria of a session, and which of them are owed: the criteria of the
// sprints in scope, or all once no sprint is pending or if the plan assigns none.
func ReadCriteria(src Sources) *Criteria {
	out := Criteria{Defined: -1}
	for i, text := range src.Requirements {
		if out = readCriteria(text, src.Plan, src.Approved, src.Former); len(out.All) > 0 {
			out.Defined = i
			break
		}
		out.Defined = -1
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
func readCriteria(text, plan string, approved, former bool) Criteria {
	key := workflow.Hash(fmt.Appendf(nil, "%v %v %d %s%s", approved, former, len(text), text, plan))
	out, known := kept.Get(key)
	if !known {
		out = criteriaIn(text, former)
		if len(out.All) > 0 {
			out.assignSprints(plan, approved)
		}
		kept.Put(key, out)
	}
	return out
}

// Document returns the document that defines the criteria.
func (c *Criteria) Document() *criteria.Document { return c.doc }

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

// InHand reports whether the document that a decision is about defines the criteria.
func (c *Criteria) InHand() bool { return c != nil && len(c.All) > 0 && c.Defined == c.sources.Current }

// Names reports whether a text names criteria at all.
func Names(text string) bool { return len(readCriteria(text, "", false, false).All) > 0 }

// Difference has the ids of criteria that came, went, or say something else.
type Difference struct{ Came, Went, Changed []string }

// CompareCriteria compares the criteria of two rounds of a document.
func CompareCriteria(before, after string, former bool) (out Difference) {
	texts := map[string]string{}
	for _, one := range readCriteria(before, "", false, former).All {
		texts[one.ID] = one.Text
	}
	for _, one := range readCriteria(after, "", false, former).All {
		switch text, known := texts[one.ID]; {
		case !known:
			out.Came = append(out.Came, one.ID)
		case text != one.Text:
			out.Changed = append(out.Changed, one.ID)
		}
		delete(texts, one.ID)
	}
	out.Went = slices.Sorted(maps.Keys(texts))
	return out
}

// A Place is where criteria stand.
type Place struct {
	Name string
	// Criteria is how many stand there.
	Criteria int
}

// Places returns the stories, requirements and letters of the criteria, in the order of the document.
func (c *Criteria) Places() (out []Place) {
	at := map[string]int{}
	for _, one := range c.All {
		i, known := at[one.Place]
		if !known {
			i, at[one.Place] = len(out), len(out)
			out = append(out, Place{Name: one.Place})
		}
		out[i].Criteria++
	}
	return out
}

// Owed returns the ids of the criteria for which a report has to have a row.
func (c *Criteria) Owed() []string { return c.selectIDs(func(c Criterion) bool { return c.Owed }) }

// LeftOut returns the ids left out by the plan, whether it is approved or not.
func (c *Criteria) LeftOut() []string {
	return c.selectIDs(func(c Criterion) bool { return c.leftOut })
}

// OfSprint returns the ids that the plan assigns to a sprint.
func (c *Criteria) OfSprint(number int) []string {
	return c.selectIDs(func(c Criterion) bool { return slices.Contains(c.Sprints, number) })
}

// Unassigned returns the ids that no sprint of the plan names and that the plan does not leave out;
// none if the plan assigns none at all.
func (c *Criteria) Unassigned() []string {
	if c == nil || !c.Assigned {
		return nil
	}
	return c.selectIDs(func(c Criterion) bool { return len(c.Sprints) == 0 && !c.leftOut })
}

// Find returns the criterion that an id of a report means; nil if there is none.
func (c *Criteria) Find(id string) *Criterion {
	if c == nil {
		return nil
	}
	at, ok := c.at[c.doc.Find(id)]
	if !ok {
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
			for _, found := range token.FindAllString(criteria.Narrow(text), -1) {
				c.known[criteria.Key(found)] = true
			}
		}
	}
	return c.known[criteria.Key(id)]
}

// criteriaIn returns the criteria that a document defines.
func criteriaIn(text string, former bool) Criteria {
	read := criteria.Read
	if former {
		read = criteria.ReadFormer
	}
	out := Criteria{doc: read(text), at: map[int]int{}}
	for i, n := range out.doc.Nodes {
		if n.Owed {
			out.at[i] = len(out.All)
			out.All = append(out.All, Criterion{ID: n.ID, Text: n.Text, Place: out.doc.Place(i), Node: i})
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
	omitted := doc.LinesOf(doc.Sections(markdown.Omissions))
	sprints, _ := doc.Sprints()
	for _, s := range sprints {
		lines := slices.DeleteFunc(s.Lines(), func(i int) bool { return omitted[i] })
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
	_, row := doc.Rows[i]
	return row || criteria.BeginsEntry(doc.Written(i))
}

// eachNamed calls found for each criterion named in lines of a document.
func (c *Criteria) eachNamed(doc *markdown.Document, lines []int, found func(*Criterion)) {
	named := c.doc.Named(doc, lines)
	for k := range c.All {
		if named[c.All[k].Node] {
			found(&c.All[k])
		}
	}
}
