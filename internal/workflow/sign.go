package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
)

// Signer is the key of this machine, which is kept outside of the projects.
type Signer interface {
	// Public returns the key that everyone can check the signatures with.
	Public() signature.Key
	// Sign returns the signature of a message in the form of [signature.Signer].
	Sign(message []byte) (string, error)
	// MAC authenticates a text that only this machine checks: always the same for the same message.
	MAC(message string) string
}

// SignNew signs the first entry of a session that was just created in a project; project is the project's id, "" if
// it has none.
func (s *Session) SignNew(signer Signer, project string) error {
	return s.signNewEntries(signer, project, Verification{}, 0, s.Revision)
}

// Signing is called before a change with the session and the result of checking it. The returned function signs the
// entries added since, for the next revision and in a project with an id. The entries say what the check found, so
// that they do not make a changed session look sound.
func (s *Session) Signing(signer Signer, before Verification) func(project string) error {
	entries := len(s.History)
	return func(project string) error { return s.signNewEntries(signer, project, before, entries, s.Revision+1) }
}

// signNewEntries links the entries after a number of them, has the newest one record the project and the state of
// the session at a revision, and signs them.
func (s *Session) signNewEntries(signer Signer, project string, before Verification, entries, revision int) error {
	if len(s.History) == entries {
		return nil
	}
	s.Seals = []json.RawMessage{} // seals of a history that has gone on
	last := &s.History[len(s.History)-1]
	last.Standing, last.Parts = s.standingHash(revision), s.changedParts(s.History[:len(s.History)-1])
	if signer != nil && project != s.Project() {
		last.Project = project
	}
	if (before.Changed() || before.incomparable) && last.Adoption == nil {
		last.Found = before.Reason().In(lang.English)
	}
	last.Keys = newKeys(s.History, before.Members)
	for i := entries; i < len(s.History); i++ {
		e := &s.History[i]
		if i > 0 {
			e.Prev = s.History[i-1].hash()
		}
		if err := s.signEntry(signer, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) signEntry(signer Signer, i int) (err error) {
	if signer == nil {
		return nil
	}
	e := &s.History[i]
	if e.Grant != nil && e.Grant.Signature == "" { // else the person has signed it with a key of their own
		if e.Grant.Signature, err = signer.Sign(e.Grant.Statement(s.SessionID, s.TaskName)); err != nil {
			return err
		}
	}
	message := s.signedMessage(i)
	if message == nil {
		return errors.New("an entry of the history has no JSON form")
	}
	e.Signature, err = signer.Sign(message)
	return err
}

// signedMessage returns the text under the signature of an entry: a line with the session's id and the number of
// the entry, from 1, and the canonical JSON of the entry without the signature, but with the hashes of the previous
// entry and of the session afterwards. It returns nil if the entry has no JSON form.
func (s *Session) signedMessage(i int) []byte {
	e := s.History[i]
	e.Signature = ""
	text := canonicalJSON(e)
	if text == nil {
		return nil
	}
	return append(fmt.Appendf(nil, "entry %d of %s\n", i+1, s.SessionID), text...)
}

// BegunUnder returns the key of the valid signature over the start of a session; "" if it has none.
func BegunUnder(s *Session) signature.Key {
	if len(s.History) == 0 {
		return ""
	}
	key, err := signature.Verify(s.signedMessage(0), s.History[0].Signature)
	if err != nil {
		return ""
	}
	return key
}

// newKeys returns the keys that count here by the word of this machine's person and that the history does not name
// yet.
func newKeys(history []Transition, used []Member) (out []Member) {
	for _, m := range used {
		if !slices.ContainsFunc(history, func(e Transition) bool { return slices.Contains(e.Keys, m) }) {
			out = append(out, m)
		}
	}
	return out
}

// Adopt adds and signs the entry by which a person accepts the session, and its approved texts, as they are. The
// entry keeps the problem; entries that did not count still do not. From this entry on the session belongs to the
// project with the id.
func (s *Session) Adopt(signer Signer, project string, found Verification, t Transition) error {
	t.Event = EventAdopted
	t.Adoption = &Adoption{
		Problem: found.Problem, From: max(found.Broken, 1), Revision: s.Revision + 1, Past: combineHashes(entryHashes(s.History)),
		Texts: found.Altered, Elsewhere: found.Displaced,
	}
	if found.Sound() { // the texts alone: nothing earlier needs to be accepted
		t.Adoption.Problem, t.Adoption.From = AlterationsText(found.Altered).In(lang.English), 0
	}
	entries := len(s.History)
	s.Note(t)
	return s.signNewEntries(signer, project, found, entries, s.Revision+1)
}
