package workflow

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
)

// entryVerdict is the reason why an entry counts or does not.
type entryVerdict int

// The verdicts on an entry.
const (
	counts entryVerdict = iota
	notSigned
	ofStranger // the signer's key does not count for the account in the entry
	changed    // the signature is not of this entry at this place
)

// judgedEntry is an entry with the verdict on it.
type judgedEntry struct {
	verdict entryVerdict
	by      Member
	own     bool // by the key of this machine
}

// judged is a history with the verdict on each entry.
type judged struct {
	session   *Session
	fit       fits // of the session and the newest entry
	entries   []judgedEntry
	hashes    []string // of the entries
	own       int      // the newest entry of this machine, 0 if there is none
	members   []Member
	strangers []string
}

// judgeEntries checks the signature of each entry, and whether the key counts. c is the record of this machine; nil
// if there is none.
func (s *Session) judgeEntries(signer Signer, k *Known, c *Checkpoint) judged {
	h := judged{session: s, entries: make([]judgedEntry, len(s.History)), hashes: entryHashes(s.History)}
	h.fit = s.compareStanding()
	own := signature.Key("")
	if signer != nil {
		own = signer.Public()
	}
	from, to := h.recordedRange(c)
	for i := range s.History {
		e, one := &s.History[i], &h.entries[i]
		if e.Signature == "" {
			one.verdict = notSigned
			continue
		}
		key, err := signature.MadeBy(e.Signature)
		isOwn := key == own
		isMember := slices.ContainsFunc(k.Members, func(m Member) bool { return m.Key == key && m.Subject != "" && m.Subject == e.Subject })
		isRecorded := from <= i && i < to                     // the record vouches for the signature
		if err == nil && !isRecorded && (isOwn || isMember) { // a stranger's signature counts for nothing, valid or not
			key, err = s.signerOf(i)
		}
		one.by, one.own = Member{Key: key, Subject: e.Subject, Name: e.Name}, isOwn
		switch {
		case err != nil, !key.IsEd25519(), !h.isLinked(i), e.Grant != nil && e.Grant.Person != e.Person, e.Key != "" && e.Key != key.Fingerprint():
			one.verdict = changed
		case one.own:
			h.own = i + 1
		case isMember:
			h.members = addMember(h.members, one.by)
		default:
			one.verdict = ofStranger
			if name := key.Fingerprint(); !slices.Contains(h.strangers, name) {
				h.strangers = append(h.strangers, name)
			}
		}
	}
	return h
}

// signerOf returns the key that signed an entry, from 0.
func (s *Session) signerOf(i int) (signature.Key, error) {
	message := s.signedMessage(i)
	if message == nil { // all entries without a form would be one
		return "", signature.ErrInvalid
	}
	return signature.Verify(message, s.History[i].Signature)
}

// IsSignedFrom reports whether all entries from a number on, from 0, have a valid signature of somebody.
func (s *Session) IsSignedFrom(n int) bool {
	for i := n; i < len(s.History); i++ {
		if _, err := s.signerOf(i); err != nil {
			return false
		}
	}
	return true
}

// BegunBy reports whether a person has started the session on a machine with a key. Without a key, where nothing is
// signed, the name in the history counts.
func (s *Session) BegunBy(who Person, own signature.Key) bool {
	if who.Subject == "" || len(s.History) == 0 {
		return false
	}
	if first := s.History[0].Person; first.Subject != who.Subject && first.Account != who.Subject {
		return false
	}
	if own == "" {
		return true
	}
	key, err := s.signerOf(0)
	return err == nil && key == own
}

// isLinked reports whether an entry, from 0, has the hash of the previous one.
func (h judged) isLinked(i int) bool {
	return i == 0 || h.session.History[i].Prev == h.hashes[i-1]
}

// recordedRange returns the range of entries, from 0, whose signatures were checked before this machine recorded
// the session: the entries linked to the recorded one.
func (h judged) recordedRange(c *Checkpoint) (from, to int) {
	if c == nil || c.Broken > 0 || c.Entries < 1 || c.Entries > len(h.entries) || h.hashes[c.Entries-1] != c.Head {
		return 0, 0
	}
	from = c.Entries - 1
	for from > 0 && h.session.History[from].Signature != "" && h.isLinked(from) {
		from--
	}
	return from, c.Entries
}

