package web

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// selection is the project chosen on a page about one project.
type selection struct {
	// Action is the page's own address.
	Action string
	// Project is the chosen project; it has no id if no project is known.
	Project  folder
	Projects []folder
	// Query is the text of the search. Searches reports whether the page has a search of its own.
	Query    string
	Searches bool
}

// maxQuery bounds the words of a search, in bytes.
const maxQuery = 300

// checkQuery returns an error for a search of more than maxQuery bytes.
func checkQuery(query string) error {
	if len(query) > maxQuery {
		return fault.New(fault.InvalidArgument, "the search has %d bytes; at most %d are looked for", len(query), maxQuery).WithHint("search for a few words")
	}
	return nil
}

// choose returns the project of the parameter p, or the first one without it.
func (p projects) choose(a *asked, action string) (selection, error) {
	given := a.r.URL.Query()
	c := selection{Action: action, Projects: p.all(), Query: strings.TrimSpace(given.Get("q")), Searches: action != "/settings"}
	if err := checkQuery(c.Query); err != nil {
		return c, err
	}
	id := given.Get("p")
	if id == "" {
		if len(c.Projects) > 0 {
			c.Project = c.Projects[0]
		}
		return c, nil
	}
	var err error
	c.Project, err = p.findByID(id)
	return c, err
}
