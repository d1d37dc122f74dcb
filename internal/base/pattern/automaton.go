package pattern

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// automaton decides whether a text has a match. It is the deterministic automaton of the program compiled
// by package syntax from an expression. Each state is made when a text first leads to it.
type automaton struct {
	program
	*alphabet
	first atomic.Pointer[state]

	// The fields below serve to make states, by one goroutine at a time.
	mu     sync.Mutex
	states map[string]*state
	size   int
	begins map[begin]threads
	// set has the threads behind a step, passed the conditions checked on the way.
	set, passed sparse
}

// state is the state of an automaton between two characters of a text.
type state struct {
	// next has the state behind each class of characters; the last is the state behind the end.
	next []atomic.Pointer[state]
	// threads are the instructions to match the next character, and the conditions on the way to them; last
	// is the kind of the character before.
	threads threads
	last    kind
}

// threads are instructions in their order, each once.
type threads []uint32

// matched and lost are the final states: no text leads out of them.
var matched, lost = new(state), new(state)

// begin has the facts for the next instructions of a match from here on.
type begin struct {
	holds syntax.EmptyOp
	class int
}

// Bounds of an automaton.
const (
	// maxSize is the size of all states in bytes, roughly, beyond which they are forgotten and made again.
	maxSize = 128 << 10
	// maxMade is the number of new steps for one text. If a text needs more, package regexp is faster.
	maxMade = 2000
)

func newAutomaton(source string) *automaton {
	p, prog := compile(source)
	a := &automaton{program: p, begins: map[begin]threads{}, set: newSparse(len(p.insts)), passed: newSparse(len(p.insts))}
	a.alphabet = newAlphabet(p, prog.Inst)
	a.forgetStates()
	return a
}

// forgetStates leaves only the first state.
func (a *automaton) forgetStates() {
	a.states, a.size = map[string]*state{}, 0
	a.first.Store(a.stateOf(nil, a.kindOf(atBegin)))
}

// match reports whether s has a match; known is false if finding out would take too much.
func (a *automaton) match(s string) (matches, known bool) {
	at, made := a.first.Load(), 0
	for i := 0; i < len(s); {
		var class int
		if c := s[i]; c < utf8.RuneSelf {
			class = int(a.ascii[c])
			i++
		} else {
			r, size := utf8.DecodeRuneInString(s[i:])
			class = int(a.classOf(r))
			i += size
		}
		next := at.next[class].Load()
		if next == nil {
			if made++; made > maxMade {
				return false, false
			}
			next = a.makeStep(at, class)
		}
		if next == matched || next == lost {
			return next == matched, true
		}
		at = next
	}
	next := at.next[a.end].Load()
	if next == nil {
		next = a.makeStep(at, a.end)
	}
	return next == matched, true
}

// makeStep makes the state behind a class of characters.
func (a *automaton) makeStep(from *state, class int) *state {
	a.mu.Lock()
	defer a.mu.Unlock()
	if next := from.next[class].Load(); next != nil {
		return next
	}
	if a.size > maxSize {
		a.forgetStates()
	}
	next := a.stateBehind(from, class)
	from.next[class].Store(next)
	return next
}

func (a *automaton) stateBehind(from *state, class int) *state {
	holds := conditionsBetween(from.last, a.kinds[class])
	var begun threads
	if !a.anchored || from.last == atBegin {
		begun = a.firstThreads(holds, class)
	}
	a.set.clear()
	a.passed.clear()
	for _, thread := range from.threads {
		a.followThread(thread, holds, class)
	}
	for _, thread := range begun {
		a.set.add(thread)
	}
	switch {
	case a.set.has(a.match1):
		return matched
	case class == a.end || a.anchored && len(a.set.list) == 0:
		return lost
	}
	return a.stateOf(a.set.toThreads(), a.kinds[class])
}

// followThread adds the instructions behind a thread to the set if the thread matches the class of characters and
// the conditions on the way hold. If the expression ends before the character, it adds the end.
func (a *automaton) followThread(thread uint32, holds syntax.EmptyOp, class int) {
	inst := a.insts[thread]
	switch {
	case inst.op == syntax.InstMatch:
		a.set.add(thread)
	case inst.op == syntax.InstEmptyWidth:
		if syntax.EmptyOp(inst.arg)&^holds == 0 && !a.passed.has(thread) { //nolint:gosec // package syntax keeps it there
			a.passed.add(thread)
			for _, t := range a.reachableFrom(inst.out) {
				a.followThread(t, holds, class)
			}
		}
	case a.isInSet(inst.set, class):
		for _, t := range a.reachableFrom(inst.out) {
			a.set.add(t)
		}
	}
}

// firstThreads returns the next instructions of a match which begins before a class of characters.
func (a *automaton) firstThreads(holds syntax.EmptyOp, class int) threads {
	key := begin{holds & a.asked, class}
	begun, known := a.begins[key]
	if !known {
		a.set.clear()
		a.passed.clear()
		for _, t := range a.reachableFrom(a.start) {
			a.followThread(t, holds, class)
		}
		begun = a.set.toThreads()
		a.begins[key] = begun
	}
	return begun
}

// stateOf returns the state of some threads, the same one for the same threads.
func (a *automaton) stateOf(threads threads, last kind) *state {
	key := make([]byte, 0, 1+2*len(threads))
	key = append(key, byte(last))
	for _, t := range threads {
		key = binary.AppendUvarint(key, uint64(t))
	}
	if s := a.states[string(key)]; s != nil {
		return s
	}
	s := &state{next: make([]atomic.Pointer[state], a.end+1), threads: threads, last: last}
	a.states[string(key)] = s
	a.size += 64 + 8*len(s.next) + 6*len(threads)
	return s
}

// sparse is a set of instructions.
type sparse struct {
	list  threads
	place []uint32
}

func newSparse(n int) sparse { return sparse{place: make([]uint32, n)} }

func (s *sparse) clear() { s.list = s.list[:0] }

func (s *sparse) has(t uint32) bool {
	at := s.place[t]
	return int(at) < len(s.list) && s.list[at] == t
}

func (s *sparse) add(t uint32) {
	if !s.has(t) {
		s.place[t] = uint32(len(s.list)) //nolint:gosec // instructions are numbered in 32 bits
		s.list = append(s.list, t)
	}
}

func (s *sparse) toThreads() threads {
	out := slices.Clone(s.list)
	slices.Sort(out)
	return out
}
