package workflow

import "slices"

// Writers returns the subjects behind the newest round of the current stage: the one who handed it in, or edited it
// at the gate. "" is among them for somebody unknown: a user of an older program, or since an adoption of the
// session with changes by other hands.
func (s *Session) Writers() []string { return WritersAt(s.History, s.CurrentStage) }

// WritersAt returns the accounts behind the newest document of a stage at the end of a history: the one who has
// handed it in or edited it, and "" for somebody unknown.
func WritersAt(history []Transition, stage StageID) []string {
	var out []string
	for _, e := range slices.Backward(history) {
		switch {
		case e.Event == EventAdopted:
			out = append(out, "")
		case e.bringsDocument() && e.FromStage() == stage:
			return append(out, e.Subject)
		}
	}
	return append(out, "")
}

// Given returns the yeses to a text at the pending gate of the current stage, one of each person, the oldest first.
// Another round, or an edit, has none.
func (s *Session) Given(sha256 string) []Grant { return givenAt(s.History, sha256) }

// givenAt returns the yeses to a text at the end of a history.
func givenAt(history []Transition, sha256 string) []Grant {
	var out []Grant
	for _, e := range slices.Backward(history) {
		if e.Event == EventPolicyChanged {
			continue
		}
		if e.Event != EventGranted || e.Grant == nil {
			break
		}
		again := slices.ContainsFunc(out, func(g Grant) bool { return g.Subject == e.Grant.Subject })
		if g := *e.Grant; g.Subject != "" && g.SHA256 == sha256 && !again {
			out = append(out, g)
		}
	}
	slices.Reverse(out)
	return out
}
