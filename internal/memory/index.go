package memory

import (
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

// index finds the notes of a project.
type index struct {
	*recall.Index
	// lexicon is the version of the project's lexicon that it was built with.
	lexicon  durable.Version
	problems []lang.Text
	// due has the names of notes that have changed since they were taken in.
	due map[string]bool
	// fresh is how many notes were taken in or left out since the index was kept.
	fresh int
}

// mark has a note taken in anew.
func (x *index) mark(name string) {
	if x.Index != nil { // else it takes in all
		x.due[name] = true
	}
}

// begin empties the index if the project has another lexicon than before, and returns that one.
func (x *index) begin(dir *durable.Dir, lexicon string) (words *recall.Lexicon) {
	version := durable.Version{}
	if info, err := dir.Stat(lexicon); err == nil {
		version = durable.VersionOf(info)
	}
	if x.Index != nil && x.lexicon == version {
		return nil
	}
	words, problems := readLexicon(dir, lexicon)
	*x = index{lexicon: version, problems: problems, due: map[string]bool{}}
	return words
}

// Derived keeps data outside of all projects that can be made anew. What anybody else has written there, it
// does not return.
type Derived interface {
	Derived(name string) []byte
	KeepDerived(name string, data []byte) error
	DropDerived(name string) error
}

// An index is kept if it has taken in so many notes since the last time, and such a part of all: a few
// notes are taken in again as fast as an index is written.
const (
	leastFresh = 200
	freshPart  = 16
)

// updateIndex returns the index with all notes as they are.
func (r *reading) updateIndex() *recall.Index {
	x := &r.index
	if words := x.begin(r.p.Dir, r.notes.File(LexiconFile)); words != nil {
		r.loadIndex(words)
	}
	for _, key := range r.set.Changed() {
		x.mark(nameOf(key))
	}
	for name := range x.due {
		if n := r.note(name); n.Note == nil {
			x.Drop(name)
		} else {
			x.Put(docOf(n))
		}
	}
	x.fresh += len(x.due)
	clear(x.due)
	if r.m.Derived != nil && x.fresh > max(leastFresh, x.Len()/freshPart) {
		x.fresh = 0
		if err := r.m.Derived.KeepDerived(r.indexName(), x.Pack()); err != nil {
			r.m.Log.Info("the index of the notes is not kept, so that the next program makes it anew", "error", err)
		}
	}
	return x.Index
}

// loadIndex takes in all notes, of which it takes over those that a kept index has as they are.
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
	return recall.Doc{Key: n.name(), Text: n.Text, Extra: n.Tags, Time: n.UpdatedAt.Unix()}
}

// indexName is the name of the kept index.
func (b *Book) indexName() string { return "recall\n" + b.p.Dir.Join(b.notes.Path) }

// dropIndex removes the kept index, which has the words of texts that are to be gone.
func (b *Book) dropIndex() {
	if b.m.Derived == nil {
		return
	}
	if err := b.m.Derived.DropDerived(b.indexName()); err != nil {
		b.m.Log.Warn("the kept index of the notes may have words of a text that was removed", "error", err)
	}
}
