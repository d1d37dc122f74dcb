package workflow

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Checkpoint is one machine's record of a session after the machine's last change. It is kept
// outside the project and reveals the replacement of a session file by an older one.
type Checkpoint struct {
	// Entries and Revision are the number of entries and the session's revision.
	Entries  int `json:"entries"`
	Revision int `json:"revision"`
	// Head is the hash of the newest entry; "" in a record of an older program. Each entry has the hash of the
	// previous one, so no signature up to Head needs another check.
	Head string    `json:"head"`
	At   time.Time `json:"at"`
	// File is the hash of the session's stored form: a file with this hash needs no other check.
	File string `json:"file,omitempty"`
	// Members are the other machines whose entries the session rests on: the record holds as long as their keys
	// count.
	Members []Member `json:"members,omitempty"`
	// Strict is true if the policy of a stage was strict.
	Strict bool `json:"strict,omitempty"`
	// Broken is the first entry that did not count, 0 if all did, and Problem the reason.
	Broken  int    `json:"broken,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Foreign is true if the file was written with another key, or without one. The other fields
	// are then empty.
	Foreign bool `json:"-"`
}

// Checkpoint returns the record of a session just signed by this machine; ok is false if there is nothing to
// record. before is the result of the check before the change.
func (s *Session) Checkpoint(before Verification) (c Checkpoint, ok bool) {
	if len(s.History) == 0 || s.Last().Signature == "" {
		return c, false
	}
	c = Checkpoint{Entries: len(s.History), Head: s.Last().hash(), Revision: s.Revision, At: s.Last().At, Members: before.Members}
	switch {
	case !before.Sound():
		c.Broken, c.Problem = max(before.Broken, 1), before.Problem
	case len(before.Unvouched) > 0: // accepted by an adoption
		c.Broken = before.Unvouched[0].From
	}
	return c, true
}

// compareToCheckpoint compares a session with this machine's record. It returns the first entry that differs, and
// how; 0 if none does. A session may be ahead of the record, which is written later, by entries of this machine or
// another one.
func (s *Session) compareToCheckpoint(c *Checkpoint) (entry int, problem lang.Text) {
	n, on := len(s.History), c.At.UTC().Format("2006-01-02 15:04:05 MST")
	switch {
	case n < c.Entries:
		return n + 1, lang.T("this machine recorded %d entries (%s) and the file has %d: it is an older copy, or the newest were removed", c.Entries, on, n)
	case c.Head != "" && !s.contains(*c):
		return c.Entries, lang.T("entry %d, or one before it, is not what this machine recorded (%s)", c.Entries, on)
	case s.Revision < c.Revision, (n > c.Entries) != (s.Revision > c.Revision):
		return n, lang.T("its revision is %d with %d entries; this machine recorded revision %d with %d (%s)", s.Revision, n, c.Revision, c.Entries, on)
	}
	return 0, lang.Text{}
}
