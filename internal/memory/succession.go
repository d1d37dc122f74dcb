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
	// at is the place in the list before, past is true for a note that does not hold any more.
	at    int
	past  bool
	about subject
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
func succession(query string, all []ranked) (out []*ranked) {
	isNumbered := strings.ContainsAny(query, "0123456789")
	for i := range all {
		n := &all[i]
		n.at, n.past, n.about = i, isPast(n.Note), subjectOf(n.Text)
		place := len(out)
		for at, other := range out {
			n.yieldsTo(other, isNumbered)
			if other.yieldsTo(n, isNumbered) {
				place = min(place, at)
			}
		}
		out = slices.Insert(out, place, n)
	}
	slices.SortStableFunc(out, func(a, b *ranked) int { return a.orderClass() - b.orderClass() })
	return out
}

// orderClass returns 0 for a note that holds, and more for one that comes after it.
func (n *ranked) orderClass() int {
	switch {
	case n.past:
		return 1
	case n.weak:
		return 2
	}
	return 0
}

// yieldsTo reports whether a note belongs behind a later one, and marks it as past if that replaces it.
func (n *ranked) yieldsTo(to *ranked, isNumbered bool) bool {
	isOneKind := n.Type == to.Type || isRule(n.Note) && isRule(to.Note)
	if !isOneKind || !to.UpdatedAt.Time.After(n.UpdatedAt.Time) {
		return false
	}
	replaced, similar := to.about.compareWith(n.about)
	isAsNear := to.coverage >= 0.75*n.coverage
	mayReplace := isAsNear || !isNumbered
	if replaced && mayReplace && isRule(n.Note) {
		n.past, to.weak = true, to.weak && n.weak
		return true
	}
	return isAsNear && (replaced || similar)
}

// holdingFirst returns notes in the order of succession, without a query.
func holdingFirst(list []placed) (out []placed) {
	var all []ranked
	for _, n := range list {
		all = append(all, ranked{Note: n.Note})
	}
	for _, n := range succession("", all) {
		out = append(out, list[n.at])
	}
	return out
}

// isRule reports whether a note is a rule or a fact that holds, and not an event.
func isRule(n *notes.Note) bool { return n.Type == notes.Decisions || n.Type == notes.SharedContext }

// subject is what a note speaks of: whether each word is a strong one, and whether it speaks of a change.
type subject struct {
	words   map[string]bool
	changes bool
}

func subjectOf(text string) subject {
	s := subject{words: map[string]bool{}, changes: changeWord.MatchString(text)}
	for _, u := range recall.Words.Units(text) {
		s.words[u.Name] = !u.Weak
	}
	return s
}

// compareWith reports whether a note replaces an earlier one, because it speaks of a change and has half of the
// words, or only says nearly the same.
func (n subject) compareWith(old subject) (replaced, similar bool) {
	shared, strong, all := 0, 0, 0 // words, strong ones, and all strong ones of the earlier note
	for w, isStrong := range old.words {
		_, isShared := n.words[w]
		if isShared {
			shared++
		}
		if isStrong {
			all++
		}
		if isShared && isStrong {
			strong++
		}
	}
	if strong == 0 {
		return false, false
	}
	swapsOne := len(old.words)-shared <= 1 && len(n.words)-shared <= 1
	return n.changes && 2*strong >= all, swapsOne || strong > 1 && 5*strong >= 3*all
}
