package trust

import (
	"context"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

const sourcesFile = "sources.json"

// Source is a git repository that the person has added. Its address may have credentials, so
// it is kept with what nobody else may read.
type Source struct {
	URL     string    `json:"url"`
	AddedAt time.Time `json:"added_at"`
}

// sources is the file's form.
type sources struct {
	Sources []Source `json:"sources"`
}

// Sources returns the repositories that the person has added, in the order in which they were.
func (f Folder) Sources() (list []Source, err error) {
	err = f.existing(func(d dir) error {
		list, err = d.sources()
		return err
	})
	return list, err
}

func (d dir) sources() ([]Source, error) {
	var list sources
	if err := d.readJSON(sourcesFile, &list); err != nil {
		return nil, fault.New(fault.Storage, "%s cannot be read, so no repository is used: %w", d.Join(sourcesFile), err).
			WithHint("correct it, or move it away and add the repositories again")
	}
	return list.Sources, nil
}

// AddSource adds a repository, in the place of the one that is the same, if there is one: its
// address may have new credentials. It reports whether there was none.
func (f Folder) AddSource(ctx context.Context, s Source, same func(url string) bool) (added bool, err error) {
	d, err := f.make()
	if err != nil {
		return false, f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	err = d.changeSources(ctx, func(list []Source) []Source {
		at := slices.IndexFunc(list, func(have Source) bool { return same(have.URL) })
		if added = at < 0; added {
			return append(list, s)
		}
		list[at].URL = s.URL
		return list
	})
	return added, f.trouble(err)
}

// RemoveSource removes the repositories that match, and returns how many there were.
func (f Folder) RemoveSource(ctx context.Context, matches func(url string) bool) (removed int, err error) {
	err = f.existing(func(d dir) error {
		return d.changeSources(ctx, func(list []Source) []Source {
			rest := slices.DeleteFunc(slices.Clone(list), func(s Source) bool { return matches(s.URL) })
			removed = len(list) - len(rest)
			return rest
		})
	})
	return removed, err
}

func (d dir) changeSources(ctx context.Context, to func([]Source) []Source) error {
	return change(ctx, d, sourcesFile, d.sources, to, func(list []Source) any { return sources{list} })
}
