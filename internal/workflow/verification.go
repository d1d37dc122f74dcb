package workflow

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Verification is the result of checking the history's chain.
type Verification struct {
	// Status is ChainHolds, ChainPartly, ChainChanged or ChainAdopted.
	Status  ChainStatus `json:"status"`
	Entries int         `json:"entries"`
	// Unvouched are entries that no seal of this key vouches for.
	Unvouched []Span `json:"unvouched,omitempty"`
	// Broken is the first entry that was changed, and BrokenAt its time.
	Broken   int        `json:"broken,omitempty"`
	BrokenAt *time.Time `json:"broken_at,omitempty"`
	// Problem describes the result for people.
	Problem string `json:"problem,omitempty"`
	// Adopted is the entry by which a person has accepted the changes before it.
	Adopted *Adopted `json:"adopted,omitempty"`
	// OtherKeys names further keys that sealed it, which this machine does not have.
	OtherKeys []string `json:"other_keys,omitempty"`
	// Members are those whose public seals vouch for entries; Strangers names the keys of public seals that
	// nobody has added to the project.
	Members   []Member `json:"members,omitempty"`
	Strangers []string `json:"strangers,omitempty"`
	// Displaced is true if the history shows no change, but is that of another project, or a copy.
	Displaced bool `json:"displaced,omitempty"`
	// MovedFrom is the folder in which this machine recorded the session, if the project was moved
	// since, and the session was not changed here yet.
	MovedFrom string `json:"moved_from,omitempty"`

	// Altered are the approved texts that are not as they were approved. The history may hold all
	// the same.
	Altered []Alteration `json:"altered,omitempty"`

	// Cause describes a change as it was first detected; it is empty if that is unknown.
	Cause   lang.Text `json:"-"`
	problem lang.Text
}

// In returns the result with its problem in a language.
func (v Verification) In(l lang.Language) Verification {
	if !v.problem.Empty() {
		v.Problem = v.problem.In(l)
	}
	return v
}

// Reason returns the problem as a sentence for every language.
func (v Verification) Reason() lang.Text {
	if v.problem.Empty() {
		return lang.T("%s", v.Problem)
	}
	return v.problem
}

// ChainStatus is the degree to which a history can be trusted to be unchanged.
type ChainStatus string

// The statuses of a chain.
const (
	ChainHolds ChainStatus = "holds"
	// ChainPartly: no change was detected, but the key does not vouch for all entries.
	ChainPartly  ChainStatus = "partly"
	ChainChanged ChainStatus = "changed"
	// ChainAdopted: it was changed, a person has accepted that, and it is unchanged since.
	ChainAdopted ChainStatus = "adopted"
)

// Changed reports whether the session was changed by anyone else, and nobody has accepted that.
func (v Verification) Changed() bool { return v.Status == ChainChanged }

// Vouches reports whether the key vouches for an entry, counted from 1.
func (v Verification) Vouches(entry int) bool {
	return !slices.ContainsFunc(v.Unvouched, func(span Span) bool { return span.From <= entry && entry <= span.To })
}

// Verify checks the chain of the history, and its seal by the signer's key; signer may be nil. It compares
// the session with the record of the signer's machine about it and its folder; nil compares it with
// nothing.
func (s *Session) Verify(signer Signer, k *Known) Verification {
	return s.verification(signer, k).In(lang.English)
}

