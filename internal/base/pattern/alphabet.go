package pattern

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// alphabet puts characters into one class if an expression does not tell them apart.
type alphabet struct {
	// ascii has the class of each character of one byte.
	ascii [utf8.RuneSelf]uint16
	// from are the first characters of the ranges of one class, classes their classes.
	from    []rune
	classes []uint16
	// end is the class of the end of a text, the last; kinds are the kinds of the classes.
	end   int
	kinds []kind
	// matches has a bit for each set of characters, in width numbers for each class.
	matches []uint64
	width   int
}

// isInSet reports whether a class belongs to a set of characters.
func (a *alphabet) isInSet(set uint16, class int) bool {
	return class != a.end && a.matches[class*a.width+int(set/64)]&(1<<(set%64)) != 0
}

// classOf returns the class of a character.
func (a *alphabet) classOf(r rune) uint16 {
	at, found := slices.BinarySearch(a.from, r)
	if !found {
		at--
	}
	return a.classes[at]
}

// newAlphabet returns the alphabet of a program made of some instructions, and notes their sets of
// characters in it.
func newAlphabet(p program, insts []syntax.Inst) *alphabet {
	sets := p.readSets(insts)
	a := &alphabet{width: len(sets)/64 + 1}
	a.cutRanges(p, sets)
	// Ranges of characters in the same sets are one class.
	members := make([]uint64, a.width*len(a.from))
	for n, set := range sets {
		for i := 0; i < len(set); i += 2 {
			at, _ := slices.BinarySearch(a.from, set[i])
			for ; at < len(a.from) && a.from[at] <= set[i+1]; at++ {
				members[at*a.width+n/64] |= 1 << (n % 64)
			}
		}
	}
	known := map[string]uint16{}
	var key []byte
	a.classes = make([]uint16, len(a.from))
	for i, r := range a.from {
		k, in := p.kindOf(kindOfRune(r)), members[i*a.width:][:a.width]
		key = append(key[:0], byte(k))
		for _, m := range in {
			key = binary.LittleEndian.AppendUint64(key, m)
		}
		class, ok := known[string(key)]
		if !ok {
			class = uint16(len(a.kinds)) //nolint:gosec // an expression has at most some thousand ranges
			known[string(key)] = class
			a.kinds, a.matches = append(a.kinds, k), append(a.matches, in...)
		}
		a.classes[i] = class
	}
	a.end = len(a.kinds)
	a.kinds = append(a.kinds, atEnd)
	for r := range a.ascii {
		a.ascii[r] = a.classOf(rune(r))
	}
	return a
}

func kindOfRune(r rune) kind {
	switch {
	case r == '\n':
		return newline
	case syntax.IsWordChar(r):
		return word
	}
	return other
}

// readSets returns the sets of characters of the instructions, each as ranges, once.
func (p *program) readSets(insts []syntax.Inst) [][]rune {
	var sets [][]rune
	known := map[string]uint16{}
	var key []byte
	for i := range insts {
		inst := &insts[i]
		if inst.Op < syntax.InstRune {
			continue
		}
		key = append(key[:0], byte(inst.Op), byte(inst.Arg)) //nolint:gosec // the flags of a character
		for _, r := range inst.Rune {
			key = binary.LittleEndian.AppendUint32(key, uint32(r)) //nolint:gosec // no character is negative
		}
		n, ok := known[string(key)]
		if !ok {
			n = uint16(len(sets)) //nolint:gosec // an expression has at most some thousand sets
			known[string(key)] = n
			sets = append(sets, setOf(inst))
		}
		p.insts[i].set = n
	}
	return sets
}

// setOf returns the characters matched by an instruction, as ranges.
func setOf(inst *syntax.Inst) []rune {
	switch {
	case inst.Op == syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case inst.Op == syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case len(inst.Rune) != 1:
		return inst.Rune
	}
	set := []rune{inst.Rune[0], inst.Rune[0]}
	if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 { //nolint:gosec // package syntax keeps it there
		for r := unicode.SimpleFold(set[0]); r != set[0]; r = unicode.SimpleFold(r) {
			set = append(set, r, r)
		}
	}
	return set
}

// cutRanges divides the characters into ranges, each wholly in or wholly outside a set.
func (a *alphabet) cutRanges(p program, sets [][]rune) {
	a.from = []rune{0, utf8.RuneSelf}
	if p.asked&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		a.from = append(a.from, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	if p.asked&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0 {
		a.from = append(a.from, '\n', '\n'+1)
	}
	for _, set := range sets {
		for i := 0; i < len(set); i += 2 {
			a.from = append(a.from, set[i], min(set[i+1], unicode.MaxRune-1)+1)
		}
	}
	slices.Sort(a.from)
	a.from = slices.Compact(a.from)
}
