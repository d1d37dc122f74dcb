package memory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// reading is the notes of a project while one call reads them.
type reading struct {
	*Book
	now   time.Time
	close func()
	// keeps is true for a write: a look keeps no index.
	keeps bool
}

// holdNotes keeps our notes as the files have them until the reading is closed.
func (b *Book) holdNotes(ctx context.Context) (*reading, error) {
	if err := b.Usable(); err != nil {
		return nil, err
	}
	release, err := b.notes.Hold(ctx)
	if err != nil {
		return nil, err
	}
	return &reading{Book: b, now: b.m.Now(), close: release}, nil
}

// readAll is holdNotes with the memory files of other kits as well, of which it reads the changed ones.
func (b *Book) readAll(ctx context.Context) (*reading, error) {
	r, err := b.holdNotes(ctx)
	if err != nil {
		return nil, err
	}
	changed, err := b.files.refreshFiles(ctx, b.p.Dir, r.now, grimoire.Sources)
	if err != nil {
		r.close()
		return nil, err
	}
	if !changed {
		return r, nil
	}
	now := b.files.placeEntries()
	for _, list := range []map[string]placed{b.foreign, now} {
		for name := range list {
			if is, was := now[name], b.foreign[name]; is.Note == nil || was.Note == nil || !slices.Equal(is.Tags, was.Tags) {
				b.index.markChanged(name)
			}
		}
	}
	b.foreign = now
	return r, nil
}

// allProblems lists the unusable parts, in the language of the project.
func (r *reading) allProblems() []notes.Problem {
	out := r.notes.Problems()
	for _, why := range r.index.problems {
		out = append(out, notes.Problem{Path: r.notes.Path, Why: why})
	}
	return notes.Spoken(r.p.Language(""), append(out, r.files.problems...))
}

// firstProblems returns the first of the problems, which go with a reply.
func (r *reading) firstProblems() []notes.Problem {
	all := r.allProblems()
	return all[:min(len(all), maxProblems)]
}

// sourceOf returns the place of a note, relative to the project.
func (r *reading) sourceOf(p placed) string {
	if p.entry == nil {
		return p.from
	}
	file, line := p.entry.Place()
	return grimoire.Place(r.notes.File(file), line)
}

// currentFilter returns a filter for notes of a type and an agent, by any of the agent's names, that hold now;
// a zero argument keeps all.
func (r *reading) currentFilter(kind notes.Type, agent string) func(placed) bool {
	names, _ := r.files.content.Aliases(agent)
	ofAgent := func(n placed) bool {
		return agent == "" || n.Agent == agent || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, n.Agent) })
	}
	return func(n placed) bool {
		return n.Note != nil && (kind == "" || n.Type == kind) && !n.Expired(r.now) && ofAgent(n)
	}
}

// view is the notes of a project as one call lists them.
type view struct {
	*reading
	sorted  []placed // the newest first
	query   string
	count   int // how many are wanted
	matched int // how many there were
	// nothingClose is true if none of them fits the query.
	nothingClose bool
}

// Limits of the lists of notes.
const (
	defaultCount = 10
	maxCount     = 50
	maxQuery     = 1000 // in bytes
	// maxShownText is how much of a note is shown, in bytes, maxProblems how many problems go with a reply.
	maxShownText = 600
	maxProblems  = 5
)

// tooLong returns the error for a query of more bytes than there may be at most.
func tooLong(query string, most int) error {
	return fault.New(fault.InvalidArgument, "query has %d bytes; at most %d are looked for", len(query), most).WithHint("say in a few words what you look for")
}

// newView reads notes for a call, which closes the view.
func (b *Book) newView(ctx context.Context, query string, count int) (*view, error) {
	v := &view{query: strings.TrimSpace(query), count: count}
	switch {
	case count == 0:
		v.count = defaultCount
	case count < 1 || count > maxCount:
		return nil, fault.New(fault.InvalidArgument, "%d notes are wanted; it can be from 1 to %d", count, maxCount).WithHint("leave it out for %d", defaultCount)
	}
	if len(query) > maxQuery {
		return nil, tooLong(query, maxQuery)
	}
	r, err := b.readAll(ctx)
	if err != nil {
		return nil, err
	}
	v.reading, v.sorted = r, slices.SortedFunc(r.activeNotes(r.currentFilter("", "")), placed.compare)
	return v, nil
}

