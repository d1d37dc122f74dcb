package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/lesson"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// Relevant returns notes for the briefing of a stage: those first that a person has written or let
// pass, as far as their lines say so, and of the same kind the best first. Notes that plainly address
// the model are not among them, whatever they are about, nor failures that turned out not to be any.
func (m *Memory) Relevant(ctx context.Context, p *project.Project, q lesson.Question) ([]lesson.Note, error) {
	if p.Config.Memory == config.MemoryOff || strings.TrimSpace(q.Text) == "" {
		return nil, nil
	}
	b := m.Of(p)
	done, err := b.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s := b.notes
	holds := b.chooser("", "")
	fits := func(n placed) bool {
		return holds(n) && slices.Contains(q.Types, string(n.Type)) && (n.Session == "" || n.Session != q.Session) && !slices.Contains(n.Tags, lesson.Withdrawn) && !n.Suspicious()
	}
	some := false
	for n := range s.all {
		if some = fits(n); some {
			break
		}
	}
	if !some {
		return nil, nil // without the index, which takes the whole lexicon: most projects are new
	}
	b.indexed()
	keep := func(name string) bool { return fits(s.named(name)) }
	var out []lesson.Note
	size := len("[]")
	var hits []placed
	for _, h := range s.index.Relevant(q.Text, 2*lesson.MaxNotes, keep) {
		hits = append(hits, s.named(h.Key))
	}
	slices.SortStableFunc(hits, func(a, b placed) int { return cmp.Compare(side(!a.fromPerson()), side(!b.fromPerson())) })
	for _, n := range hits {
		note := lesson.Note{ID: n.ID, Type: string(n.Type), Agent: untrusted.Label(n.Agent, maxAgent), By: untrusted.Label(n.By, maxAgent), Source: b.source(n), Date: date(n.UpdatedAt),
			Text: lesson.Quote(untrusted.Shown(n.Text, lesson.MaxText-len("“”"))), Resolved: slices.Contains(n.Tags, lesson.Resolved)}
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

// Learn keeps what a change of a session teaches, where the project keeps notes. A finding of a session
// is one note, however often it is reported; what became of it is in its tags.
func (m *Memory) Learn(ctx context.Context, p *project.Project, lessons []lesson.Lesson) error {
	b := m.Of(p)
	if len(lessons) == 0 || p.Config.Memory == config.MemoryOff || p.Config.Memory == config.MemoryAuto && !b.Exists() {
		return nil
	}
	return b.changeKnown(ctx, true, func() error {
		for _, l := range lessons {
			if draft, wanted := draft(b, l); wanted {
				if _, err := b.remember(draft); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// draft is a lesson as a note; wanted is false where it is known already.
func draft(b *Book, l lesson.Lesson) (d Draft, wanted bool) {
	d = Draft{Type: Type(l.Type), Agent: l.Agent, Text: untrusted.Mask(l.Text), Tags: l.Tags, By: byRun, Session: l.Session, Finding: l.Finding}
	outcome := func(tag string) bool { return tag == lesson.Resolved || tag == lesson.Withdrawn }
	e := b.notes.known(l.Session, l.Finding)
	switch {
	case e == nil && l.Text == "", e != nil && e.deleted():
		return d, false
	case e != nil:
		old := e.note.note
		tags := slices.DeleteFunc(slices.Clone(old.Tags), outcome)
		if l.Text == "" {
			tags = append(tags, l.Tags...)
		}
		if slices.Equal(tags, old.Tags) {
			return d, false
		}
		d.Type, d.Agent, d.Text, d.Tags = old.Type, old.Agent, old.Text, tags
		return d, true
	}
	d, err := d.checked()
	if err != nil {
		b.m.Log.Warn("a lesson is not kept", "session", l.Session, "finding", l.Finding, "error", err)
		return d, false
	}
	same := b.notes.saying(&Note{Type: d.Type, Agent: d.Agent, Text: d.Text})
	return d, same == nil || !same.deleted() // the person has deleted it
}
