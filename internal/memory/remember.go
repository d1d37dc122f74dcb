package memory

import (
	"context"
	"log/slog"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// Remembered is the result of remembering a note.
type Remembered struct {
	Status string `json:"status"`
	ID     string `json:"id"`
	// File is the file of the note, relative to the project.
	File string `json:"file"`
	// Similar are notes with nearly the same text.
	Similar []Similar `json:"similar,omitempty"`
}

// Similar is a note with nearly the same text as another.
type Similar struct {
	ID    string     `json:"id"`
	Type  notes.Type `json:"type"`
	Agent string     `json:"agent"`
	Text  string     `json:"text"`
	Score float64    `json:"score"`
}

// Remember keeps a note. The same text of the same agent and type is one note, however often it
// is remembered.
func (b *Book) Remember(ctx context.Context, d notes.Note) (out Remembered, err error) {
	if err := b.Usable(); err != nil {
		return out, err
	}
	if d, err = d.Checked(); err != nil {
		return out, err
	}
	if err := b.m.pace.countWrite(b.m.Now()); err != nil {
		return out, err
	}
	var similar chan []Similar
	err = b.notes.Change(ctx, func() error {
		if out, err = b.keepNote(d); err == nil && out.Status != notes.Unchanged {
			similar = make(chan []Similar, 1)
			r := &reading{Book: b, now: b.m.Now(), keeps: true}
			go r.lookForSimilar(b.m.Log, notes.Key{Type: d.Type, ID: out.ID}, d.Text, similar)
		}
		return err
	})
	if similar != nil {
		out.Similar = <-similar
	}
	return out, err
}

// lookForSimilar looks for similar notes while the disk writes the new one. A fault in it costs the hint, not
// the note.
func (r *reading) lookForSimilar(log *slog.Logger, key notes.Key, text string, found chan<- []Similar) {
	defer close(found)
	defer func() {
		if cause := recover(); cause != nil {
			log.Error("similar notes were not looked for", "note", key.ID, "panic", cause)
		}
	}()
	r.notes.Peek(func() { found <- r.findSimilar(key, text) })
}

const (
	// maxBuild is how many notes a write takes into a new index, for the hint and for the searches after it.
	maxBuild = 20_000
	// Similar notes have at least this close a spelling; there are at most so many.
	leastSimilar = 0.85
	maxSimilar   = 3
)

// findSimilar lists notes with nearly the same text.
func (r *reading) findSimilar(key notes.Key, text string) (out []Similar) {
	if r.index.Index == nil && r.set.Len() > maxBuild {
		return nil
	}
	keep, own := r.currentFilter("", ""), nameOf(key)
	for _, h := range r.updateIndex().Similar(text, maxSimilar, leastSimilar, func(name string) bool {
		return name != own && keep(r.placedNote(name))
	}) {
		other := r.placedNote(h.Key)
		out = append(out, Similar{ID: other.ID, Type: other.Type, Agent: other.Agent, Text: untrusted.Shown(other.Text, maxShownText/2), Score: roundScore(h.Cosine)})
	}
	return out
}

// keepNote takes in a checked note.
func (b *Book) keepNote(n notes.Note) (Remembered, error) {
	outcome, key, file, err := b.notes.Keep(n, projectName(b.p, b.set), b.m.Now())
	return Remembered{Status: outcome, ID: key.ID, File: b.notes.File(file)}, err
}

// Forget deletes a note for by, so that a merge does not bring it back. The text stays in the file; remembering
// it again brings the note back.
func (b *Book) Forget(ctx context.Context, kind notes.Type, ref, by string) error {
	return b.changeNote(ctx, kind, ref, func(e *notes.Entry) error { return b.notes.Forget(e, by, b.m.Now()) })
}

// Purge deletes a note and removes the text from the files. The history of git keeps it.
func (b *Book) Purge(ctx context.Context, kind notes.Type, ref, by string) error {
	defer b.dropIndex()
	return b.changeNote(ctx, kind, ref, func(e *notes.Entry) error { return b.notes.Purge(e, by, b.m.Now()) })
}

// changeNote runs a plan on the note of an id.
func (b *Book) changeNote(ctx context.Context, kind notes.Type, ref string, plan func(*notes.Entry) error) error {
	if err := b.Usable(); err != nil {
		return err
	}
	return b.notes.ChangeKnown(ctx, func() error {
		e, err := b.notes.Find(kind, ref)
		if err != nil {
			return err
		}
		return plan(e)
	})
}
