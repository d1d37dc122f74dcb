package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
)

// view is the notes of a project while one call reads them.
type view struct {
	book     *Book
	close    func()
	kit      grimoire.Content
	all      []placed // the newest first
	problems []Problem
	query    string
	count    int // how many are wanted
	total    int // how many there were
}

// Limits of the lists of notes.
const (
	defaultCount = 10
	maxCount     = 50
)

// view reads the notes for a call, which closes it.
func (b *Book) view(ctx context.Context, query string, count int) (*view, error) {
	v := &view{book: b, query: strings.TrimSpace(query), count: count}
	switch {
	case count == 0:
		v.count = defaultCount
	case count < 1 || count > maxCount:
		return nil, fault.New(fault.InvalidArgument, "%d notes are wanted; it can be from 1 to %d", count, maxCount).WithHint("leave it out for %d", defaultCount)
	}
	if len(query) > maxQuery {
		return nil, tooLong(query)
	}
	var err error
	if v.close, err = b.reading(ctx); err != nil {
		return nil, err
	}
	s := b.notes
	if v.query != "" {
		b.indexed()
	}
	v.kit, v.problems = s.cabinet.content, b.problems()
	v.problems = v.problems[:min(len(v.problems), maxProblems)]
	holds := b.chooser("", "")
	for n := range s.all {
		if holds(n) {
			v.all = append(v.all, n)
		}
	}
	slices.SortStableFunc(v.all, func(a, b placed) int {
		c := cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt.Time), cmp.Compare(side(a.line == nil), side(b.line == nil)))
		if c != 0 || a.line == nil {
			return c
		}
		return newest(*a.Note, *b.Note)
	})
	return v, nil
}

// ranked returns those notes that are wanted, as many as are: the newest first, or those that fit
// the query, the best first. It counts all in total.
func (v *view) ranked(wanted func(placed) bool) (out []placed) {
	byKey := map[string]placed{}
	for _, n := range v.all {
		if wanted(n) {
			out = append(out, n)
			byKey[n.name] = n
		}
	}
	if v.total = len(out); v.query != "" {
		out = nil
		for _, h := range v.book.notes.index.Search(v.query, v.count, func(key string) bool { return byKey[key].Note != nil }) {
			out = append(out, byKey[h.Key])
		}
	}
	return out[:min(len(out), v.count)]
}

// maxReply is how many bytes the JSON of a reply may have.
const maxReply = 14_000

// fit returns a reply with as many items and as much of their texts as it can hold; form makes it
// of numbers of them.
func fit[T any](items int, form func(items, text int) T) (out T) {
	for _, most := range []struct{ items, text int }{{maxCount, maxShownText}, {maxCount, 300}, {maxCount, 200}, {maxCount, 120}, {40, 120}, {30, 120}, {20, 120}, {10, 120}, {3, 120}} {
		out = form(min(items, most.items), most.text)
		if data, err := json.Marshal(out); err != nil || len(data) <= maxReply {
			break
		}
	}
	return out
}
