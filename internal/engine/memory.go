package engine

import (
	"sync"
	"sync/atomic"
)

// memory is which revision of each session this program has told its callers of, and
// when, by a count of calls and answers: clocks can be set back. To be told where a
// session stands, as by a refusal or a list, is less than to be shown it.
type memory struct {
	count atomic.Int64
	told  sync.Map // key of the session → told
	shown sync.Map // key of the session → revision
}

type told struct {
	revision int
	at       int64
}

func (m *memory) tell(key string, revision int) { m.told.Store(key, told{revision, m.count.Add(1)}) }

// show notes what a reply shows. Replies can overtake each other; the newest counts.
func (m *memory) show(key string, revision int) {
	m.tell(key, revision)
	for {
		before, loaded := m.shown.LoadOrStore(key, revision)
		if !loaded || before.(int) >= revision || m.shown.CompareAndSwap(key, before, revision) {
			return
		}
	}
}
