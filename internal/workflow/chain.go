package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	// Entries is the last entry covered.
	Entries int `json:"entries"`
	// Unvouched are entries that were there without the key when it signed next: from a
	// program that sealed nothing, or with another key.
	Unvouched []Span `json:"unvouched,omitempty"`
	// Broken is the entry from which on the history was found changed when it was to be
	// sealed again; 0 if it never was. It stays.
	Broken    int    `json:"broken,omitempty"`
	Signature string `json:"signature"`
	Extra     Extra  `json:"-"`
}

// Span is a run of entries, both ends included.
type Span struct {
	From  int   `json:"from"`
	To    int   `json:"to"`
	Extra Extra `json:"-"`
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

// message is what a seal signs: it binds the entries to the session, and what the seal
// says of them.
func (s *Session) message(seal Seal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d\n%d\n", s.SessionID, seal.Entries, seal.Broken)
	for _, span := range seal.Unvouched {
		fmt.Fprintf(&b, "%d-%d\n", span.From, span.To)
	}
	return b.String() + s.History[seal.Entries-1].hash()
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
// the session after the change. What had been changed by other hands is sealed as
// broken, and what was added without the key as unvouched: neither must become sound
// by our next entry.
func (s *Session) Seal(signer Signer) func() {
	if signer == nil {
		return func() {}
	}
	before := s.Verify(signer)
	next := Seal{Key: signer.Key(), Unvouched: slices.Clone(before.Unvouched), Broken: before.Broken}
	return func() {
		next.Entries = len(s.History)
		if next.Entries == 0 {
			return
		}
		s.Seals = slices.DeleteFunc(s.Seals, func(seal Seal) bool {
			if seal.Key == next.Key {
				next.Extra = seal.Extra
			}
			return seal.Key == next.Key
		})
		next.Signature = signer.Sign(s.message(next))
		s.Seals = append(s.Seals, next)
	}
}

// Verification is what a check of the history's chain found.
type Verification struct {
	// Status is ChainHolds, ChainPartly or ChainChanged.
	Status  ChainStatus `json:"status"`
	Entries int         `json:"entries"`
	// Unvouched are entries that no seal of this key vouches for.
	Unvouched []Span `json:"unvouched,omitempty"`
	// Broken is the first entry that is not as it was written, and BrokenAt its time.
	Broken   int        `json:"broken,omitempty"`
	BrokenAt *time.Time `json:"broken_at,omitempty"`
	// Problem says what is wrong, for people.
	Problem string `json:"problem,omitempty"`
	// OtherKeys names keys that sealed it too and are not here.
	OtherKeys []string `json:"other_keys,omitempty"`
}

// ChainStatus says how far a history can be trusted to be as it was written.
type ChainStatus string

// The statuses of a chain.
const (
	ChainHolds ChainStatus = "holds"
	// ChainPartly: nothing in it was changed as far as the key can tell, but it does not
	// vouch for all entries.
	ChainPartly  ChainStatus = "partly"
	ChainChanged ChainStatus = "changed"
)

// Verify checks the chain of the history, and its seal by the signer's key; signer may be nil.
func (s *Session) Verify(signer Signer) Verification {
	v := Verification{Status: ChainChanged, Entries: len(s.History)}
	var own []Seal
	for _, seal := range s.Seals {
		if signer != nil && seal.Key == signer.Key() {
			own = append(own, seal)
		} else {
			v.OtherKeys = append(v.OtherKeys, seal.Key)
		}
	}
	broken := func(entry int, format string, args ...any) Verification {
		v.Broken, v.Problem = max(entry, 1), fmt.Sprintf(format, args...)
		if v.Broken <= len(s.History) {
			at := s.History[v.Broken-1].At
			v.BrokenAt = &at
		}
		return v
	}
	entry, gap := s.firstUnlinked()
	if entry > 0 {
		return broken(entry, "entry %d, or its place in the history, is not what the entry after it was written for", entry)
	}
	covered := 0
	if len(own) > 0 {
		seal := own[0]
		v.Unvouched = slices.Clone(seal.Unvouched)
		switch {
		case len(own) > 1:
			return broken(1, "there are %d seals of one key, and a program makes one", len(own))
		case seal.Entries < 1 || seal.Entries > len(s.History):
			return broken(len(s.History)+1, "%d entries were sealed and %d are there: the newest were taken out", seal.Entries, len(s.History))
		case signer.Sign(s.message(seal)) != seal.Signature:
			return broken(seal.Entries, "the seal does not fit entry %d: it, or the seal, was changed", seal.Entries)
		case seal.Broken > 0:
			return broken(seal.Broken, "the history was found changed from entry %d on when a later entry was sealed", seal.Broken)
		}
		covered = seal.Entries
	}
	if covered < len(s.History) {
		v.Unvouched = append(v.Unvouched, Span{From: covered + 1, To: len(s.History)})
	}
	if gap > 0 {
		v.Unvouched = append(v.Unvouched, Span{From: 1, To: gap})
	}
	v.Unvouched = joined(v.Unvouched)
	if problem := s.misfit(); problem != "" {
		return broken(len(s.History), "%s", problem)
	}
	v.Status = ChainHolds
	switch {
	case len(s.History) == 0:
		v.Status, v.Problem = ChainPartly, "there is no history: an older server kept none"
	case s.History[0].Event != EventStarted:
		v.Status, v.Problem = ChainPartly, "what was before its first entry is not known"
	case len(v.Unvouched) > 0:
		v.Status, v.Problem = ChainPartly, "this machine's key does not vouch for "+spans(v.Unvouched)
	}
	return v
}

// misfit says where the session is not what its history left; "" if it is.
func (s *Session) misfit() string {
	if len(s.History) == 0 {
		return ""
	}
	if last := s.Last(); last.To != s.Place() {
		return fmt.Sprintf("the session stands at %s, but its newest entry led to %s", s.Place(), last.To)
	}
	seen := map[StageID]bool{}
	for _, e := range slices.Backward(s.History) {
		stage := e.FromStage()
		if e.Judged == "" || seen[stage] {
			continue
		}
		seen[stage] = true
		rec := s.Record(stage)
		if rec.Judged() != e.Judged {
			return fmt.Sprintf("the score, verdict, findings, audit, evidence or policy of stage %s is not what was found when it was handed in", stage)
		}
		if ref := rec.FinalResultRef; e.SHA256 != "" && (ref == nil || ref.SHA256 != e.SHA256) {
			return fmt.Sprintf("the document of stage %s is not the one that was handed in", stage)
		}
	}
	return ""
}

// spans says "entry 3, entries 5 to 7".
func spans(list []Span) string {
	parts := make([]string, len(list))
	for i, span := range list {
		parts[i] = fmt.Sprintf("entries %d to %d", span.From, span.To)
		if span.From == span.To {
			parts[i] = fmt.Sprintf("entry %d", span.From)
		}
	}
	return strings.Join(parts, ", ")
}

// firstUnlinked returns the first entry, from 1, that the one after it does not vouch
// for; 0 if there is none. gap is the last entry, from 1, that an older program has
// written without a link; 0 if there is none.
func (s *Session) firstUnlinked() (entry, gap int) {
	for i := 1; i < len(s.History); i++ {
		switch s.History[i].Prev {
		case "":
			gap = i + 1
		case s.History[i-1].hash():
		default:
			return i, gap
		}
	}
	return 0, gap
}

// joined returns spans in order, those that touch as one.
func joined(list []Span) []Span {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Span) int { return a.From - b.From })
	var out []Span
	for _, span := range list {
		if n := len(out); n > 0 && span.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, span.To)
			continue
		}
		out = append(out, span)
	}
	return out
}
