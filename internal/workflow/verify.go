package workflow

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// An entry of a history counts if it has the signature of a key of the entry's account: this machine's own key, or
// one of [Known].Members. An adoption that counts accepts everything before it. A session is sound if every entry
// since then counts, and the session agrees with the newest entry.

// Verify checks a session with signer, the key of this machine, which may be nil, and compares it with the
// machine's record of the session and the folder; nil compares with nothing.
func (s *Session) Verify(signer Signer, k *Known) Verification {
	if k == nil {
		k = &Known{}
		return s.verify(signer, k, true).In(lang.English)
	}
	return s.verify(signer, k, false).In(lang.English)
}

func (s *Session) verify(signer Signer, k *Known, ignoreFolder bool) Verification {
	where := whereabouts{}
	if !ignoreFolder {
		where = s.findWhereabouts(k)
	}
	h := s.judgeEntries(signer, k, where.record)
	ruled := k.isRuled() || isRuled(s.Policy) || slices.ContainsFunc(s.History, func(e Transition) bool { return isRuled(e.Rules) })
	v := Verification{Entries: len(s.History), Unvouched: h.uncountedSpans(ruled), Members: h.members, Strangers: h.strangers, Kept: h.keptRules(ruled)}
	var forged lang.Text
	v.Adopted, forged = h.findAdoption(ruled)
	v.Loose = h.firstLoose(v.Adopted, k.Rules)
	broken := func(status ChainStatus, entry int, problem lang.Text) Verification {
		v.Status, v.Broken, v.problem = status, max(entry, 1), problem
		if v.Broken <= len(s.History) {
			v.BrokenAt = new(s.History[v.Broken-1].At)
		}
		return v
	}
	if !forged.Empty() {
		return broken(ChainChanged, 1, forged)
	}
	if entry, problem := h.firstChange(&v, k, where.record); !problem.Empty() {
		return broken(ChainChanged, entry, problem)
	}
	if !ignoreFolder {
		if problem := s.describeDisplacement(k, where, h.findProject(ruled)); !problem.Empty() {
			v.Displaced, v.Unvouched = true, []Span{{From: 1, To: len(s.History)}}
			return broken(ChainChanged, 1, problem)
		}
	}
	v.MovedFrom = where.movedFrom
	if len(s.History) == 0 {
		v.Status, v.problem = ChainPartly, lang.T("there is no history: an older program kept none")
		return v
	}
	unsigned, _ := h.firstAfter(v.Adopted.acceptedCount(), notSigned)
	v.Unsigned = unsigned > 0
	if entry, problem := h.firstDoubt(v.Adopted); !problem.Empty() {
		return broken(ChainPartly, entry, problem)
	}
	if v.incomparable = h.fit == incomparable; v.incomparable {
		return broken(ChainPartly, len(s.History), lang.T("its newest entry is of another version of this program, so that the rest of it cannot be compared with it"))
	}
	v.Status = ChainHolds
	if v.Adopted != nil {
		v.Status = ChainAdopted
	}
	return v
}

// acceptedCount returns the number of entries that an adoption accepts as they are.
func (a *Adopted) acceptedCount() int {
	if a == nil {
		return 0
	}
	return a.Entry - 1
}

// keptRules returns the rules that the run keeps: the strictest of the entries, and of the present ones, since the
// newest entry by which somebody has accepted others. ruled is true if only this machine's person can.
func (h judged) keptRules(ruled bool) map[StageID]Policy {
	kept := h.session.Policy
	for i, e := range slices.Backward(h.session.History) {
		if kept = stricterRules(kept, e.Rules); e.Event == EventAdopted && e.Rules != nil && h.entries[i].verdict == counts && (h.entries[i].own || !ruled) {
			break
		}
	}
	return kept
}

// firstChange returns the first entry that shows a change since an adoption, and the change; the text is empty if
// there is none.
func (h judged) firstChange(v *Verification, k *Known, c *Checkpoint) (entry int, problem lang.Text) {
	s, adopted := h.session, v.Adopted
	if entry, problem = h.firstAfter(adopted.acceptedCount(), changed); entry > 0 {
		return entry, problem
	}
	if entry, problem = h.foundBefore(adopted); entry > 0 {
		return entry, problem
	}
	if adopted == nil {
		if problem = h.checkFirstEntry(k); !problem.Empty() {
			return 1, problem
		}
	}
	if entry, problem = h.replay(adopted, stricterRules(k.Rules, v.Kept)); entry > 0 {
		return entry, problem
	}
	switch {
	case c == nil, adopted != nil && adopted.own && adopted.revision > c.Revision: // recorded before the adoption
	case c.Foreign && h.own > 0:
		return h.own, lang.T("this machine's record of it was overwritten without the key")
	case !c.Foreign:
		if entry, problem = s.compareToCheckpoint(c); !problem.Empty() {
			return entry, problem
		}
	}
	if problem = s.describeMisfit(h.fit); problem.Empty() && len(h.members) > 0 { // the steps of this machine say what they change
		if name := s.silentlyChangedPart(); name != "" {
			problem = lang.T("%s was changed in a step that does not say so", partText(name))
		}
	}
	return len(s.History), problem
}

// firstDoubt returns the first entry since an adoption that does not count, and why; the text is empty if all do.
func (h judged) firstDoubt(adopted *Adopted) (entry int, problem lang.Text) {
	if h.session.History[0].Event != EventStarted && adopted == nil {
		return 1, lang.T("the entries before its first one are unknown")
	}
	return h.firstAfter(adopted.acceptedCount(), notSigned, ofStranger)
}

// firstLoose describes the first step of this machine since an adoption that passed a gate with less than the rules
// here ask for now; the text is empty if there is none. The rules can have been made stricter since, or removed
// while the step was done.
func (h judged) firstLoose(adopted *Adopted, rules map[StageID]Policy) lang.Text {
	s := h.session
	for i := adopted.acceptedCount(); i < len(s.History); i++ {
		e := s.History[i]
		gate, _ := s.Definition().stepOf(e)
		if gate && e.Grant != nil && h.entries[i].own && !satisfiesPolicy(s.History, i, rules[e.FromStage()]) {
			return lang.T("entry %d passed the gate of %s by %s, which is less than the rules here ask for now", i+1, e.FromStage(), string(e.Grant.Channel))
		}
	}
	return lang.Text{}
}

// describeMisfit describes how the session differs from the history; it is empty if they agree.
func (s *Session) describeMisfit(fit fits) lang.Text {
	if len(s.History) == 0 {
		return lang.Text{}
	}
	if last := s.Last(); last.To != s.Place() {
		return lang.T("the run is at %s, but its newest entry led to %s", s.Place(), last.To)
	}
	seen := map[StageID]bool{}
	for _, e := range slices.Backward(s.History) {
		stage := e.FromStage()
		if e.Judged == "" || !e.bringsDocument() || seen[stage] {
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
	if fit == unfitting {
		return lang.T("%s were changed after its newest entry", s.describeChangedParts())
	}
	return lang.Text{}
}