func (s *Session) verification(signer Signer, k *Known) Verification { //nolint:gocyclo // the checks in their order
	where := s.whereabouts(signer, k)
	c := where.record
	v := Verification{Status: ChainChanged, Entries: len(s.History)}
	var own []Seal
	for _, seal := range s.Seals {
		if signer != nil && seal.Key == signer.Key() {
			own = append(own, seal)
		} else {
			v.OtherKeys = append(v.OtherKeys, seal.Key)
		}
	}
	seal, sealBroken, sealProblem := s.check(signer, own)
	accepted := 0 // the entries that a person has accepted as they are
	if seal != nil {
		adopted, whole := s.findAdoption(*seal)
		switch {
		case !whole:
			sealBroken, sealProblem = seal.Adopted, lang.T("the entries that entry %d adopted were changed since", seal.Adopted)
		case adopted != nil:
			v.Adopted, accepted = adopted, adopted.Entry-1
		}
	}
	unlinked, gap := s.firstUnlinked(accepted)
	v.Unvouched = s.unvouchedSpans(seal, unlinked, gap)
	if k != nil && seal != nil && c == nil && s.Project() == "" { // an older program sealed it, in any folder
		v.Unvouched = mergeSpans(append(v.Unvouched, Span{From: 1, To: seal.Entries}))
	}
	var members []Member
	if k != nil {
		members = k.Members
	}
	memberBroken, memberProblem := s.vouch(&v, NotaryKey(signer), members)
	broken := func(entry int, problem lang.Text) Verification {
		v.Broken, v.problem, v.Cause = max(entry, 1), problem, problem
		if v.Broken <= len(s.History) {
			v.BrokenAt = new(s.History[v.Broken-1].At)
		}
		return v
	}
	if unlinked > 0 {
		return broken(unlinked, lang.T("entry %d does not match the link in the entry after it: one of them was changed, moved or removed", unlinked))
	}
	if !sealProblem.Empty() {
		v = broken(sealBroken, sealProblem)
		if seal != nil && seal.Broken > 0 { // detected before an earlier change
			if v.Cause = (lang.Text{}); c != nil && c.Problem != "" {
				v.Cause = lang.T("%s", c.Problem)
				v.problem = lang.T("%s: %s", sealProblem, c.Problem)
			}
		}
		return v
	}
	if !memberProblem.Empty() && memberBroken > accepted {
		return broken(memberBroken, memberProblem)
	}
	if v.Adopted != nil && c != nil && v.Adopted.revision > c.Revision {
		c = nil // recorded before the adoption, which is not recorded yet
	}
	if entry, problem := s.differs(signer, c, seal); !problem.Empty() {
		return broken(entry, problem)
	}
	if problem := s.misfit(); !problem.Empty() {
		return broken(len(s.History), problem)
	}
	if problem := s.describeDisplacement(k, where); !problem.Empty() {
		v.Displaced, v.Unvouched = true, []Span{{From: 1, To: len(s.History)}}
		return broken(1, problem)
	}
	v.Status, v.problem = s.judgeChain(v, accepted)
	v.MovedFrom = where.movedFrom
	return v
}

// vouch checks the public seals of a session. Those of members vouch for their entries, which are then
// taken out of the unvouched ones; a seal of a member that does not fit shows a change, at an entry. Keys
// that nobody has added vouch for nothing.
func (s *Session) vouch(v *Verification, own string, members []Member) (broken int, problem lang.Text) {
	v.OtherKeys = slices.DeleteFunc(v.OtherKeys, func(key string) bool { return key == own })
	for _, seal := range s.Seals {
		at := slices.IndexFunc(members, func(m Member) bool { return m.Key == seal.Key && m.Public == seal.Public })
		if seal.Public == "" || seal.Key == own {
			continue
		}
		v.OtherKeys = slices.DeleteFunc(v.OtherKeys, func(key string) bool { return key == seal.Key })
		if at < 0 {
			v.Strangers = append(v.Strangers, seal.Key)
			continue
		}
		m := members[at]
		key, ok := seal.publicKey()
		signature, err := base64.StdEncoding.DecodeString(seal.Signature)
		switch {
		case seal.Entries < 1 || seal.Entries > len(s.History):
			return len(s.History) + 1, lang.T("%s sealed %d entries and %d are left: the newest were removed", m.Who(), seal.Entries, len(s.History))
		case !ok || err != nil || !ed25519.Verify(key, []byte(publicDomain+seal.message(s.SessionID, s.History)), signature):
			return seal.Entries, lang.T("the seal of %s does not fit entry %d: the entry or the seal was changed", m.Who(), seal.Entries)
		case seal.Broken > 0:
			return seal.Broken, lang.T("the history was found changed from entry %d on when %s sealed a later entry", seal.Broken, m.Who())
		}
		v.Members = append(v.Members, m)
		v.Unvouched = overlap(v.Unvouched, s.unvouchedSpans(&seal, 0, 0))
	}
	return 0, lang.Text{}
}

