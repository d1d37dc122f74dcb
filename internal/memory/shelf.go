package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

// kept has the notes of a project as they were read last, for all who open it. Who holds the notes holds it.
type kept struct {
	set *notes.Set
	// files are the memory files of other kits, foreign their notes by their keys in the index.
	files   cabinet
	foreign map[string]placed
	// runs are the files about runs of other kits.
	runs  cabinet
	index index
}

// shelf is an open project, with the notes that were read of it.
type shelf struct {
	p     *project.Project
	notes *notes.Folder
	*kept
}

// reading is the notes of a project while one call reads them.
type reading struct {
	shelf
	now   time.Time
	close func()
}

// note returns the note of a key in the index; it is empty if the note is not found.
func (k *kept) note(name string) placed {
	kind, id, _ := strings.Cut(name, "/")
	if e := k.set.Get(notes.Key{Type: notes.Type(kind), ID: id}); e != nil {
		return placedAt(e)
	}
	return k.foreign[name]
}

// all yields the notes that are not deleted, those of other programs last.
func (k *kept) all(yield func(placed) bool) {
	for e := range k.set.Entries() {
		if p := placedAt(e); p.Note != nil && !yield(p) {
			return
		}
	}
	for _, f := range slices.Backward(k.files.notes) { // later lines are newer
		if !yield(f) {
			return
		}
	}
}

// updateIndex returns the index with all notes as they are.
func (s shelf) updateIndex() *recall.Index {
	x := &s.index
	if x.begin(s.p.Dir, s.notes.File(LexiconFile)) {
		for n := range s.all {
			x.mark(n.name())
		}
	}
	for _, key := range s.set.Changed() {
		x.mark(nameOf(key))
	}
	for name := range x.due {
		if n := s.note(name); n.Note == nil {
			x.Drop(name)
		} else {
			x.Put(recall.Doc{Key: name, Text: n.Text, Extra: n.Tags, Time: n.UpdatedAt.Unix()})
		}
	}
	clear(x.due)
	return x.Index
}

// refresh reads the memory files of other kits that have changed.
func (r *reading) refresh(ctx context.Context) error {
	changed, err := r.files.look(ctx, r.p.Dir, r.now, grimoire.Sources)
	if err != nil || !changed {
		return err
	}
	now := r.files.take()
	for _, list := range []map[string]placed{r.foreign, now} {
		for name := range list {
			if is, was := now[name], r.foreign[name]; is.Note == nil || was.Note == nil || !slices.Equal(is.Tags, was.Tags) {
				r.index.mark(name)
			}
		}
	}
	r.foreign = now
	return nil
}

// problems lists the parts that cannot be used, in the language of the project.
func (r *reading) problems() []notes.Problem {
	out := r.notes.Problems()
	for _, why := range r.index.problems {
		out = append(out, notes.Problem{Path: r.notes.Path, Why: why})
	}
	return notes.Spoken(r.p.Language(""), append(out, r.files.problems...))
}

// source returns the place of a note, relative to the project.
func (r *reading) source(p placed) string {
	if p.entry == nil {
		return p.from
	}
	file, line := p.entry.Place()
	return grimoire.Place(r.notes.File(file), line)
}

// chooser returns a filter that keeps the notes of a type and an agent, by its names, that hold now; a zero
// argument keeps all.
func (r *reading) chooser(kind notes.Type, agent string) func(placed) bool {
	names, _ := r.files.content.Aliases(agent)
	ofAgent := func(n placed) bool {
		return agent == "" || n.Agent == agent || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, n.Agent) })
	}
	return func(n placed) bool {
		return n.Note != nil && (kind == "" || n.Type == kind) && !n.Expired(r.now) && ofAgent(n)
	}
}
