package notes

import "time"

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
	s.replace(changes, nil)
	return s.edited, nil
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