// judgeChain returns the status of a history without a detected change, and the reason if it does
// not hold. The accepted entries need no seal.
func (s *Session) judgeChain(v Verification, accepted int) (ChainStatus, lang.Text) {
	open := slices.DeleteFunc(slices.Clone(v.Unvouched), func(span Span) bool { return span.To <= accepted })
	switch {
	case len(s.History) == 0:
		return ChainPartly, lang.T("there is no history: an older server kept none")
	case s.History[0].Event != EventStarted && v.Adopted == nil:
		return ChainPartly, lang.T("the entries before its first one are unknown")
	case len(open) > 0:
		return ChainPartly, lang.T("this machine's key does not vouch for %s", spans(open))
	case v.Adopted != nil:
		return ChainAdopted, lang.Text{}
	}
	return ChainHolds, lang.Text{}
}

// check returns the one seal of the signer's key, nil if there is none that fits the history,
// and the first entry that it shows as changed, with the problem.
func (s *Session) check(signer Signer, own []Seal) (seal *Seal, broken int, problem lang.Text) {
	if len(own) == 0 {
		return nil, 0, lang.Text{}
	}
	seal = &own[0]
	switch {
	case len(own) > 1:
		return nil, 1, lang.T("there are %d seals of one key, and only one is ever written", len(own))
	case seal.Entries < 1 || seal.Entries > len(s.History):
		return nil, len(s.History) + 1, lang.T("%d entries were sealed and %d are left: the newest were removed", seal.Entries, len(s.History))
	case signer.Sign(seal.message(s.SessionID, s.History)) != seal.Signature:
		return nil, seal.Entries, lang.T("the seal does not fit entry %d: the entry or the seal was changed", seal.Entries)
	case seal.Broken > 0:
		return seal, seal.Broken, lang.T("the history was found changed from entry %d on when a later entry was sealed", seal.Broken)
	}
	return seal, 0, lang.Text{}
}

// unvouchedSpans returns the entries that a seal does not vouch for: those it lists, those after it,
// and those up to a broken link or to an entry that an older program wrote.
func (s *Session) unvouchedSpans(seal *Seal, unlinked, gap int) []Span {
	var list []Span
	covered := 0
	if seal != nil {
		list, covered = slices.Clone(seal.Unvouched), seal.Entries
	}
	if covered < len(s.History) {
		list = append(list, Span{From: covered + 1, To: len(s.History)})
	}
	if up := max(unlinked, gap); up > 0 {
		list = append(list, Span{From: 1, To: up})
	}
	return mergeSpans(list)
}

// misfit describes how the session differs from its history; it is empty if it does not.
func (s *Session) misfit() lang.Text {
	if len(s.History) == 0 {
		return lang.Text{}
	}
	if last := s.Last(); last.To != s.Place() {
		return lang.T("the session is at %s, but its newest entry led to %s", s.Place(), last.To)
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
			return lang.T("the score, verdict, findings, audit, evidence or policy of stage %s was changed after its submission", stage)
		}
		if ref := rec.FinalResultRef; e.SHA256 != "" && (ref == nil || ref.SHA256 != e.SHA256) {
			return lang.T("the document of stage %s is not the submitted one", stage)
		}
	}
	if !s.stands() {
		return lang.T("its objective, answers, sprints, approvals, policy, documents or counters were changed after its newest entry")
	}
	return lang.Text{}
}

// spans returns the entries as text, for example "entry 3, entries 5 to 7".
func spans(list []Span) lang.Text {
	parts := make([]lang.Text, len(list))
	for i, span := range list {
		parts[i] = lang.T("entries %d to %d", span.From, span.To)
		if span.From == span.To {
			parts[i] = lang.T("entry %d", span.From)
		}
	}
	return lang.Join(parts, ", ")
}

// firstUnlinked returns the first entry, from 1, that the link in the next one does not match;
// 0 if there is none. gap is the last entry, from 1, that an older program wrote without a
// link; 0 if there is none. The accepted entries are not checked.
func (s *Session) firstUnlinked(accepted int) (entry, gap int) {
	for i := max(accepted, 1); i < len(s.History); i++ {
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

// Adopted is an adoption as a check of the history reports it.
type Adopted struct {
	Entry   int       `json:"entry"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Problem string    `json:"problem"`

	revision int
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
