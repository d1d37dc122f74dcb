package trust

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// The added repositories are kept here because of their addresses, which may contain credentials: only the owner
// can read the folder.
var sources = list[Source]{"sources.json", "sources", lang.T("no repository is used"), lang.T("add the repositories again")}

// Source is a git repository added by the person.
type Source struct {
	URL     string    `json:"url"`
	AddedAt time.Time `json:"added_at"`
}

// Sources returns the repositories added by the person, in the order of adding.
func (u UserState) Sources() ([]Source, error) { return sources.readList(u) }

// AddSource adds a repository, or replaces the address of the same one: it may have new credentials. It reports
// whether there was none.
func (u UserState) AddSource(ctx context.Context, s Source, same func(url string) bool) (added bool, err error) {
	return sources.addOrAmend(ctx, u, s, func(have Source) bool { return same(have.URL) }, func(have *Source) { have.URL = s.URL })
}

// RemoveSource removes the matching repositories, and returns their number.
func (u UserState) RemoveSource(ctx context.Context, matches func(url string) bool) (removed int, err error) {
	return sources.remove(ctx, u, func(s Source) bool { return matches(s.URL) })
}
