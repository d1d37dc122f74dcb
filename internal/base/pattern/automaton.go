package pattern

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// automaton decides whether a text has a match. It is the deterministic automaton of the program
// that package syntax compiles an expression to, of which each state is made when a text first
// leads to it.
type automaton struct {
	program
	*alphabet
	first atomic.Pointer[state]

	// The fields below serve to make states, by one goroutine at a time.
	mu     sync.Mutex
	states map[string]*state
	size   int
	begins map[begin]threads
	// set has the threads behind a step, passed the conditions that were looked at on the way.
	set, passed sparse
}

// state is the state of an automaton between two characters of a text.
type state struct {
	// next has the state behind each class of characters; the last is that behind the end.
	next []atomic.Pointer[state]
	// threads are the instructions that the next character is to match, and the conditions on
	// the way to such; last is the kind of the character before.
	threads threads
	last    kind
}

// threads are instructions in their order, each once.
type threads []uint32

// matched and lost are the states that no text leads out of.
var matched, lost = new(state), new(state)

// begin has the facts that decide the next instructions of a match that begins here.
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
	a.forget()
	return a
}

// forget leaves only the first state.
func (a *automaton) forget() {
	a.states, a.size = map[string]*state{}, 0
	a.first.Store(a.state(nil, a.kindOf(atBegin)))
}

// match reports whether s has a match; known is false if it would take too much to find out.
func (a *automaton) match(s string) (matches, known bool) {
	at, made := a.first.Load(), 0
	for i := 0; i < len(s); {
		var class int
		if c := s[i]; c < utf8.RuneSelf {
			class = int(a.ascii[c])
			i++
		} else {
			r, size := utf8.DecodeRuneInString(s[i:])
			class = int(a.class(r))
			i += size
		}
		next := at.next[class].Load()
		if next == nil {
			if made++; made > maxMade {
				return false, false
			}
			next = a.step(at, class)
		}
		if next == matched || next == lost {
			return next == matched, true
		}
		at = next
	}
	next := at.next[a.end].Load()
	if next == nil {
		next = a.step(at, a.end)
	}
	return next == matched, true
}

// step makes the state behind a class of characters.
func (a *automaton) step(from *state, class int) *state {
	a.mu.Lock()
	defer a.mu.Unlock()
	if next := from.next[class].Load(); next != nil {
		return next
	}
	if a.size > maxSize {
		a.forget()
	}
	next := a.behind(from, class)
	from.next[class].Store(next)
	return next
}

func (a *automaton) behind(from *state, class int) *state {
	holds := between(from.last, a.kinds[class])
	var begun threads
	if !a.anchored || from.last == atBegin {
		begun = a.beginning(holds, class)
	}
	a.set.clear()
	a.passed.clear()
	for _, thread := range from.threads {
		a.follow(thread, holds, class)
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
	return a.state(a.set.threads(), a.kinds[class])
}

// follow adds the instructions behind a thread to the set if it matches the class of characters and the
// conditions on its way hold. If the expression ends before the character, it adds its end.
func (a *automaton) follow(thread uint32, holds syntax.EmptyOp, class int) {
	inst := a.insts[thread]
	switch {
	case inst.op == syntax.InstMatch:
		a.set.add(thread)
	case inst.op == syntax.InstEmptyWidth:
		if syntax.EmptyOp(inst.arg)&^holds == 0 && !a.passed.has(thread) { //nolint:gosec // package syntax keeps it there
			a.passed.add(thread)
			for _, t := range a.reach(inst.out) {
				a.follow(t, holds, class)
			}
		}
	case a.fits(inst.set, class):
		for _, t := range a.reach(inst.out) {
			a.set.add(t)
		}
	}
}

// beginning returns the next instructions of a match that begins before a class of characters.
func (a *automaton) beginning(holds syntax.EmptyOp, class int) threads {
	key := begin{holds & a.asked, class}
	begun, known := a.begins[key]
	if !known {
		a.set.clear()
		a.passed.clear()
		for _, t := range a.reach(a.start) {
			a.follow(t, holds, class)
		}
		begun = a.set.threads()
		a.begins[key] = begun
	}
	return begun
}

// state returns the state of some threads, the same one for the same threads.
func (a *automaton) state(threads threads, last kind) *state {
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

func (s *sparse) threads() threads {
	out := slices.Clone(s.list)
	slices.Sort(out)
	return out
}
