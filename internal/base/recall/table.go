package recall

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// table has a list of rising numbers for each key. The unchanged lists are packed in a text, and decoded
// only when somebody asks for them.
type table struct {
	packed packed
	live   map[feature]*[]posting
}

// packed is a table as a text: keys in rising order, eight bytes each; four bytes each for the end of the
// key's list; and the lists, each number as the distance from the one before it. All numbers have the least
// byte first.
type packed struct{ keys, ends, lists string }

func (t *table) get(f feature) []posting {
	if list := t.live[f]; list != nil {
		return *list
	}
	if at, ok := t.packed.findKey(f); ok {
		return t.packed.listAt(at)
	}
	return nil
}

func (t *table) set(f feature, list []posting) {
	if len(list) == 0 {
		if _, ok := t.packed.findKey(f); !ok {
			delete(t.live, f)
			return
		}
	}
	if t.live == nil {
		t.live = map[feature]*[]posting{}
	}
	t.live[f] = &list
}

// entry is a key with its list.
type entry struct {
	key  feature
	list []posting
}

// entries returns all keys with a list, in no order.
func (t *table) entries() (out []entry) {
	for at := range t.packed.len() {
		if f := t.packed.keyAt(at); t.live[f] == nil {
			out = append(out, entry{f, t.get(f)})
		}
	}
	for f, list := range t.live {
		out = append(out, entry{f, *list})
	}
	return slices.DeleteFunc(out, func(e entry) bool { return len(e.list) == 0 })
}

// addWord adds the number of a word to the groups of the word's letters. It must be greater than the
// numbers there.
func (t *table) addWord(word string, id uint32) {
	if !canBeMisspelt(word) {
		return
	}
	eachTrigram(word, func(g uint32) {
		if list := t.get(spelling | feature(g)); len(list) == 0 || list[len(list)-1] != posting(id) {
			t.set(spelling|feature(g), append(list, posting(id)))
		}
	})
}

// eachWordAlike calls f with the words that share groups of three letters with this one, and the number of shared
// groups.
func (t *table) eachWordAlike(word string, f func(id uint32, shared int)) {
	var ids []posting
	eachTrigram(word, func(g uint32) { ids = append(ids, t.get(spelling|feature(g))...) })
	slices.Sort(ids)
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n] == ids[0] {
			n++
		}
		f(uint32(ids[0]), n)
		ids = ids[n:]
	}
}

func (p *packed) len() int { return len(p.keys) / 8 }

func (p *packed) keyAt(at int) feature {
	k := p.keys[8*at : 8*at+8]
	return feature(k[0]) | feature(k[1])<<8 | feature(k[2])<<16 | feature(k[3])<<24 |
		feature(k[4])<<32 | feature(k[5])<<40 | feature(k[6])<<48 | feature(k[7])<<56
}

func (p *packed) findKey(f feature) (at int, ok bool) {
	from, to := 0, p.len()
	for from < to {
		if at = (from + to) / 2; p.keyAt(at) < f {
			from = at + 1
		} else {
			to = at
		}
	}
	return from, from < p.len() && p.keyAt(from) == f
}

// endOf returns the end of a part by its number; zero for the number before the first.
func endOf(ends string, at int) int {
	if at < 0 {
		return 0
	}
	e := ends[4*at : 4*at+4]
	return int(uint32(e[0]) | uint32(e[1])<<8 | uint32(e[2])<<16 | uint32(e[3])<<24)
}

// partAt returns a part of a text by the ends of all; "" if they are not in order.
func partAt(text, ends string, at int) string {
	from, to := endOf(ends, at-1), endOf(ends, at)
	if from > to || to > len(text) {
		return ""
	}
	return text[from:to]
}

// listAt returns the list at a place, up to the first number that does not rise.
func (p *packed) listAt(at int) (out []posting) {
	r := reader{rest: partAt(p.lists, p.ends, at)}
	out = make([]posting, 0, len(r.rest)/2+1)
	last := uint64(0)
	for r.rest != "" {
		step := r.readNumber()
		if last += step; r.broken || step > math.MaxUint32 || last > math.MaxUint32+1 || step == 0 {
			return out
		}
		out = append(out, posting(last-1)) // #nosec G115 -- bounded above
	}
	return out
}

// appendTable appends entries to a text.
func appendTable(to []byte, all []entry) []byte {
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	var keys, ends, lists []byte
	for _, e := range all {
		keys = binary.LittleEndian.AppendUint64(keys, uint64(e.key))
		last := uint64(0)
		for _, p := range e.list {
			lists = binary.AppendUvarint(lists, uint64(p)+1-last)
			last = uint64(p) + 1
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(lists))) // #nosec G115 -- of 50,000 notes
	}
	return appendText(appendText(appendText(to, keys), ends), lists)
}

// appendText appends the length of a text, and the text.
func appendText[T string | []byte](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// reader reads what was appended to a text. If the text is cut, it is broken.
type reader struct {
	rest   string
	broken bool
}

func (r *reader) readNumber() (n uint64) {
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		if n |= uint64(r.rest[i]&127) << (7 * i); r.rest[i] < 128 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.rest, r.broken = "", true
	return 0
}

func (r *reader) readText() string { return r.readBytes(r.readNumber()) }

func (r *reader) readBytes(n uint64) (text string) {
	if n > uint64(len(r.rest)) {
		r.rest, r.broken = "", true
		return ""
	}
	text, r.rest = r.rest[:n], r.rest[n:]
	return text
}

func (r *reader) readTable() packed {
	p := packed{r.readText(), r.readText(), r.readText()}
	if len(p.keys)%8 != 0 || len(p.ends) != len(p.keys)/2 {
		r.broken = true
	}
	return p
}
