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
	// Updated: the tags or the expiry of the note are new; tags replace the earlier ones.
	Updated = "updated"
	// Restored: the note had been deleted.
	Restored = "restored"
)

// Keep takes in a checked note. The tags replace the ones of an existing note, unless they are nil. project is
// the name for a new id. Keep returns the outcome, the note's key, and the name of the file.
func (s *Set) Keep(n Note, project string, now time.Time) (outcome string, key Key, file string, err error) {
	n.V, n.Project, n.ExpiresAt = format, project, At(n.ExpiresAt.Time)
	known := s.giveID(&n)
	var older *line
	if known == nil {
		outcome, n.CreatedAt, n.UpdatedAt = Created, At(now), At(now)
	} else {
		older, outcome = known.note, known.mergeNote(&n, now)
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
	file, err = s.putLine(n.Type, n, older)
	return outcome, n.Key(), file, err
}

// giveID gives a new note an id, and returns the entry of the same text, if there is one.
func (s *Set) giveID(n *Note) *Entry {
	if e := s.Saying(n.Type, n.Agent, n.Text); e != nil {
		n.ID = e.note.key.ID
		return e
	}
	n.ID = idOf(n.Project, n.Agent, n.Text)
	e := s.entries[n.Key()]
	if e == nil || e.note == nil {
		return e // unknown, or deleted and purged since
	}
	n.ID = ownID(n.Project, n.Agent, n.Text)
	return s.entries[n.Key()]
}

// mergeNote completes a note from the entry of the same key, and returns the meaning of the write.
func (e *Entry) mergeNote(n *Note, now time.Time) (outcome string) {
	stamp := e.stampAfter(now)
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

// Forget deletes a note for by, so that a merge does not bring it back. The text stays in the file.
func (s *Set) Forget(e *Entry, by string, now time.Time) error {
	if e.Note() == nil {
		return fault.New(fault.Conflict, "the note is deleted already").WithHint("add its text again to bring it back")
	}
	_, err := s.putLine(e.Key().Type, e.tombstoneFor(by, now), e.tomb)
	return err
}

// tombstoneFor returns the line of a note's deletion.
func (e *Entry) tombstoneFor(by string, now time.Time) tombstone {
	key := e.Key()
	return tombstone{V: format, ID: key.ID, Type: key.Type, DeletedAt: e.stampAfter(now), By: visible.Cut(visible.Line(by), MaxName, "…")}
}

// Purge deletes a note and removes the text from the files. A line without text stays, so that a merge with the
// note in the other branch does not bring it back.
func (s *Set) Purge(e *Entry, by string, now time.Time) error {
	if e.note == nil {
		return fault.New(fault.Conflict, "the text of the note was removed already").WithHint("nothing is left to purge")
	}
	dead, err := encodeLine(e.tombstoneFor(by, now), nil)
	if err != nil {
		return err
	}
	changes := map[*line][]byte{}
	for _, l := range e.lines {
		changes[l] = nil
	}
	changes[e.note] = dead
	s.replaceLines(changes)
	return nil
}
