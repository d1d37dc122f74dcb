package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// FailureList has the failures of a project.
type FailureList struct {
	Failures []Failure `json:"failures"`
	// Total is how many there are in the category, ByCategory how many in each.
	Total      int            `json:"total"`
	ByCategory map[string]int `json:"by_category"`
	// NothingClose is true if none of them fits the query.
	NothingClose bool            `json:"nothing_close,omitempty"`
	Note         string          `json:"note"`
	Problems     []notes.Problem `json:"problems,omitempty"`
}

// Failure is one of them.
type Failure struct {
	ID         string `json:"id"`
	Date       string `json:"date,omitempty"`
	Agent      string `json:"agent,omitempty"`
	Category   string `json:"category,omitempty"`
	Severity   string `json:"severity,omitempty"`
	Title      string `json:"title"`
	Lesson     string `json:"lesson,omitempty"`
	Rule       string `json:"rule,omitempty"`
	Status     string `json:"status,omitempty"`
	Suspicious bool   `json:"suspicious,omitempty"`
	Source     string `json:"source"`
}

// allCategories asks for the failures of every category.
const allCategories = "all"

// Failures returns the failures of a project, the worst first and among equals the newest or, with a query,
// those close to it, the closest first. topN is from 1 to 50; 0 is 10.
func (b *Book) Failures(ctx context.Context, category, query string, topN int) (FailureList, error) {
	known := append([]string{allCategories}, lesson.Categories()...)
	category = cmp.Or(category, allCategories)
	if !slices.Contains(known, category) {
		return FailureList{}, fault.New(fault.InvalidArgument, "%q is not a category of failures", shownName(category)).
			WithHint("use one of %s", strings.Join(known, ", ")).Suggest(category, known)
	}
	v, err := b.newView(ctx, query, topN)
	if err != nil {
		return FailureList{}, err
	}
	defer v.close()
	out := FailureList{ByCategory: map[string]int{}, Note: Warning, Problems: v.firstProblems()}
	parts := map[*notes.Note]grimoire.Failure{}
	for _, n := range v.sorted {
		if n.Type == notes.Failures && !slices.Contains(n.Tags, lesson.Withdrawn) {
			f := partsOf(n)
			parts[n.Note] = f
			if !slices.Contains(known, f.Category) {
				f.Category = "other"
			}
			out.ByCategory[f.Category]++
		}
	}
	rank := func(n placed) int {
		if at := slices.Index(grimoire.Severities, parts[n.Note].Severity); at >= 0 {
			return at
		}
		return len(grimoire.Severities)
	}
	slices.SortStableFunc(v.sorted, func(a, b placed) int { return rank(a) - rank(b) })
	found := v.rankNotes(func(n placed) bool {
		f, is := parts[n.Note]
		return is && (category == allCategories || f.Category == category)
	})
	out.Total, out.NothingClose = v.matched, v.nothingClose
	return fitReply(len(found), func(items, text int) FailureList {
		out.Failures = []Failure{}
		for _, n := range found[:items] {
			f := parts[n.Note]
			out.Failures = append(out.Failures, Failure{
				ID: shownName(cmp.Or(f.ID, n.ID)), Date: formatDay(n.UpdatedAt), Agent: untrusted.Label(n.Agent, notes.MaxAgent),
				Category: untrusted.Label(f.Category, notes.MaxTag), Severity: f.Severity, Status: untrusted.Label(f.Status, notes.MaxTag),
				Title: untrusted.Label(f.Title, text), Lesson: untrusted.Shown(f.Lesson, text), Rule: untrusted.Shown(f.Rule, text),
				Suspicious: n.Suspicious() || untrusted.Suspicious(f.ID+"\n"+f.Category+"\n"+f.Status), Source: v.sourceOf(n),
			})
		}
		return out
	}), nil
}

// partsOf returns the parts of a failure. A note of ours has category, severity and outcome among the tags; of
// several marks the worst counts.
func partsOf(n placed) grimoire.Failure {
	if n.failure != nil {
		return *n.failure
	}
	title, _, more := strings.Cut(n.Text, "\n")
	f := grimoire.Failure{Title: title}
	if more {
		f.Lesson = n.Text
	}
	for _, tag := range n.Tags {
		switch upper := strings.ToUpper(tag); {
		case slices.Contains(lesson.Categories(), upper):
			f.Category = cmp.Or(f.Category, upper)
		case tag == lesson.Resolved:
			f.Status = tag
		default:
			mark := grimoire.SeverityIn(tag)
			isWorse := mark != "" && slices.Index(grimoire.Severities, mark) < slices.Index(grimoire.Severities, f.Severity)
			if f.Severity == "" || isWorse {
				f.Severity = mark
			}
		}
	}
	return f
}
