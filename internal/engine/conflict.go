package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// lost is the error of a call that another one came before: it says by whom the
// session was moved, and where it is now.
func (r *run) lost(ctx context.Context, s *workflow.Session) error {
	// Once told that a step was taken, the caller must not lose it again with the power.
	_ = r.project.Backend.Confirm(ctx, s.SessionID)
	return words.Lost(s, r.req.Repeats(s))
}

// key tells sessions apart in the memory, and callers: a copy of a project has the same
// ids, and what one caller was shown another has not seen.
func (r *run) key(sessionID string) string {
	return r.project.Dir.Path() + "\x00" + sessionID + "\x00" + r.req.Client
}

// late reports whether a call that does not fit where the session stands would
// have fitted before another call moved it. That is so if the session moved
// while this call was under way, or moved without this program having told its
// callers; and if its last move was this very step: then the caller has lost
// a race, or repeats a call whose answer it never saw.
func (r *run) late(s *workflow.Session) bool {
	return !r.memory.knew(r.key(s.SessionID), s.Revision, r.call) && !s.Last().At.Before(r.born) || r.req.Repeats(s)
}
