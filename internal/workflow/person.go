package workflow

import "strings"

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
