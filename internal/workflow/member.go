package workflow

import (
	"cmp"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
)

// Member is somebody who works on a project, by the public key of one of their machines.
type Member struct {
	Key signature.Key `json:"key"`
	// Subject is the account of the machine's programs, Name the person's name in git.
	Subject string `json:"subject,omitempty"`
	Name    string `json:"name,omitempty"`
}

// Who names a member for people.
func (m Member) Who() string {
	switch {
	case m.Subject == m.Key.Fingerprint(): // in a store whose members share a role
		return cmp.Or(m.Name, m.Subject)
	case m.Name != "" && m.Subject != "":
		return m.Subject + " (" + m.Name + ")"
	case m.Subject != "":
		return m.Subject
	}
	return m.Key.Fingerprint()
}

// Signers returns the people who signed entries of the history, as the entries and signatures say, unchecked: each
// key with each account once.
func (s *Session) Signers() (out []Member) {
	for _, e := range s.History {
		if key, err := signature.MadeBy(e.Signature); err == nil {
			out = addMember(out, Member{Key: key, Subject: e.Subject, Name: e.Name})
		}
	}
	return out
}

// addMember adds a key with an account once.
func addMember(list []Member, m Member) []Member {
	if slices.ContainsFunc(list, func(o Member) bool { return o.Key == m.Key && o.Subject == m.Subject }) {
		return list
	}
	return append(list, m)
}
