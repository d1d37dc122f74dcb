package workflow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
)

// Person says who acts. Only the subject and the key decide who somebody is, because the name is their own choice.
type Person struct {
	// Subject is the system account that the program runs under. In the store of a team, where every container may
	// have an account of one name, it is the person's own role in the database, or else Key.
	Subject string `json:"subject,omitempty"`
	// Name is the person's name in git, as "Name <address>".
	Name string `json:"name,omitempty"`
	// Account is the system account, a label, and Key the fingerprint of the machine's key, in the store of a team.
	Account string `json:"account,omitempty"`
	Key     string `json:"key,omitempty"`
}

// InTeam returns a person as the store of a team tells them apart: by a role, "" if several share it, or by the key of
// their machine, "" if there is none. Without both nobody knows who they are.
func (p Person) InTeam(role string, key signature.Key) Person {
	p.Account, p.Subject = p.Subject, role
	if key != "" {
		p.Key = key.Fingerprint()
	}
	if role == "" {
		p.Subject = p.Key
	}
	return p
}

// Is reports whether two are the same person.
func (p Person) Is(o Person) bool {
	sameSubject := p.Subject != "" && p.Subject == o.Subject
	sameKey := p.Key != "" && p.Key == o.Key
	return sameSubject || sameKey
}

// IsAmong reports whether a person is one of several.
func (p Person) IsAmong(people []Person) bool { return slices.ContainsFunc(people, p.Is) }

// seenBy returns a person of a history, as far as another one can be told apart from them: an older program noted nothing
// but accounts in the store of a team.
func (p Person) seenBy(o Person) Person {
	if o != (Person{}) && (p.Account == "") != (o.Account == "") {
		return Person{}
	}
	return p
}

// Who names the person for people, without the address; "" if the person is unknown.
func (p Person) Who() string {
	name, _, _ := strings.Cut(p.Name, " <")
	if p.Subject == p.Key {
		name = cmp.Or(name, p.Account)
	}
	switch {
	case p.Subject == "":
		return ""
	case name == "":
		return p.Subject
	}
	return name + " (" + p.Subject + ")"
}

// Label names the person by the subject; beside a key, by the name too.
func (p Person) Label() string {
	if p.Key != "" && p.Key == p.Subject {
		return p.Who()
	}
	return p.Subject
}
