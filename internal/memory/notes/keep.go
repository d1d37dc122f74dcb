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
			WithHint("the person can remove those that are expired or deleted: bmad-mcp memory gc --apply")
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
		return fault.New(fault.Conflict, "the note is deleted already").WithHint("restore brings it back")
	}
	_, err := s.put(e.Key().Type, e.bury(by, now), e.tomb)
	return err
}

// bury returns the line that deletes a note.
func (e *Entry) bury(by string, now time.Time) tombstone {
	key := e.Key()
	return tombstone{V: format, ID: key.ID, Type: key.Type, DeletedAt: e.after(now), By: visible.Cut(visible.Line(by), MaxName, "…")}
}

// Restore brings back a deleted note.
func (s *Set) Restore(e *Entry, now time.Time) error {
	switch {
	case e.Note() != nil:
		return fault.New(fault.Conflict, "the note is not deleted").WithHint("nothing has to be restored")
	case e.note == nil:
		return fault.New(fault.NotFound, "the text of the note was removed").
			WithHint("remember it again; the history of git may have its text")
	}
	n := *e.note.note
	n.UpdatedAt = e.after(now)
	_, err := s.put(n.Type, n, e.note)
	return err
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

// tombstoneAge is how long the deletion of a note is kept after its text is gone: a branch that
// is merged later could bring the note back.
const tombstoneAge = 90 * 24 * time.Hour

// Swept counts lines that a sweep removes.
type Swept struct {
	Expired    int `json:"expired"`
	Superseded int `json:"superseded"`
	// Deleted are texts of deleted notes, which can then not be restored.
	Deleted    int `json:"deleted"`
	Tombstones int `json:"tombstones"`
	// Separated are notes that had the id of another one, and get their own.
	Separated int `json:"separated"`
}

// Lines returns the number of lines that are removed.
func (c Swept) Lines() int { return c.Expired + c.Superseded + c.Deleted + c.Tombstones }

// Sweep removes lines that do not count: those that hide others, or those that do not. It adds their
// numbers to a count, and returns the names of the files that it edits.
func (s *Set) Sweep(count *Swept, hiding bool, now time.Time) (files []string, err error) {
	changes := map[*line][]byte{}
	for _, e := range s.entries {
		if !hiding {
			if err := count.separate(e, changes, now); err != nil {
				return nil, err
			}
		}
		for _, l := range e.lines {
			if _, separated := changes[l]; separated {
				continue
			}
			if of, hides := count.fate(e, l, now); of != nil && hides == hiding {
				*of++
				changes[l] = nil
			}
		}
	}
	s.replace(changes)
	for _, e := range s.edits {
		files = append(files, e.part)
	}
	return files, nil
}

// separate gives hidden notes an id of their own, and removes those that have expired.
func (c *Swept) separate(e *Entry, changes map[*line][]byte, now time.Time) error {
	for _, l := range e.hidden {
		if l.note.Expired(now) {
			c.Expired++
			changes[l] = nil
			continue
		}
		n := *l.note
		n.ID = ownID(n.Project, n.Agent, n.Text)
		encoded, err := encode(&n, l.raw)
		if err != nil {
			return err
		}
		changes[l] = encoded
		c.Separated++
	}
	return nil
}

// fate returns the count that a line belongs to, nil if it stays; hides is true if it hides other lines.
func (c *Swept) fate(e *Entry, l *line, now time.Time) (count *int, hides bool) {
	switch {
	case l == e.note && e.Deleted():
		return &c.Deleted, false
	case l == e.note && e.note.note.Expired(now):
		return &c.Expired, true
	case l == e.note:
		return nil, false
	case l != e.tomb:
		return &c.Superseded, false
	case e.note != nil && !e.Deleted():
		return &c.Superseded, false
	case e.note != nil, now.Sub(l.stamp) < tombstoneAge:
		return nil, false
	}
	return &c.Tombstones, false
}
