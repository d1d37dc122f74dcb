package audit

import (
	linked "container/list"
	"sync"
)

// Bounds of the texts that are kept, in bytes of their documents; the text of one takes
// several times as much memory.
const (
	maxKept    = 1 << 20
	maxKeptOne = maxKept / 4
)

// kept are the documents of earlier stages that were read last: they do not change while the later
// stages are audited, and each audit is traced to all of them.
var kept = shelf{places: map[string]*linked.Element{}, order: linked.New()}

// shelf holds texts, the one that was asked for last in front.
type shelf struct {
	mu     sync.Mutex
	places map[string]*linked.Element // by document
	order  *linked.List               // of shelved
	size   int
}

type shelved struct {
	document string
	text     *text
}

// read returns the text of a document, which several calls may share.
func (s *shelf) read(document string) *text {
	if found := s.find(document); found != nil {
		return found
	}
	made := readText(document, nil)
	if len(document) > maxKeptOne {
		return made
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places[document] == nil {
		s.places[document] = s.order.PushFront(shelved{document, made})
		s.size += len(document)
	}
	for s.size > maxKept {
		last := s.order.Back()
		oldest := s.order.Remove(last).(shelved).document
		delete(s.places, oldest)
		s.size -= len(oldest)
	}
	return made
}

func (s *shelf) find(document string) *text {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.places[document]
	if at == nil {
		return nil
	}
	s.order.MoveToFront(at)
	return at.Value.(shelved).text
}
