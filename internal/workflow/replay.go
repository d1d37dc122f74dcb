package workflow

import (
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// replay checks the entries after an adoption. Each one that counts has to be a step that the rules allow: it
// begins where the previous entry ended, has a row in the transition table, and passes a gate only by a person's
// decision. rules are the reader's rules for each stage, which the steps of others have to keep; this machine's own
// steps were taken by the rules of their time. replay returns the first entry that breaks a rule, and how; 0 if
// there is none.
func (h judged) replay(accepted *Adopted, rules map[StageID]Policy) (entry int, problem lang.Text) {
	s, from := h.session, 1
	w := s.Definition()
	if accepted != nil {
		from = accepted.Entry
	}
	var about []string // of the entries of one change, of which the last has the parts
	for i := from; i < len(s.History); i++ {
		e := s.History[i]
		about = append(about, w.partsOfStep(e)...)
		mayChange := about
		if e.Standing != "" {
			about = nil
		}
		if h.entries[i].verdict != counts {
			continue
		}
		gate, isStep := w.stepOf(e)
		if st, _ := w.Stage(e.FromStage()); w.StartsByBuilding(st) && e.Event == EventDelivered && !hasApprovedScope(s.History[:i], st.ID) {
			isStep = false
		}
		changed := ""
		if !h.entries[i].own {
			isStep = isStep && w.matchesEvent(s.History[:i], e)
			changed = otherThan(e.Parts, mayChange)
		}
		switch {
		case e.From != s.History[i-1].To || !isStep:
			return i + 1, lang.T("entry %d goes from %s to %s by %q, which no step does", i+1, e.From, e.To, string(e.Event))
		case changed != "":
			return i + 1, lang.T("entry %d is not about %s, and has changed it", i+1, partText(changed))
		case !gate:
		case !e.hasApproval(), !h.entries[i].own && !w.isOfWaiting(s.History[:i], e):
			return i + 1, lang.T("entry %d passes the gate of %s without a decision", i+1, e.FromStage())
		case !h.entries[i].own && !satisfiesPolicy(s.History, i, rules[e.FromStage()]):
			return i + 1, lang.T("entry %d passes the gate of %s without the yes of those who have to give it", i+1, e.FromStage())
		}
	}
	return 0, lang.Text{}
}

// checkFirstEntry checks a first entry signed by somebody else. The entry has to start the run, at the first stage
// of a workflow that runs may follow here, and with nothing done. The text is empty if it does.
func (h judged) checkFirstEntry(k *Known) lang.Text {
	if len(h.entries) == 0 || h.entries[0].verdict != counts || h.entries[0].own {
		return lang.Text{}
	}
	s := h.session
	w, e := s.Definition(), s.History[0]
	if e.Event != EventStarted {
		return lang.Text{} // the entries before are unknown, which is said otherwise
	}
	pristine := []string{partHash(Record{Status: Pending}), partHash(Record{Status: InProgress})}
	nothing := []string{partHash(Session{}), partHash(Session{Artifacts: []string{}})}
	shape, _, _ := strings.Cut(e.Standing, ":")
	for _, name := range append(w.IDs(), ofRun, ofSprints, ofRest) {
		hash, named := e.Parts[name]
		switch {
		case !named || shape != standingShape():
			return lang.T("its first entry does not say, in the form of this version of the program, with what it starts")
		case slices.Contains(w.IDs(), name) && !slices.Contains(pristine, hash), name == ofSprints && !slices.Contains(nothing, hash):
			return lang.T("entry 1 starts it, and %s is there already", partText(name))
		}
	}
	switch {
	case e.From != "" || e.To != string(w.First().ID)+"/"+string(Generating):
		return lang.T("entry %d goes from %s to %s by %q, which no step does", 1, e.From, e.To, string(e.Event))
	case k.MayFollow != nil && !k.MayFollow(w):
		return lang.T("its workflow %q is none that a run may follow here", w.Name)
	}
	return lang.Text{}
}

// stepOf reports whether the rules have an entry as a step from where it begins to where it ends, and whether the
// step passes a gate at which a person decides.
func (w *Definition) stepOf(e Transition) (gate, isStep bool) {
	if !isMove(e) { // only an edit brings another text
		mayBring := e.Event == EventEdited || e.Judged == ""
		return false, e.From == e.To && mayBring
	}
	at := slices.IndexFunc(table, func(r rule) bool { return r.event == e.Event })
	from, to := e.FromStage(), e.ToStage()
	st, known := w.Stage(from)
	if at < 0 || !known || w.Index(to) < 0 {
		return false, false
	}
	r := table[at]
	state := stateOf(e.From)
	if !slices.Contains(r.from, state) || stateOf(e.To) != r.to {
		return false, false
	}
	onward := r.move == next || r.move == finish
	byItself := onward && !state.Gated()
	ofPerson := st.Gate == GateScore || st.Gate == GateApproval // only a person passes it
	if byItself && ofPerson {
		return false, false
	}
	decided := onward && state.Gated()
	return decided || e.Event == EventScopeApproved, w.moveLeadsTo(r.move, st, to)
}

// actionOf reports whether an action has an event.
func actionOf(e Transition) bool {
	decisions := []Action{ActionConfirm, ActionApprove}
	switch {
	case e.bringsDocument():
		return e.Action == ActionSubmit
	case e.Event == EventReopened:
		return e.Action == ActionReopen
	case e.Event == EventCancelled:
		return e.Action == ActionCancel
	case e.Event == EventAdopted:
		return e.Action == ActionAdopt
	case e.Event == EventAnswered, e.Event == EventSkipped:
		return e.Action == ActionAnswer || slices.Contains(decisions, e.Action)
	case e.Event == EventPolicyChanged:
		return true // a policy change comes with any action
	}
	return slices.Contains(decisions, e.Action)
}

// documentAt returns the hash of a stage's newest document in a history.
func documentAt(history []Transition, stage StageID) string {
	for _, e := range slices.Backward(history) {
		if e.FromStage() == stage && e.bringsDocument() && e.SHA256 != "" {
			return e.SHA256
		}
	}
	return ""
}

// matchesEvent reports whether the action of somebody else's entry belongs to the event, and whether the entry has
// a document only if the event brings one.
func (w *Definition) matchesEvent(history []Transition, e Transition) bool {
	switch {
	case !actionOf(e):
		return false
	case e.bringsDocument():
		return true
	case e.Judged != "":
		return false
	}
	return e.SHA256 == "" || e.SHA256 == documentAt(history, e.FromStage())
}

// isOfWaiting reports whether the yes of an entry is to the document waiting at the gate.
func (w *Definition) isOfWaiting(history []Transition, e Transition) bool {
	st, _ := w.Stage(e.FromStage())
	if e.Grant.SHA256 == "" { // an act of a person at the gate of a report is about no text
		return st.Gate == GateVerdict
	}
	return e.Grant.SHA256 == documentAt(history, st.ID)
}

// otherThan names a part missing from about; "" if there is none.
func otherThan(parts map[string]string, about []string) string {
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if !slices.Contains(about, name) {
			return name
		}
	}
	return ""
}

