package engine

import (
	"sync"
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// memory is which revision of each session this program has told its callers of, and
// when, by a count of calls and answers: clocks can be set back. To be told where a
// session is, as by a refusal or a list, is less than to be shown it.
type memory struct {
	count atomic.Int64
	told  sync.Map // key of a caller → told
	shown sync.Map // key of a caller → revision
}

type told struct {
	revision int
	at       int64
}

// caller is one caller of the program, as far as one session goes.
type caller struct {
	*memory
	key string
}

// caller tells sessions apart, and callers: a copy of a project has the same ids, and the
// session that one caller was shown another has not seen.
func (m *memory) caller(p *project.Project, id, client string) caller {
	return caller{m, p.Dir.Path() + "\x00" + id + "\x00" + client}
}

func (c caller) tell(revision int) { c.told.Store(c.key, told{revision, c.count.Add(1)}) }

// show notes the revision that a reply shows. Replies can overtake each other; the newest counts.
func (c caller) show(revision int) {
	c.tell(revision)
	for {
		before, loaded := c.shown.LoadOrStore(c.key, revision)
		if !loaded || before.(int) >= revision || c.shown.CompareAndSwap(c.key, before, revision) {
			return
		}
	}
}

// showedOther reports whether the last document of the session that was shown is of another
// revision.
func (c caller) showedOther(revision int) bool {
	shown, ok := c.shown.Load(c.key)
	return ok && shown != revision
}

// knew reports whether the caller could know where the session is: this program had named its
// revision before the call came in.
func (c caller) knew(revision int, call int64) bool {
	last, _ := c.told.Load(c.key)
	t, ok := last.(told)
	return ok && t.revision == revision && t.at < call
}
