package memory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// view is the notes of a project as one call lists them.
type view struct {
	*reading
	kit     grimoire.Content
	sorted  []placed // the newest first
	amiss   []notes.Problem
	query   string
	count   int // how many are wanted
	matched int // how many there were
}

// Limits of the lists of notes.
const (
	defaultCount = 10
	maxCount     = 50
)

// view reads notes for a call, which closes the view.
func (b *Book) view(ctx context.Context, query string, count int) (*view, error) {
	v := &view{query: strings.TrimSpace(query), count: count}
	switch {
	case count == 0:
		v.count = defaultCount
	case count < 1 || count > maxCount:
		return nil, fault.New(fault.InvalidArgument, "%d notes are wanted; it can be from 1 to %d", count, maxCount).WithHint("leave it out for %d", defaultCount)
	}
	if len(query) > maxQuery {
		return nil, tooLong(query)
	}
	r, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	v.reading, v.kit, v.amiss = r, r.files.content, r.problems()
	v.amiss = v.amiss[:min(len(v.amiss), maxProblems)]
	holds := r.chooser("", "")
	for n := range r.all {
		if holds(n) {
			v.sorted = append(v.sorted, n)
		}
	}
	slices.SortStableFunc(v.sorted, func(a, b placed) int {
		switch c := b.UpdatedAt.Compare(a.UpdatedAt.Time); {
		case c != 0:
			return c
		case a.entry != nil && b.entry != nil:
			return newest(*a.Note, *b.Note)
		case a.entry != nil:
			return -1
		case b.entry != nil:
			return 1
		}
		return 0
	})
	return v, nil
}

// rank returns those notes that are wanted, as many as are: the newest first, or those that fit
// the query, the best first. It counts all in matched.
func (v *view) rank(wanted func(placed) bool) (out []placed) {
	byKey := map[string]placed{}
	for _, n := range v.sorted {
		if wanted(n) {
			out = append(out, n)
			byKey[n.name()] = n
		}
	}
	if v.matched = len(out); v.query != "" {
		out = nil
		for _, h := range v.updateIndex().Search(v.query, v.count, func(key string) bool { return byKey[key].Note != nil }) {
			out = append(out, byKey[h.Key])
		}
	}
	return out[:min(len(out), v.count)]
}

// maxReply is how many bytes the JSON of a reply may have.
const maxReply = 14_000

// sizes are how many items a reply has, and how much of their texts; the first that fits counts.
var sizes = []struct{ items, text int }{
	{maxCount, maxShownText}, {maxCount, 300}, {maxCount, 200}, {maxCount, 120}, {40, 120}, {30, 120}, {20, 120}, {10, 120}, {3, 120},
}

// fit returns a reply with as many items and as much of their texts as it can hold; form makes it
// of numbers of them.
func fit[T any](items int, form func(items, text int) T) (out T) {
	for _, most := range sizes {
		out = form(min(items, most.items), most.text)
		if data, err := json.Marshal(out); err != nil || len(data) <= maxReply {
			break
		}
	}
	return out
}
