package memory

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// The outcomes of remembering a note.
const (
	Created   = "created"
	Unchanged = "unchanged"
	// Updated: the tags or the expiry of the note are new; tags replace those it had.
	Updated = "updated"
	// Restored: the note had been deleted.
	Restored = "restored"
)

// Remembered is the result of remembering a note.
type Remembered struct {
	Status string `json:"status"`
	ID     string `json:"id"`
	// File is that of the note, relative to the project.
	File string `json:"file"`
	// Similar are notes that say nearly the same.
	Similar []Similar `json:"similar,omitempty"`
}

// Similar is a note that says nearly the same as another.
type Similar struct {
	ID    string  `json:"id"`
	Type  Type    `json:"type"`
	Agent string  `json:"agent"`
	Text  string  `json:"text"`
	Score float64 `json:"score"`
}

// Remember keeps a note. The same text of the same agent and type is one note, however often it
// is remembered.
func (b *Book) Remember(ctx context.Context, d Draft) (Remembered, error) {
	if err := b.allowed(); err != nil {
		return Remembered{}, err
	}
	d, err := d.checked()
	if err != nil {
		return Remembered{}, err
	}
	if err := b.m.pace.take(b.m.Now()); err != nil {
		return Remembered{}, err
	}
	var out Remembered
	var similar <-chan []Similar
	err = b.change(ctx, func() error {
		if out, err = b.remember(d); err == nil && out.Status != Unchanged {
			similar = similarMeanwhile(b, Key{d.Type, out.ID}, d.Text)
		}
		return err
	})
	if similar != nil {
		out.Similar = <-similar
	}
	return out, err
}

// remember takes a note in. The caller holds the locks.
func (b *Book) remember(d Draft) (Remembered, error) {
	s := b.notes
	n := &Note{
		V: format, Type: d.Type, Agent: d.Agent, Text: d.Text, Tags: d.Tags, Project: b.projectName(),
		By: d.By, Session: d.Session, Finding: d.Finding, ExpiresAt: at(d.ExpiresAt),
	}
	if d.ExpiresAt.IsZero() {
		n.ExpiresAt = Time{}
	}
	known := s.place(n)
	out := Remembered{Status: Created, ID: n.ID}
	now := b.m.Now()
	var older *line
	if known != nil {
		older = known.note
		out.Status = known.merge(n, now)
		out.ID = n.ID
	} else {
		n.CreatedAt, n.UpdatedAt = at(now), at(now)
		if !d.CreatedAt.IsZero() && d.CreatedAt.Before(now) {
			n.CreatedAt, n.UpdatedAt = at(d.CreatedAt), at(d.CreatedAt)
		}
	}
	if n.Tags == nil {
		n.Tags = []string{}
	}
	if out.Status == Unchanged {
		out.File = b.own() + "/" + older.part.name
		return out, nil
	}
	if known == nil && len(s.entries) >= MaxNotes {
		return out, fault.New(fault.NotAllowed, "the project has %d notes, and no room for more", len(s.entries)).
			WithHint("the person can remove those that are expired or deleted: bmad-mcp memory gc --apply")
	}
	name, err := s.put(n.Type, n, older)
	out.File = b.own() + "/" + name
	return out, err
}

// place gives a new note its id, and returns the entry that has it already, if there is one.
func (s *notes) place(n *Note) *entry {
	if e := s.saying(n); e != nil {
		n.ID = e.note.key.ID
		return e
	}
	n.ID = idOf(n.Project, n.Agent, n.Text)
	e := s.entries[n.Key()]
	if e == nil || e.note == nil {
		return e // unknown, or deleted and its text removed since
	}
	n.ID = ownID(n.Project, n.Agent, n.Text)
	return s.entries[n.Key()]
}

// merge completes a note from what is stored under its key, and returns what the write means.
func (e *entry) merge(n *Note, now time.Time) string {
	stamp := e.after(now)
	if e.note == nil {
		n.CreatedAt, n.UpdatedAt = stamp, stamp
		return Restored
	}
	old := e.note.note
	n.CreatedAt, n.UpdatedAt, n.Project = old.CreatedAt, stamp, old.Project
	if n.Tags == nil {
		n.Tags = old.Tags
	}
	if n.ExpiresAt.IsZero() {
		n.ExpiresAt = old.ExpiresAt
	}
	switch {
	case e.deleted():
		return Restored
	case sameTags(n.Tags, old.Tags) && n.ExpiresAt.Equal(old.ExpiresAt.Time) && (n.Session == "" || n.Session == old.Session && n.Finding == old.Finding):
		return Unchanged
	}
	if n.Session == "" {
		n.By, n.Session, n.Finding = old.By, old.Session, old.Finding
	}
	return Updated
}

func sameTags(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// projectName is the name that the ids of the project's notes are made of.
func (b *Book) projectName() string {
	if name := b.notes.project(); name != "" {
		return name
	}
	return cmp.Or(b.described(), filepath.Base(b.p.Dir.Path()))
}
