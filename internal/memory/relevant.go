package memory

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// Relevant returns notes for the briefing of a stage: first the ones written or approved by a person, as far as
// their lines say so, and of the same kind the best first. Notes that plainly address the model are not among
// them, whatever they are about, nor failures proved not to be any, nor decisions that do not hold any more.
func (m *Memory) Relevant(ctx context.Context, p *project.Project, q lesson.Question) ([]lesson.Note, error) {
	if p.Config.Memory == config.MemoryOff || strings.TrimSpace(q.Text) == "" {
		return nil, nil
	}
	b := m.Of(p)
	r, err := b.readAll(ctx)
	if err != nil {
		return nil, err
	}
	defer r.close()
	holds := r.currentFilter("", "")
	fits := func(n placed) bool {
		isOwn := n.Session != "" && n.Session == q.Session
		return holds(n) && slices.Contains(q.Types, string(n.Type)) && !isOwn &&
			!slices.Contains(n.Tags, lesson.Withdrawn) && !n.Suspicious()
	}
	some := false
	for range r.activeNotes(fits) {
		some = true
		break
	}
	if !some {
		return nil, nil // without the index, which takes the whole lexicon: most projects are new
	}
	var out []lesson.Note
	size := len("[]")
	var written, others []placed
	var found []ranked
	hits := r.updateIndex().Relevant(q.Text, 2*lesson.MaxNotes, r.nameFilter(fits))
	belong := len(hits)
	hits = append(hits, r.updateIndex().Search(q.Text, maxCompared-belong, r.nameFilter(fits))...) // what may have replaced one
	for _, h := range hits {
		found = append(found, ranked{Note: r.placedNote(h.Key).Note})
	}
	for _, f := range succession("", found) {
		if n := r.placedNote(hits[f.at].Key); f.past || f.at >= belong {
			continue
		} else if n.FromPerson() {
			written = append(written, n)
		} else {
			others = append(others, n)
		}
	}
	for _, n := range append(written, others...) {
		note := lesson.Note{
			ID: n.ID, Type: string(n.Type), Agent: untrusted.Label(n.Agent, notes.MaxAgent), By: untrusted.Label(n.By, notes.MaxAgent),
			Text: lesson.Quote(untrusted.Shown(n.Text, lesson.MaxText-len("“”"))), Resolved: slices.Contains(n.Tags, lesson.Resolved),
			Source: r.sourceOf(n), Date: formatDay(n.UpdatedAt),
		}
		data, err := json.Marshal(note)
		if err != nil {
			return nil, err
		}
		if size+len(data)+1 > lesson.MaxBytes {
			continue
		}
		size += len(data) + 1
		if out = append(out, note); len(out) == lesson.MaxNotes {
			break
		}
	}
	return out, nil
}

// Learn keeps the lessons of a change of a session, if the project keeps notes. A finding of a session is one
// note, however often it is reported; the outcome is in the tags.
func (m *Memory) Learn(ctx context.Context, p *project.Project, lessons []lesson.Lesson) error {
	b := m.Of(p)
	switch p.Config.Memory {
	case config.MemoryOff:
		return nil
	case config.MemoryAuto:
		if !b.notes.Exists() {
			return nil
		}
	}
	if len(lessons) == 0 {
		return nil
	}
	return b.notes.ChangeKnown(ctx, func() error {
		for _, l := range lessons {
			d, wanted, err := b.noteOf(l)
			if err != nil {
				m.Log.Warn("a lesson is not kept", "session", l.Session, "finding", l.Finding, "error", err)
			}
			if !wanted || err != nil {
				continue
			}
			if _, err := b.keepNote(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// noteOf returns a lesson as a note; wanted is false if it is known already.
func (b *Book) noteOf(l lesson.Lesson) (d notes.Note, wanted bool, err error) {
	d = notes.Note{
		Type: notes.Type(l.Type), Agent: l.Agent, Text: untrusted.Mask(l.Text), Tags: l.Tags,
		By: notes.ByRun, Session: l.Session, Finding: l.Finding,
	}
	if e := b.notes.Known(l.Session, l.Finding); e != nil {
		if e.Deleted() {
			return d, false, nil
		}
		old := e.Last()
		tags := slices.DeleteFunc(slices.Clone(old.Tags), func(tag string) bool { return tag == lesson.Resolved || tag == lesson.Withdrawn })
		if l.Text == "" {
			tags = append(tags, l.Tags...)
		}
		d.Type, d.Agent, d.Text, d.Tags = old.Type, old.Agent, old.Text, tags
		return d, !slices.Equal(tags, old.Tags), nil
	}
	if l.Text == "" {
		return d, false, nil
	}
	if d, err = d.Checked(); err != nil {
		return d, false, err
	}
	same := b.notes.Saying(d.Type, d.Agent, d.Text)
	return d, same == nil || !same.Deleted(), nil // the person has deleted it
}
