package workflow

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Checkpoint is one machine's record of a session as it last sealed it. It is kept outside
// the project and reveals a session file that was replaced by an older one, or whose seal was
// removed.
type Checkpoint struct {
	// Entries and Revision are the number of entries and the session's revision.
	Entries  int `json:"entries"`
	Revision int `json:"revision"`
	// Entry is the signature of the newest entry. A hash instead would allow anyone to forge
	// an entry that links to it.
	Entry string    `json:"entry"`
	At    time.Time `json:"at"`
	// File is the hash of the session's stored form: a file that has it needs no other check.
	File string `json:"file,omitempty"`
	// Strict is true if the policy of a stage was strict.
	Strict bool `json:"strict,omitempty"`
	// Broken is the first entry that had been changed, 0 if none had, and Problem describes
	// the change.
	Broken  int    `json:"broken,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Foreign is true if the file was written with another key, or without one. The other
	// fields are then empty.
	Foreign bool `json:"-"`
}

// Checkpoint returns the record of a session that the signer has just sealed; ok is false if
// it has not. problem is the one found before the change.
func (s *Session) Checkpoint(signer Signer, problem string) (c Checkpoint, ok bool) {
	if signer == nil || len(s.History) == 0 {
		return c, false
	}
	for _, seal := range s.Seals {
		if seal.Key != signer.Key() || seal.Entries != len(s.History) {
			continue
		}
		last := s.Last()
		c = Checkpoint{Entries: seal.Entries, Entry: last.sign(signer), Revision: s.Revision, At: last.At, Broken: seal.Broken}
		if c.Broken > 0 {
			c.Problem = problem
		}
		return c, true
	}
	return c, false
}

// differs compares a session with this machine's record. own is this machine's seal, nil if
// there is none. It returns the first entry that differs, and how; 0 if none does.
//
// A session may be ahead of its checkpoint, which is written after it, by entries of this
// machine or another one: every program that seals links its entries.
func (s *Session) differs(signer Signer, c *Checkpoint, own *Seal) (entry int, problem lang.Text) {
	if c == nil {
		return 0, lang.Text{}
	}
	if c.Foreign {
		if own == nil {
			return 0, lang.Text{}
		}
		return own.Entries, lang.T("this machine's record of it was overwritten without the key")
	}
	unlinked := loose(s.History, c.Entries)
	n, on := len(s.History), c.At.UTC().Format("2006-01-02 15:04:05 MST")
	switch {
	case n < c.Entries:
		return n + 1, lang.T("this machine recorded %d entries (%s) and the file has %d: it is an older copy, or the newest were removed", c.Entries, on, n)
	case !s.contains(signer, *c):
		return c.Entries, lang.T("entry %d, or one before it, is not what this machine recorded (%s)", c.Entries, on)
	case own == nil:
		return c.Entries, lang.T("this machine sealed %d entries (%s) and its seal was removed", c.Entries, on)
	case own.Entries < c.Entries:
		return c.Entries, lang.T("its seal covers %d entries and this machine sealed %d (%s): it is an older seal", own.Entries, c.Entries, on)
	case unlinked > 0:
		return unlinked, lang.T("entry %d was added after the %d that this machine recorded (%s) and is not linked to them", unlinked, c.Entries, on)
	case s.Revision < c.Revision, (n > c.Entries) != (s.Revision > c.Revision):
		return n, lang.T("its revision is %d with %d entries; this machine recorded revision %d with %d (%s)", s.Revision, n, c.Revision, c.Entries, on)
	case c.Broken > 0:
		return c.Broken, lang.T("the history was found changed from entry %d on when a later entry was sealed", c.Broken)
	}
	return 0, lang.Text{}
}

// loose returns the first entry after the first n, counted from 1, without a link to the
// previous one; 0 if there is none.
func loose(history []Transition, n int) int {
	for i := n; i < len(history); i++ {
		if history[i].Prev == "" {
			return i + 1
		}
	}
	return 0
}
