package workflow

import (
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// Adoption is the part of an entry that records that a person has accepted a session which
// was changed outside this program.
type Adoption struct {
	// Problem describes the change, and From is the first entry it concerns.
	Problem string `json:"problem"`
	From    int    `json:"from"`
	// Revision is the session's revision afterwards: records of earlier ones no longer count.
	Revision int `json:"revision"`
	// Past is a hash of all earlier entries: they are accepted as they are, and must not change
	// again.
	Past string `json:"past"`
	// Texts are the approved texts that are accepted as they are.
	Texts []Alteration `json:"texts,omitempty"`
	Extra Extra        `json:",unknown"`
}

// Adopted is an adoption as a check of the history reports it.
type Adopted struct {
	Entry   int       `json:"entry"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Problem string    `json:"problem"`

	revision int
}

// Adopt adds and seals the entry by which a person accepts the session, and its approved texts, as
// they are. The entry
// keeps the problem; entries that were unvouched stay so. From it on the session belongs to
// the project with the id.
func (s *Session) Adopt(signer Signer, project string, found Verification, t Transition) {
	t.Event = EventAdopted
	t.Adoption = &Adoption{Problem: found.Problem, From: found.Broken, Revision: s.Revision + 1, Past: past(s.History), Texts: found.Altered}
	before := len(s.History)
	if !found.Changed() { // the texts alone: nothing earlier needs to be accepted
		seal := s.Seal(signer, found)
		t.Adoption.Problem = AlterationsText(found.Altered).In(lang.English)
		s.Note(t)
		seal(project)
		return
	}
	s.Note(t)
	s.seal(signer, project, Seal{Key: signer.Key(), Unvouched: found.Unvouched, Adopted: len(s.History)}, before, s.Revision+1)
}

// past returns a hash of entries.
func past(entries []Transition) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.hash() + "\n")
	}
	return Hash([]byte(b.String()))
}

// findAdoption returns the adoption that a seal names; ok is false if its entry is missing, or does
// not fit the entries before it.
func (s *Session) findAdoption(seal Seal) (a *Adopted, ok bool) {
	if seal.Adopted < 1 {
		return nil, true
	}
	if seal.Adopted > seal.Entries {
		return nil, false
	}
	e := s.History[seal.Adopted-1]
	if e.Adoption == nil || e.Adoption.Past != past(s.History[:seal.Adopted-1]) {
		return nil, false
	}
	return &Adopted{Entry: seal.Adopted, By: e.By, At: e.At, Problem: e.Adoption.Problem, revision: e.Adoption.Revision}, true
}

// Moved returns the newest entry that is not an adoption; the zero entry if there is none.
func (s *Session) Moved() Transition {
	for i := len(s.History) - 1; i >= 0; i-- {
		if s.History[i].Event != EventAdopted {
			return s.History[i]
		}
	}
	return Transition{}
}
