package workflow

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// SealNew seals a session that was just created in a project; project is its id, "" if it has
// none.
func (s *Session) SealNew(signer Signer, project string) {
	s.seal(signer, project, Seal{}, 0, s.Revision)
}

// Seal is called with a session before it is changed, and the result of checking it; the
// function it returns seals the session after the change, for the next revision and in a project
// with an id. Earlier changes by anyone else are sealed as broken, and entries added without the key
// as unvouched: our next entry must not make them look sound.
func (s *Session) Seal(signer Signer, before Verification) func(project string) {
	entries := len(s.History)
	next := Seal{Unvouched: slices.Clone(before.Unvouched), Broken: before.Broken}
	if before.Adopted != nil {
		next.Adopted = before.Adopted.Entry
	}
	return func(project string) { s.seal(signer, project, next, entries, s.Revision+1) }
}

// seal records the session's project and its standing at a revision in the newest entry, if that
// was added after the given number of entries, and countersigns it.
func (s *Session) seal(signer Signer, project string, next Seal, entries, revision int) {
	next.Entries = len(s.History)
	if next.Entries == 0 {
		return
	}
	if next.Entries > entries {
		last := &s.History[next.Entries-1]
		last.Standing = s.standing(revision)
		if signer != nil && project != s.Project() {
			last.Project = project
		}
	}
	if signer == nil {
		return
	}
	next.Key = signer.Key()
	s.Seals = slices.DeleteFunc(s.Seals, func(seal Seal) bool {
		if seal.Key == next.Key {
			next.Extra = seal.Extra
		}
		return seal.Key == next.Key
	})
	next.Signature = signer.Sign(next.message(s.SessionID, s.History))
	s.Seals = append(s.Seals, next)
	s.notarize(signer, next)
}

// Adopt adds and seals the entry by which a person accepts the session, and its approved texts, as
// they are. The entry keeps the problem; entries that were unvouched stay so. From it on the session
// belongs to the project with the id.
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
	s.seal(signer, project, Seal{Unvouched: found.Unvouched, Adopted: len(s.History)}, before, s.Revision+1)
}
