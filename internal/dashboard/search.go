package dashboard

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// maxFound bounds the runs that a search lists.
const maxFound = 100

// search finds runs by their task name and objective, in all projects.
func (d *Dashboard) search(a *asked) (any, error) {
	query := strings.TrimSpace(a.r.URL.Query().Get("q"))
	a.page.Title, a.page.Query = a.lang.Say("Search"), query
	var body struct {
		Query string
		Found []card
		More  bool
	}
	if body.Query = query; query == "" {
		return body, nil
	}
	for _, p := range d.folders() {
		board, err := d.o.Engine.Board(a, address(p), maxBoard, a.lang)
		if err != nil {
			continue // the inbox says that the project cannot be read
		}
		body.More = body.More || board.More
		stages := d.o.Engine.Stages(address(p))
		for _, r := range board.Rows {
			if len(body.Found) < maxFound && (store.Query{Text: query}).Selects(r.Summary) {
				body.Found = append(body.Found, newCard(a, p, stages, r))
			}
		}
	}
	return body, a.Err()
}
