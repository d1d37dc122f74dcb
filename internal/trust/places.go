package trust

import (
	"context"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

const placesFile = "folders.json"

// By which act a place was allowed.
const (
	ByTerminal = "terminal"
	ByForm     = "form"
)

// Place is a folder in which the person lets assistants work, with what lies below it.
type Place struct {
	// Folder has no links: one that becomes a link is another.
	Folder string `json:"folder"`
	// By is ByTerminal or ByForm.
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// places is the file's form.
type places struct {
	Folders []Place `json:"folders"`
}

// Places returns the folders that the person has allowed, the oldest first.
func (f Folder) Places() (list []Place, err error) {
	err = f.existing(func(d dir) error {
		list, err = d.places()
		return err
	})
	return list, err
}

func (d dir) places() ([]Place, error) {
	var list places
	if err := d.readJSON(placesFile, &list); err != nil {
		return nil, fault.New(fault.Storage, "%s cannot be read, so none of its folders counts: %w", d.Join(placesFile), err).
			WithHint("correct it, or move it away and add the folders again")
	}
	return list.Folders, nil
}

// AddPlace records a folder. It reports whether it was not recorded before.
func (f Folder) AddPlace(ctx context.Context, p Place) (added bool, err error) {
	d, err := f.make()
	if err != nil {
		return false, f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	p.Folder = resolve(p.Folder)
	err = d.changePlaces(ctx, func(list []Place) []Place {
		at := slices.IndexFunc(list, func(have Place) bool { return have.Folder == p.Folder })
		if added = at < 0; added {
			return append(list, p)
		}
		if list[at].By == ByForm { // what is typed at a terminal says more
			list[at].By = p.By
		}
		return list
	})
	return added, f.trouble(err)
}

// RemovePlace takes a folder off the record, and reports whether it was on it.
func (f Folder) RemovePlace(ctx context.Context, folder string) (removed bool, err error) {
	err = f.existing(func(d dir) error {
		return d.changePlaces(ctx, func(list []Place) []Place {
			rest := slices.DeleteFunc(slices.Clone(list), func(p Place) bool { return p.Folder == folder || p.Folder == resolve(folder) })
			removed = len(rest) < len(list)
			return rest
		})
	})
	return removed, err
}

func (d dir) changePlaces(ctx context.Context, to func([]Place) []Place) error {
	return change(ctx, d, placesFile, d.places, to, func(list []Place) any { return places{list} })
}
