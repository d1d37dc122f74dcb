package workflow

import (
	"slices"
	"strings"
)

// Person says who acts. Only the subject decides who somebody is, because the name is their own choice.
type Person struct {
	// Subject is the account of the system that the program runs under.
	Subject string `json:"subject,omitempty"`
	// Name is what git calls them in the project, as "Name <address>".
	Name string `json:"name,omitempty"`
}

// Who names the person for people, without the address; "" if nothing is known of them.
func (p Person) Who() string {
	name, _, _ := strings.Cut(p.Name, " <")
	switch {
	case p.Subject == "":
		return ""
	case name == "":
		return p.Subject
	}
	return name + " (" + p.Subject + ")"
}

// Writers returns the subjects who answer for the newest round of the current stage: who handed it in, or edited it at
// its gate. "" is among them if that is not known: of an older program, or since somebody has adopted the session as
// other hands have changed it.
func (s *Session) Writers() []string {
	var out []string
	for _, e := range slices.Backward(s.History) {
		switch {
		case e.Event == EventAdopted:
			out = append(out, "")
		case e.Action == ActionSubmit && e.Event != EventPolicyChanged && e.FromStage() == s.CurrentStage:
			return append(out, e.Subject)
		}
	}
	return append(out, "")
}

// Given returns the yeses to a text with which the gate of the current stage is still pending, one of each person, the
// oldest first. Another round, or an edit, has none.
func (s *Session) Given(sha256 string) []Grant {
	var out []Grant
	for _, e := range slices.Backward(s.History) {
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
