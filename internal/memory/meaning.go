package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

const (
	// asMeant is how much likeness counts beside words, and leastLike how much of it makes a
	// result of which no word fits.
	asMeant, leastLike = 4, 0.5
	// candidates is how many results by words are compared by meaning too.
	candidates = 200
	// meaningTimeout bounds the wait for the servers: hosts give up on a call after a minute. The
	// vectors that came until then are kept for the next one.
	meaningTimeout = 25 * time.Second
	// byServer begins the source of a note that only a server has.
	byServer = "qdrant:"
)

// byMeaning ranks results by words and meaning; hits are those by words.
func (r *reading) byMeaning(ctx context.Context, m Meaning, query string, hits []recall.Hit, keep func(placed) bool) (results []Found, err error) {
	names, list := []string{}, []notes.Note{}
	for n := range r.all(keep) {
		names, list = append(names, n.name()), append(list, *n.Note)
		list[len(list)-1].Text = untrusted.Shown(n.Text, notes.MaxText)
	}
	ctx, cancel := context.WithTimeout(ctx, meaningTimeout)
	defer cancel()
	known, others, err := m.Nearest(ctx, r.p, notes.AppOf(projectName(r.p, r.set)), query, list)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]recall.Hit, len(hits))
	for _, h := range hits {
		byName[h.Key] = h
	}
	likeness := make(map[string]float64, len(known))
	for i, cosine := range known {
		name := names[i]
		likeness[name] = cosine
		if _, found := byName[name]; !found && cosine >= leastLike {
			byName[name] = recall.Hit{Key: name}
		}
	}
	for name, h := range byName {
		h.Score += asMeant * max(0, likeness[name])
		f := r.describe(r.note(name), h)
		f.Weak = f.Weak && likeness[name] < leastLike
		results = append(results, f)
	}
	for _, o := range others {
		if o.Cosine >= leastLike && keep(placed{Note: &o.Note}) && r.set.Get(o.Key()) == nil {
			results = append(results, Found{ID: o.ID, Type: o.Type, Agent: o.Agent, Text: untrusted.Shown(o.Text, maxShownText), Tags: shownAll(o.Tags), Date: date(o.CreatedAt),
				Score: round(asMeant * o.Cosine), Suspicious: o.Suspicious(), Source: byServer + string(o.Type)})
		}
	}
	slices.SortFunc(results, func(a, b Found) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return results, nil
}
