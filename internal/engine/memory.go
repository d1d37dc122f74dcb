package engine

import (
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// maxRemembered bounds the sessions remembered for callers, in a few megabytes. A caller of a forgotten session is
// treated as if it had seen another revision.
const maxRemembered = 10_000

// memory keeps the revision of each session last sent to each caller, and the time, by a count of calls and
// answers: clocks can be set back. A caller told the place of a session, for example by a refusal or a list, has
// not been shown the session.
type memory struct {
	count atomic.Int64
	told  *recent.Map[string, told] // by the key of a caller
	shown *recent.Map[string, int]  // revisions, by the key of a caller
}

func newMemory(limit int) *memory {
	return &memory{told: recent.New[string, told](limit), shown: recent.New[string, int](limit)}
}

type told struct {
	revision int
	at       int64
}

// caller is one caller of the program, for one session.
type caller struct {
	*memory
	key string
}

// callerOf tells sessions apart, and callers: a copy of a project has the same ids, and one caller has not seen
// the sessions shown to another.
func (m *memory) callerOf(p *project.Project, id, client string) caller {
	return caller{m, p.Place() + "\x00" + id + "\x00" + client}
}

func (c caller) noteTold(revision int) { c.told.Put(c.key, told{revision, c.count.Add(1)}) }

// noteShown notes the revision in a reply. Replies can overtake each other; the newest counts.
func (c caller) noteShown(revision int) {
	c.noteTold(revision)
	c.shown.Change(c.key, func(before int, _ bool) int { return max(before, revision) })
}

// showedOther reports whether the document of the session shown last is of another revision, or may be.
func (c caller) showedOther(revision int) bool {
	shown, ok := c.shown.Get(c.key)
	return ok && shown != revision || !ok && c.shown.Forgot()
}

// wasShown reports whether the document of the session shown last is of this revision.
func (c caller) wasShown(revision int) bool {
	shown, ok := c.shown.Get(c.key)
	return ok && shown == revision
}

// couldKnow reports whether the caller could know the state of the session: this program had named the revision
// before the call came in.
func (c caller) couldKnow(revision int, call int64) bool {
	t, ok := c.told.Get(c.key)
	return ok && t.revision == revision && t.at < call
}
