package workflow

import "slices"

// WritersAt returns the people behind the newest document of a stage at the end of a history, as far as another one can
// be told apart from them: the one who handed it in, or edited it at the gate. Somebody without a subject is somebody
// unknown: a user of an older program, or since an adoption of the session with changes by other hands.
func WritersAt(history []Transition, stage StageID, by Person) []Person {
	var out []Person
	for _, e := range slices.Backward(history) {
		switch {
		case e.Event == EventAdopted:
			out = append(out, Person{})
		case e.bringsDocument() && e.FromStage() == stage:
			return append(out, e.seenBy(by))
		}
	}
	return append(out, Person{})
}

// IsUnknown reports whether a person is not known.
func IsUnknown(p Person) bool { return p.Subject == "" }

// GivenAt returns the yeses to a text at the gate pending at the end of a history, one of each person that another one
// can be told apart from, the oldest first. Another round, or an edit, has none.
func GivenAt(history []Transition, sha256 string, by Person) []Grant {
	var out []Grant
	for _, e := range slices.Backward(history) {
		if e.Event == EventPolicyChanged {
			continue
		}
		if e.Event != EventGranted || e.Grant == nil {
			break
		}
		again := slices.ContainsFunc(out, func(g Grant) bool { return g.Is(e.Grant.Person) })
		if g := *e.Grant; !IsUnknown(g.seenBy(by)) && g.SHA256 == sha256 && !again {
			out = append(out, g)
		}
	}
	slices.Reverse(out)
	return out
}
