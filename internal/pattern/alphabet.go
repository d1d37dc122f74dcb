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
	// ascii has the class of each character of one byte. pages has, by the upper bits of the others up
	// to U+FFFF, the number of the page with their classes.
	ascii [utf8.RuneSelf]uint16
	pages [1 << (16 - pageBits)]uint16
	page  [][1 << pageBits]uint16
	// from are the first characters of the ranges of one class, classes their classes.
	from    []rune
	classes []uint16
	// end is the class of the end of a text, the last; kinds are those of the classes.
	end   int
	kinds []kind
	// matches has a bit for each class and each set of characters, setOf the set of an
	// instruction.
	matches [][]uint64
	setOf   []int
}

// pageBits is the size of a page in bits: roughly, so many characters of a script stand side by side.
const pageBits = 6

// fits reports whether an instruction matches a class of characters.
func (a *alphabet) fits(inst uint32, class int) bool {
	set := a.setOf[inst]
	return class != a.end && a.matches[class][set/64]&(1<<(set%64)) != 0
}

// wide returns the class of a character of several bytes.
func (a *alphabet) wide(r rune) int {
	if int(r)>>pageBits >= len(a.pages) {
		return int(a.search(r))
	}
	return int(a.page[a.pages[r>>pageBits]][r&(1<<pageBits-1)])
}

func (a *alphabet) search(r rune) uint16 {
	at, found := slices.BinarySearch(a.from, r)
	if !found {
		at--
	}
	return a.classes[at]
}

func newAlphabet(p program) alphabet {
	a := alphabet{setOf: make([]int, len(p.prog.Inst))}
	sets := a.readSets(p)
	a.cut(p, sets)
	// Ranges of characters that are in the same sets are one class.
	members := make([][]uint64, len(a.from))
	for i := range members {
		members[i] = make([]uint64, len(sets)/64+1)
	}
	for n, set := range sets {
		for i := 0; i < len(set); i += 2 {
			at, _ := slices.BinarySearch(a.from, set[i])
			for ; at < len(a.from) && a.from[at] <= set[i+1]; at++ {
				members[at][n/64] |= 1 << (n % 64)
			}
		}
	}
	known := map[string]uint16{}
	for i, r := range a.from {
		k := p.kindOf(kindOfRune(r))
		key := []byte{byte(k)}
		for _, m := range members[i] {
			key = binary.LittleEndian.AppendUint64(key, m)
		}
		class, ok := known[string(key)]
		if !ok {
			class = uint16(len(a.kinds)) //nolint:gosec // an expression has at most some thousand ranges
			known[string(key)] = class
			a.kinds, a.matches = append(a.kinds, k), append(a.matches, members[i])
		}
		a.classes = append(a.classes, class)
	}
	a.end = len(a.kinds)
	a.kinds = append(a.kinds, atEnd)
	a.index()
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

// readSets returns the sets of characters of the instructions, each as its ranges, once.
func (a *alphabet) readSets(p program) [][]rune {
	var sets [][]rune
	known := map[string]int{}
	for i, inst := range p.prog.Inst {
		var set []rune
		switch inst.Op {
		case syntax.InstRuneAny:
			set = []rune{0, unicode.MaxRune}
		case syntax.InstRuneAnyNotNL:
			set = []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
		case syntax.InstRune, syntax.InstRune1:
			if set = inst.Rune; len(set) == 1 {
				set = []rune{inst.Rune[0], inst.Rune[0]}
				if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 { //nolint:gosec // package syntax keeps it there
					for r := unicode.SimpleFold(set[0]); r != inst.Rune[0]; r = unicode.SimpleFold(r) {
						set = append(set, r, r)
					}
				}
			}
		default:
			continue
		}
		var key []byte
		for _, r := range set {
			key = binary.LittleEndian.AppendUint32(key, uint32(r)) //nolint:gosec // no character is negative
		}
		n, ok := known[string(key)]
		if !ok {
			n = len(sets)
			known[string(key)] = n
			sets = append(sets, set)
		}
		a.setOf[i] = n
	}
	return sets
}

// cut divides the characters into ranges of which each is in a set as a whole or not at all.
func (a *alphabet) cut(p program, sets [][]rune) {
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

// index fills the tables by which a class is looked up.
func (a *alphabet) index() {
	for r := range a.ascii {
		a.ascii[r] = a.search(rune(r))
	}
	whole := map[uint16]uint16{} // the pages of one class alone
	at := 0
	for n := range a.pages {
		first := rune(n << pageBits)
		for at+1 < len(a.from) && a.from[at+1] <= first {
			at++
		}
		one := at+1 == len(a.from) || a.from[at+1] >= first+1<<pageBits
		class := a.classes[at]
		if known, ok := whole[class]; ok && one {
			a.pages[n] = known
			continue
		}
		var page [1 << pageBits]uint16
		for i, k := rune(0), at; int(i) < len(page); i++ {
			for k+1 < len(a.from) && a.from[k+1] <= first+i {
				k++
			}
			page[i] = a.classes[k]
		}
		a.pages[n] = uint16(len(a.page)) //nolint:gosec // one of at most len(a.pages)
		a.page = append(a.page, page)
		if one {
			whole[class] = a.pages[n]
		}
	}
}
