package memory

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// ranked is a note found by a query, with the part of the query in it.
type ranked struct {
	*notes.Note
	coverage float64
	weak     bool
}

// maxCompared is how many of the notes found are compared with each other.
const maxCompared = 20

var (
	// pastMark marks a note that does not hold any more.
	pastMark = pattern.New(`(?i)^\W*(superseded|obsolete|outdated)\b|\bsuperseded by\b|remplacée? par la décision|` +
		`\bstatus\W{1,4}(superseded|deprecated|obsolete|replaced|rejected|withdrawn)\b|已(废弃|作废|被取代|被替代)`)
	// changeWord says that something else held before.
	changeWord = pattern.New(`(?i)\b(no longer|not any ?more|instead of|replac(es|ed|ing)|supersedes?|switch(ed|ing)?|mov(ed|ing)|` +
		`migrat(e|ed|ing|ion)|chang(ed|es) (from|to)|deprecat(e|ed|es)|dropp?(ed|ing)?|abandon(ed|ing)?|revers(ed|es)|revok(ed|es)|` +
		`overrul(ed|es)|raised|lowered|renamed|gone|removed|now|désormais|remplac(e|é|ée|ent)|au lieu de|abandonn(é|ée|ons))\b|` +
		`n['’]est plus|改为|改用|改成|换成|替换|取代|替代|不再|废弃|弃用|迁移到|撤销`)
	pastTags = []string{"superseded", "deprecated", "obsolete", "outdated", "replaced", "rejected", lesson.Withdrawn}
)

// isPast reports whether a note says itself that it does not hold any more, in the text or by a tag such as
// superseded or superseded-by:ID.
func isPast(n *notes.Note) bool {
	return pastMark.MatchString(n.Text) || slices.ContainsFunc(n.Tags, func(tag string) bool {
		tag = strings.TrimPrefix(strings.ToLower(tag), "status:")
		return slices.Contains(pastTags, tag) || strings.HasPrefix(tag, "superseded-by") || strings.HasPrefix(tag, "superseded_by")
	})
}

// succession orders notes found by a query: a later note comes before an earlier one of the same subject, and notes
// that hold before those that do not, which are past. Improbable ones stay last, unless they replace a probable one.
func succession(query string, all []ranked) (order []int, past map[int]bool) {
	past = map[int]bool{}
	var said []subject
	for i, n := range all {
		past[i] = isPast(n.Note)
		if i < maxCompared {
			said = append(said, subjectOf(n.Text))
		}
	}
	later := map[int][]int{}
	for i := range said {
		for j := range said {
			old, n := all[i], &all[j]
			ofOneKind := n.Type == old.Type || isRule(n.Note) && isRule(old.Note)
			if !ofOneKind || !n.UpdatedAt.Time.After(old.UpdatedAt.Time) {
				continue
			}
			replaced, similar := said[j].compareWith(said[i])
			isAsNear := n.coverage >= 0.75*old.coverage
			mayBeAbout := isAsNear || !strings.ContainsAny(query, "0123456789")
			switch {
			case replaced && mayBeAbout && isRule(old.Note):
				past[i] = true
				n.weak = n.weak && old.weak
			case !isAsNear, !replaced && !similar:
				continue
			}
			later[i] = append(later[i], j)
		}
	}
	placed := map[int]bool{}
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		for _, j := range later[i] {
			place(j)
		}
		order = append(order, i)
	}
	for i := range all {
		place(i)
	}
	class := func(i int) int {
		switch {
		case past[i]:
			return 1
		case all[i].weak:
			return 2
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return class(a) - class(b) })
	return order, past
}

// holdingFirst returns notes in the order of succession, without a query.
func holdingFirst(list []placed) []placed {
	all, out := make([]ranked, len(list)), make([]placed, len(list))
	for i, n := range list {
		all[i].Note = n.Note
	}
	order, _ := succession("", all)
	for at, i := range order {
		out[at] = list[i]
	}
	return out
}

// isRule reports whether a note is a rule or a fact that holds, and not an event.
func isRule(n *notes.Note) bool { return n.Type == notes.Decisions || n.Type == notes.SharedContext }

// subject is what a note speaks of: whether each word is a strong one, and whether it speaks of a change.
type subject struct {
	words   map[string]bool
	strong  int
	changes bool
}

func subjectOf(text string) subject {
	s := subject{words: map[string]bool{}, changes: changeWord.MatchString(text)}
	for _, u := range recall.Words.Units(text) {
		if s.words[u.Name] = !u.Weak; !u.Weak {
			s.strong++
		}
	}
	return s
}

// compareWith reports whether a note replaces an earlier one, because it speaks of a change and has half of the
// words, or only says nearly the same.
func (n subject) compareWith(old subject) (replaced, similar bool) {
	shared, strong := 0, 0
	for w, isStrong := range old.words {
		if _, ok := n.words[w]; ok {
			shared++
			if isStrong {
				strong++
			}
		}
	}
	if strong == 0 {
		return false, false
	}
	isPart := 2*strong >= old.strong
	swapsOne := len(old.words)-shared <= 1 && len(n.words)-shared <= 1
	return n.changes && isPart, swapsOne || strong > 1 && 5*strong >= 3*old.strong
}