// findProject returns the project of a history: the first that it names, or a later one by this machine, by an
// adoption that counts, or by an older program. ruled is true if adoptions of others accept nothing here.
func (h judged) findProject(ruled bool) (id string) {
	for i, e := range h.session.History {
		if e.Project == "" {
			continue
		}
		one := h.entries[i]
		adopted := e.Adoption != nil && one.verdict == counts && !ruled
		if id == "" || one.own || adopted || e.Signature == "" {
			id = e.Project
		}
	}
	return id
}

// uncountedSpans returns the entries that do not count, and the entries made elsewhere. ruled is true if adoptions
// of others accept nothing here.
func (h judged) uncountedSpans(ruled bool) (out []Span) {
	for i, e := range h.entries {
		a := h.session.History[i].Adoption
		switch {
		case e.verdict != counts, ruled && a != nil && !e.own:
			out = append(out, Span{From: i + 1, To: i + 1})
		case a != nil && a.Elsewhere && i > 0:
			out = append(out, Span{From: 1, To: i})
		}
	}
	return mergeSpans(out)
}

// firstAfter returns the first entry, from 1, that comes after the accepted ones and has one of the verdicts, and
// why it does not count; 0 if there is none.
func (h judged) firstAfter(accepted int, verdicts ...entryVerdict) (entry int, problem lang.Text) {
	for i := accepted; i < len(h.entries); i++ {
		e := h.entries[i]
		if !slices.Contains(verdicts, e.verdict) {
			continue
		}
		switch e.verdict {
		case changed:
			return i + 1, lang.T("entry %d does not fit its signature, or its place: it was changed, moved or copied, or one before it was", i+1)
		case ofStranger:
			if e.by.Subject == "" || e.by.Who() == e.by.Key.Fingerprint() {
				return i + 1, lang.T("the key of entry %d (%s) is not known here", i+1, e.by.Key.Fingerprint())
			}
			return i + 1, lang.T("the key of entry %d (%s) is not known here to be that of %s", i+1, e.by.Key.Fingerprint(), e.by.Who())
		}
		return i + 1, lang.T("entry %d has no signature: an older program has written it, or somebody without a key", i+1)
	}
	return 0, lang.Text{}
}

// foundBefore returns the first entry after an adoption that names an earlier change, or accepts one in the name of
// somebody whose acceptance does not count here; 0 if there is none.
func (h judged) foundBefore(accepted *Adopted) (entry int, problem lang.Text) {
	from := 0
	if accepted != nil {
		from = accepted.Entry
	}
	for i := from; i < len(h.entries); i++ {
		e := h.session.History[i]
		found := e.Found
		if a := e.Adoption; a != nil && a.From > 0 {
			found = a.Problem
		}
		if found != "" && h.entries[i].verdict == counts {
			return i + 1, lang.T("it was found changed when entry %d was written: %s", i+1, found)
		}
	}
	return 0, lang.Text{}
}

// findAdoption returns the newest adoption that counts; nil if there is none. The problem is about an adoption that
// does not fit the entries before it. ruled is true if an adoption by somebody else accepts nothing here.
func (h judged) findAdoption(ruled bool) (a *Adopted, problem lang.Text) {
	for i, e := range slices.Backward(h.session.History) {
		if e.Adoption == nil || e.Adoption.From == 0 || e.Event != EventAdopted || h.entries[i].verdict != counts {
			continue
		}
		if ruled && !h.entries[i].own {
			continue
		}
		if e.Adoption.Past != combineHashes(h.hashes[:i]) {
			return nil, lang.T("the entries that entry %d adopted were changed since", i+1)
		}
		return &Adopted{Entry: i + 1, By: e.By, At: e.At, Problem: e.Adoption.Problem, revision: e.Adoption.Revision, own: h.entries[i].own}, lang.Text{}
	}
	return nil, lang.Text{}
}
