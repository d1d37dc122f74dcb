package trust

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// The added repositories are kept here because of their addresses, which may contain
// credentials: the folder is readable by its owner alone.
var sources = list[Source]{"sources.json", "sources", lang.T("no repository is used"), lang.T("add the repositories again")}

// Source is a git repository that the person has added.
type Source struct {
	URL     string    `json:"url"`
	AddedAt time.Time `json:"added_at"`
}

// Sources returns the repositories that the person has added, in that order.
func (u UserState) Sources() ([]Source, error) { return sources.get(u) }

// AddSource adds a repository, or replaces the address of the one that is the same: it may
// have new credentials. It reports whether there was none.
func (u UserState) AddSource(ctx context.Context, s Source, same func(url string) bool) (added bool, err error) {
	return sources.put(ctx, u, s, func(have Source) bool { return same(have.URL) }, func(have *Source) { have.URL = s.URL })
}

// RemoveSource removes the repositories that match, and returns how many there were.
func (u UserState) RemoveSource(ctx context.Context, matches func(url string) bool) (removed int, err error) {
	return sources.remove(ctx, u, func(s Source) bool { return matches(s.URL) })
}