// rankNotes returns the wanted notes, as many as the view shows: the newest first, or the ones close to the
// query, the best first. It counts all in matched.
func (v *view) rankNotes(wanted func(placed) bool) (out []placed) {
	byKey := map[string]placed{}
	for _, n := range v.sorted {
		if wanted(n) {
			out = append(out, n)
			byKey[n.indexKey()] = n
		}
	}
	if v.matched = len(out); v.query != "" {
		out = nil
		hits := v.updateIndex().Search(v.query, v.count, func(key string) bool { return byKey[key].Note != nil })
		all := make([]ranked, len(hits))
		for i, h := range hits {
			all[i] = ranked{Note: byKey[h.Key].Note, coverage: h.Coverage, weak: h.Weak()}
		}
		for _, n := range succession(v.query, all) {
			if !n.weak {
				out = append(out, byKey[hits[n.at].Key])
			}
		}
		v.nothingClose = len(out) == 0
	}
	return out[:min(len(out), v.count)]
}

// maxReply is how many bytes the JSON of a reply may have.
const maxReply = 14_000

// sizes are how many items a reply has, and how much of their texts; the first fitting size counts.
var sizes = []struct{ items, text int }{
	{maxCount, maxShownText}, {maxCount, 300}, {maxCount, 200}, {maxCount, 120}, {40, 120}, {30, 120}, {20, 120}, {10, 120}, {3, 120},
}

// fitReply returns a reply with as many items and as much of their texts as it can hold; form makes it
// of numbers of them.
func fitReply[T any](items int, form func(items, text int) T) (out T) {
	for _, most := range sizes {
		out = form(min(items, most.items), most.text)
		if data, err := json.Marshal(out); err != nil || len(data) <= maxReply {
			break
		}
	}
	return out
}

// updateIndex returns the index with all notes as they are.
func (r *reading) updateIndex() *recall.Index {
	x := &r.index
	if words := x.resetIfStale(r.p.Dir, r.notes.File(LexiconFile)); words != nil {
		r.loadIndex(words)
	}
	for _, key := range r.set.Changed() {
		x.markChanged(nameOf(key))
	}
	for name := range x.due {
		if n := r.placedNote(name); n.Note == nil {
			x.Drop(name)
		} else {
			x.Put(docOf(n))
		}
	}
	x.fresh += len(x.due)
	clear(x.due)
	if r.keeps && r.m.Derived != nil && x.fresh > max(leastFresh, x.Len()/freshPart) {
		x.fresh = 0
		if err := r.m.Derived.KeepDerived(r.indexName(), x.Pack()); err != nil {
			r.m.Log.Info("the index of the notes is not kept, so that the next program starts over", "error", err)
		}
	}
	return x.Index
}

// loadIndex takes in all notes, unchanged ones from a saved index.
func (r *reading) loadIndex(words *recall.Lexicon) {
	r.set.Changed() // all of them are taken in
	docs := make([]recall.Doc, 0, r.set.Len()+len(r.foreign))
	for e := range r.set.Entries() {
		if n := placedAt(e); n.Note != nil {
			docs = append(docs, docOf(n))
		}
	}
	for _, n := range r.foreign {
		docs = append(docs, docOf(n))
	}
	var data []byte
	if r.m.Derived != nil && len(docs) > leastFresh {
		data = r.m.Derived.Derived(r.indexName())
	}
	r.index.Index, r.index.fresh = recall.Load(words, data, docs)
}

func docOf(n placed) recall.Doc {
	return recall.Doc{Key: n.indexKey(), Text: n.Text, Extra: n.Tags, Time: n.UpdatedAt.Time.Unix()}
}

// indexName is the name of the kept index.
func (b *Book) indexName() string { return "recall\n" + b.p.Dir.Join(b.notes.Path) }

// dropIndex removes the saved index, because it has words of purged texts.
func (b *Book) dropIndex() {
	if b.m.Derived == nil {
		return
	}
	if err := b.m.Derived.DropDerived(b.indexName()); err != nil {
		b.m.Log.Warn("the kept index of the notes may have words of a text that was removed", "error", err)
	}
}
