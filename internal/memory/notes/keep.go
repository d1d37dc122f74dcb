package notes

import (
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// The outcomes of keeping a note.
const (
	Created   = "created"
	Unchanged = "unchanged"
	// Updated: the tags or the expiry of the note are new; tags replace those it had.
	Updated = "updated"
	// Restored: the note had been deleted.
	Restored = "restored"
)

// Keep takes in a note that was checked. Its tags replace those of a note that exists, unless they are
// nil. project is the name that a new id is made of. Keep returns the outcome, the note's key, and the
// name of its file.
func (s *Set) Keep(n Note, project string, now time.Time) (outcome string, key Key, file string, err error) {
	n.V, n.Project, n.ExpiresAt = format, project, At(n.ExpiresAt.Time)
	known := s.place(&n)
	var older *line
	if known == nil {
		outcome, n.CreatedAt, n.UpdatedAt = Created, At(now), At(now)
	} else {
		older, outcome = known.note, known.merge(&n, now)
	}
	if n.Tags == nil {
		n.Tags = []string{}
	}
	switch {
	case outcome == Unchanged:
		return outcome, n.Key(), older.part.name, nil
	case known == nil && len(s.entries) >= MaxNotes:
		return outcome, n.Key(), "", fault.New(fault.NotAllowed, "the project has %d notes, and no room for more", len(s.entries)).
			WithHint("the person can remove the lines of those that have expired or were deleted, see docs/memory.md")
	}
	file, err = s.put(n.Type, n, older)
	return outcome, n.Key(), file, err
}

// place gives a new note its id, and returns the entry that has it already, if there is one.
func (s *Set) place(n *Note) *Entry {
	if e := s.Saying(n.Type, n.Agent, n.Text); e != nil {
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

// merge completes a note from the entry of its key, and returns the meaning of the write.
func (e *Entry) merge(n *Note, now time.Time) (outcome string) {
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
	if n.ExpiresAt.Time.IsZero() {
		n.ExpiresAt = old.ExpiresAt
	}
	if e.Deleted() {
		return Restored
	}
	if n.Session == "" {
		n.By, n.Session, n.Finding = old.By, old.Session, old.Finding
	}
	if sameTags(n.Tags, old.Tags) && n.ExpiresAt.Time.Equal(old.ExpiresAt.Time) && n.Session == old.Session && n.Finding == old.Finding {
		return Unchanged
	}
	return Updated
}

func sameTags(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Forget deletes a note for by, in a way that a merge does not bring it back. Its text stays in the file.
func (s *Set) Forget(e *Entry, by string, now time.Time) error {
	if e.Note() == nil {
		return fault.New(fault.Conflict, "the note is deleted already").WithHint("add its text again to bring it back")
	}
	_, err := s.put(e.Key().Type, e.bury(by, now), e.tomb)
	return err
}

// bury returns the line that deletes a note.
func (e *Entry) bury(by string, now time.Time) tombstone {
	key := e.Key()
	return tombstone{V: format, ID: key.ID, Type: key.Type, DeletedAt: e.after(now), By: visible.Cut(visible.Line(by), MaxName, "…")}
}

// Purge deletes a note and removes its text from the files. A line without text stays, so that the merge
// of a branch that has the note does not bring it back.
func (s *Set) Purge(e *Entry, by string, now time.Time) error {
	if e.note == nil {
		return fault.New(fault.Conflict, "the text of the note was removed already").WithHint("nothing is left to purge")
	}
	dead, err := encode(e.bury(by, now), nil)
	if err != nil {
		return err
	}
	changes := map[*line][]byte{}
	for _, l := range e.lines {
		changes[l] = nil
	}
	changes[e.note] = dead
	s.replace(changes)
	return nil
}
