package recall

import "slices"

// spellings finds words by common letters: it has the words for each three neighbouring letters.
type spellings map[uint32][]uint32

// asPrefix is the likeness of a word to one that begins with it.
const asPrefix = 0.6

// shortest is the least number of letters of a word that is found by a similar spelling.
const shortest = 4

func (s spellings) add(word string, id uint32) {
	if !spelt(word) {
		return
	}
	threes(word, func(g uint32) {
		if list := s[g]; len(list) == 0 || list[len(list)-1] != id {
			s[g] = append(list, id)
		}
	})
}

// spelt reports whether a word is of letters only, and long enough to be misspelt.
func spelt(word string) bool {
	n := 0
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return false
		}
		n++
	}
	return n >= shortest
}

// find calls f with the words that share groups of three letters with this one, and their number.
func (s spellings) find(word string, f func(id uint32, shared int)) {
	var ids []uint32
	threes(word, func(g uint32) { ids = append(ids, s[g]...) })
	slices.Sort(ids)
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n] == ids[0] {
			n++
		}
		f(ids[0], n)
		ids = ids[n:]
	}
}

// The numbers of groups are hashes by the method of Fowler, Noll and Vo (FNV-1a).
const (
	hashBasis = 2166136261
	hashPrime = 16777619
)

func hash(h uint32, r rune) uint32 { return (h ^ uint32(r)) * hashPrime } // #nosec G115 -- runes are not negative

// threes calls f with a number for each three neighbouring letters of a word, whose beginning and end
// count as letters.
func threes(word string, f func(uint32)) {
	n := 0
	var a, b rune = 0, ' '
	for _, r := range word + " " {
		if n++; n > 1 {
			f(hash(hash(hash(hashBasis, a), b), r))
		}
		a, b = b, r
	}
}

// likeness judges two spellings from 0 to 1: by the letters that they share, or by the number of slips
// between them if the query's word is unknown.
func likeness(query, known string, shared int, unknown bool) float64 {
	dice := 2 * float64(shared) / float64(len(query)+len(known))
	best := 0.0
	if dice >= 0.6 {
		best = dice
	}
	if !unknown {
		return best
	}
	if slips := distance(query, known); slips == 1 || slips == 2 && len(query) >= 7 {
		best = max(best, 1-float64(slips)/float64(len(query)))
	}
	return best
}

// distance counts the letters to add, remove, change or swap with their neighbour. It is 3 if there
// are more than 2.
func distance(a, b string) int {
	if d := len(a) - len(b); d > 2 || d < -2 {
		return 3
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		least := next[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d := min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = d
			least = min(least, d)
		}
		if least > 2 {
			return 3
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], 3)
}
