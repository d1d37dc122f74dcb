package trust

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

var places = list[Place]{"folders.json", "folders", lang.T("none of its folders counts"), lang.T("add the folders again")}

// The acts by which a place can be allowed.
const (
	ByTerminal = "terminal"
	ByForm     = "form"
)

// Place is a folder in which the person lets assistants work, with everything below it.
type Place struct {
	// Folder has no links: a folder replaced by a link is another one.
	Folder string `json:"folder"`
	// By is ByTerminal or ByForm.
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Places returns the folders allowed by the person, the oldest first.
func (u UserState) Places() ([]Place, error) { return places.readList(u) }

// AddPlace records a folder. It reports whether it was not recorded before.
func (u UserState) AddPlace(ctx context.Context, p Place) (added bool, err error) {
	p.Folder = PathOf(p.Folder)
	return places.addOrAmend(ctx, u, p, func(have Place) bool { return have.Folder == p.Folder }, func(have *Place) {
		if have.By == ByForm { // typing at a terminal is the stronger act
			have.By = p.By
		}
	})
}

// RemovePlace takes a folder off the record, and reports whether it was on it.
func (u UserState) RemovePlace(ctx context.Context, folder string) (removed bool, err error) {
	n, err := places.remove(ctx, u, func(p Place) bool { return p.Folder == folder || p.Folder == PathOf(folder) })
	return n > 0, err
}
