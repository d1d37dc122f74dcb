package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

// Meaning compares texts by what they mean, with servers that the person names in the settings of
// a project.
type Meaning interface {
	// Nearest returns the likeness of a query to notes, from -1 to 1, by their place in the list,
	// and notes of other programs that are like it. app is the name of the project for servers.
	Nearest(ctx context.Context, p *project.Project, app, query string, notes []Note) (known map[int]float64, others []Like, err error)
}

// Like is a note that another program keeps on a server, with its likeness to a query.
type Like struct {
	Note
	Cosine float64
}

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

// means reports whether notes are compared by meaning too: the person has named a server for it.
func (b *Book) means() bool { return b.m.Meaning != nil && b.p.Config.MemoryEmbeddings != "" }

// byMeaning ranks results by words and meaning; hits are those by words.
func (b *Book) byMeaning(ctx context.Context, q Query, hits []recall.Hit, keep func(placed) bool) (results []Found, err error) {
	names, notes := []string{}, []Note{}
	for n := range b.notes.all {
		if keep(n) {
			names, notes = append(names, n.name), append(notes, *n.Note)
			notes[len(notes)-1].Text = untrusted.Shown(n.Text, maxText)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, meaningTimeout)
	defer cancel()
	known, others, err := b.m.Meaning.Nearest(ctx, b.p, appOf(b.projectName()), untrusted.Shown(q.Text, maxQuery), notes)
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
		f := b.found(b.notes.named(name), h)
		f.Weak = f.Weak && likeness[name] < leastLike
		results = append(results, f)
	}
	for _, o := range others {
		if o.Cosine >= leastLike && keep(placed{Note: &o.Note}) && b.notes.entries[o.Key()] == nil {
			results = append(results, Found{ID: o.ID, Type: o.Type, Agent: o.Agent, Text: untrusted.Shown(o.Text, maxShownText), Tags: shownAll(o.Tags), Date: date(o.CreatedAt),
				Score: round(asMeant * o.Cosine), Suspicious: o.Suspicious(), Source: byServer + string(o.Type)})
		}
	}
	slices.SortFunc(results, func(a, b Found) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return results, nil
}