// moveLeadsTo reports whether a move leads from a stage to another.
func (w *Definition) moveLeadsTo(m move, from Stage, to StageID) bool {
	following, more := w.Next(from.ID)
	switch m {
	case next:
		return more && to == following.ID
	case finish:
		return !more && to == from.ID
	case back:
		return to == from.SendsBackTo
	case jump:
		return w.Index(to) <= w.Index(from.ID)
	}
	return to == from.ID
}

// hasApproval reports whether an entry has a person's yes to the text waiting at the gate.
func (t Transition) hasApproval() bool {
	g := t.Grant
	switch {
	case g == nil, g.Stage != t.FromStage(), g.Decision != DecisionApprove && g.Decision != DecisionOverride:
		return false
	}
	return g.SHA256 == "" || t.SHA256 == "" || g.SHA256 == t.SHA256
}

// hasApprovedScope reports whether a person has approved a scope for a stage since the stage was begun or reopened.
func hasApprovedScope(history []Transition, stage StageID) bool {
	for _, e := range slices.Backward(history) {
		if e.ToStage() != stage {
			continue
		}
		if e.Event == EventScopeApproved || e.FromStage() != stage {
			return e.Event != EventStarted
		}
	}
	return false
}

// satisfiesPolicy reports whether an entry, from 0, passed a gate as a policy demands: by enough of the people who
// may say yes, none of whom has written the text if four eyes have to see it, and by a person's own act if only
// that counts.
func satisfiesPolicy(history []Transition, i int, p Policy) bool {
	e := history[i]
	if p.Gate == GateStrict && !e.Grant.Channel.Strict() {
		return false
	}
	if !p.Ruled() {
		return true
	}
	writers := WritersAt(history[:i], e.FromStage(), e.Grant.Person)
	isUnknown := slices.ContainsFunc(writers, IsUnknown)
	yes := append(GivenAt(history[:i], e.Grant.SHA256, e.Grant.Person), *e.Grant)
	var who []Person
	for _, g := range yes {
		may := p.Approvers == nil || slices.Contains(p.Approvers, g.Subject)
		mayHaveWritten := isUnknown || g.IsAmong(writers)
		if p.Watched() && mayHaveWritten {
			may = false
		}
		if may && !IsUnknown(g.Person) && !g.IsAmong(who) {
			who = append(who, g.Person)
		}
	}
	return len(who) >= max(p.Quorum, 1)
}
