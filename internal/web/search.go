package web

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// maxFound bounds the listed runs of a search.
const maxFound = 100

// maxSearched bounds the projects searched for notes, since each costs a look at a memory; maxFoundNotes
// bounds the notes of each.
const (
	maxSearched   = 10
	maxFoundNotes = 5
)

// searchPage is the result of a search.
type searchPage struct {
	Query string
	Found []card
	More  bool
	Notes []memo
}

// showSearch finds runs by task name and objective, and notes, in all projects.
func (d *Dashboard) showSearch(a *asked) (templ.Component, error) {
	query := strings.TrimSpace(a.r.URL.Query().Get("q"))
	a.page.Title = a.lang.Say("Search")
	if err := checkQuery(query); err != nil {
		return nil, err
	}
	a.page.Query = query
	body := searchPage{Query: query}
	if query == "" {
		return searchScreen(a.lang, body), nil
	}
	for i, p := range d.projects.all() {
		if i < maxSearched {
			body.Notes = append(body.Notes, d.notesLike(a, p, query)...)
		}
		board, err := d.board(a, p)
		if err != nil {
			continue // the inbox says that the project cannot be read
		}
		body.More = body.More || board.More
		stages := d.o.Engine.Stages(addressOf(p))
		for _, r := range board.Rows {
			if len(body.Found) < maxFound && (store.Query{Text: query}).Selects(&r.Summary) {
				body.Found = append(body.Found, newCard(a, p, stages, r, nil, nil))
			}
		}
	}
	return searchScreen(a.lang, body), a.Err()
}

// notesLike returns the notes of a project that match a query. A memory that cannot be read, or is switched
// off, has none; the page of the notes reports it.
func (d *Dashboard) notesLike(a *asked, p folder, query string) (out []memo) {
	_ = d.withBook(p, func(b *memory.Book) error {
		found, err := b.Recall(a, memory.Query{Text: query, Limit: maxFoundNotes})
		for _, n := range found.Results {
			if !n.Weak {
				out = append(out, memo{n, link{p.Remembers(), p.Name}})
			}
		}
		return err
	})
	return out
}
