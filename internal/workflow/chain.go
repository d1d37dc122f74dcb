package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The history is a chain: each entry holds the hash of the one before it, so that
// none can be changed, left out or put in without the later ones showing it. A
// [Seal] countersigns the newest entry with a key that is kept outside the project.

// Signer signs with a key that is kept outside the project.
type Signer interface {
	// Key names the key without telling it.
	Key() string
	// Sign returns the signature of a message; the same for the same message.
	Sign(message string) string
}

// Seal is a signature over the history up to an entry. Entries count from 1.
type Seal struct {
	Key string `json:"key"`
	// Since is the first entry that was sealed when it was made. What is before it comes
	// from a program that sealed nothing, or with another key.
	Since int `json:"since"`
	// Entries is the last entry covered.
	Entries int `json:"entries"`
	// Broken is the entry from which on the history was found changed when it was to be
	// sealed again; 0 if it never was. It stays.
	Broken    int    `json:"broken,omitempty"`
	Signature string `json:"signature"`
	Extra     Extra  `json:"-"`
}

// Append adds an entry to the history, linked to the one before it.
func (s *Session) Append(t Transition) {
	if len(s.History) > 0 {
		t.Prev = s.Last().hash()
	}
	s.History = append(s.History, t)
}

// hash returns the hash of an entry with what it says of the one before. It is over
// JSON with sorted keys, so that a program that does not know a key finds the same.
func (t Transition) hash() string {
	data, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return ""
	}
	if data, err = json.Marshal(plain); err != nil {
		return ""
	}
	return Hash(data)
}

// message is what a seal signs: it binds the entries to the session.
func (s *Session) message(seal Seal) string {
	return fmt.Sprintf("%s\n%d\n%d\n%d\n%s", s.SessionID, seal.Since, seal.Entries, seal.Broken, s.History[seal.Entries-1].hash())
}

// SealNew seals a session that was just made.
func (s *Session) SealNew(signer Signer) {
	history := s.History
	s.History = nil
	seal := s.Seal(signer)
	s.History = history
	seal()
}

// Seal is called with a session before it is changed; the function it returns seals
// the session after the change. A history that is not what the signer had sealed is
// sealed as broken: a change by other hands must not become sound by our next entry.
func (s *Session) Seal(signer Signer) func() {
	if signer == nil {
		return func() {}
	}
	next := Seal{Key: signer.Key(), Since: len(s.History) + 1}
	at := slices.IndexFunc(s.Seals, func(seal Seal) bool { return seal.Key == next.Key })
	if at >= 0 {
		next.Since, next.Broken, next.Extra = s.Seals[at].Since, s.Seals[at].Broken, s.Seals[at].Extra
		if v := s.Verify(signer); v.Broken > 0 && next.Broken == 0 {
			next.Broken = v.Broken
		}
	}
	return func() {
		next.Entries = len(s.History)
		if next.Entries == 0 {
			return
		}
		next.Signature = signer.Sign(s.message(next))
		if at >= 0 {
			s.Seals[at] = next
		} else {
			s.Seals = append(s.Seals, next)
		}
	}
}

// Verification is what a check of the history's chain found.
type Verification struct {
	// Holds is true if the history is what was sealed, from entry Since on.
	Holds   bool `json:"holds"`
	Entries int  `json:"entries"`
	// Since is the first entry that the seal vouches for; 0 if there is no seal of the key.
	Since int `json:"since,omitempty"`
	// Broken is the first entry that is not as it was written, and BrokenAt its time.
	Broken   int        `json:"broken,omitempty"`
	BrokenAt *time.Time `json:"broken_at,omitempty"`
	// Problem says what is wrong, for people.
	Problem string `json:"problem,omitempty"`
	// OtherKeys names keys that sealed it too and are not here.
	OtherKeys []string `json:"other_keys,omitempty"`
}

// Verify checks the chain of the history, and its seal by the signer's key; signer may be nil.
func (s *Session) Verify(signer Signer) Verification {
	v := Verification{Entries: len(s.History)}
	var own *Seal
	for i := range s.Seals {
		if signer != nil && s.Seals[i].Key == signer.Key() {
			own = &s.Seals[i]
		} else {
			v.OtherKeys = append(v.OtherKeys, s.Seals[i].Key)
		}
	}
	broken := func(entry int, format string, args ...any) Verification {
		v.Broken, v.Problem = entry, fmt.Sprintf(format, args...)
		if entry >= 1 && entry <= len(s.History) {
			at := s.History[entry-1].At
			v.BrokenAt = &at
		}
		return v
	}
	if entry := s.firstUnlinked(); entry > 0 {
		return broken(entry, "entry %d, or its place in the history, is not what the entry after it was written for", entry)
	}
	switch {
	case own == nil && len(s.History) == 0:
		v.Problem = "there is no history: an older server kept none"
	case own == nil:
		v.Problem = "the history carries no seal of this machine's key"
	case own.Entries < 1 || own.Entries > len(s.History):
		return broken(len(s.History)+1, "%d entries were sealed and %d are there: the newest were taken out", own.Entries, len(s.History))
	case signer.Sign(s.message(*own)) != own.Signature:
		return broken(own.Entries, "the seal does not fit entry %d: it, or the seal, was changed", own.Entries)
	case own.Entries < len(s.History):
		return broken(own.Entries+1, "entries from %d on were added without the key", own.Entries+1)
	case own.Broken > 0:
		return broken(own.Broken, "the history was found changed from entry %d on when a later entry was sealed", own.Broken)
	case s.Last().To != s.Place():
		return broken(len(s.History), "the session stands at %s, but its newest entry led to %s", s.Place(), s.Last().To)
	default:
		v.Holds, v.Since = true, own.Since
	}
	return v
}

// firstUnlinked returns the first entry, from 1, that the one after it does not vouch
// for; 0 if there is none. Entries of older programs, at the beginning, have no links.
func (s *Session) firstUnlinked() int {
	linked := false
	for i := 1; i < len(s.History); i++ {
		prev := s.History[i].Prev
		if prev == "" && !linked {
			continue
		}
		linked = true
		if prev != s.History[i-1].hash() {
			return i
		}
	}
	return 0
}
