package workflow

import "strings"

// Person says who acts. Only the subject decides who somebody is, because the name is their own choice.
type Person struct {
	// Subject is the system account that the program runs under.
	Subject string `json:"subject,omitempty"`
	// Name is the person's name in git, as "Name <address>".
	Name string `json:"name,omitempty"`
}

// Who names the person for people, without the address; "" if the person is unknown.
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
