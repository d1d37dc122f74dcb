package recall

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// version begins a packed index. Raise it if texts are taken apart in another way than before
// (TestPackedVersion), or if the form changes.
const version = "recall 3\n"

// digest tells the contents of documents apart.
type digest [sha256.Size]byte

// digestOf needs a buffer, which it returns.
func digestOf(d Doc, buffer []byte) (digest, []byte) {
	all := appendText(binary.AppendVarint(buffer[:0], d.Time), d.Text)
	for _, e := range d.Extra {
		all = appendText(all, e)
	}
	return sha256.Sum256(all), all
}

// Pack makes the index compact, and returns it in the form read by Load: without the texts of the
// documents, but with their words.
func (x *Index) Pack() []byte {
	out := append([]byte(version), x.lexicon.sum()...)
	out = binary.AppendUvarint(out, uint64(len(x.keys)))
	slots, docs, buffer := make([]uint32, len(x.docs)), make([]document, 0, len(x.keys)), []byte(nil)
	for slot, d := range x.docs {
		if d.length < 0 {
			continue
		}
		slots[slot] = uint32(len(docs)) // #nosec G115 -- below 2^24 documents
		x.keys[d.Key] = slots[slot]
		docs = append(docs, d)
		var sum digest
		sum, buffer = digestOf(d.Doc, buffer)
		out = append(appendText(out, d.Key), sum[:]...)
		out = binary.AppendUvarint(out, uint64(d.length))
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(d.norm))
	}
	own := make([]string, len(x.words))
	for text, id := range x.ids {
		own[int(id)-x.packedWords.len()] = text
	}
	var ends, texts []byte
	ids := map[uint32]uint32{}                                   // new numbers of the words in documents
	for id := range uint32(x.packedWords.len() + len(x.words)) { // #nosec G115 -- below 2^32 words
		if len(x.postsOf(id)) > 0 {
			ids[id] = uint32(len(ids)) // #nosec G115 -- below 2^32 words
			if n := x.packedWords.len(); int(id) < n {
				texts = append(texts, x.packedWords.text(id)...)
			} else {
				texts = append(texts, own[int(id)-n]...)
			}
			ends = binary.LittleEndian.AppendUint32(ends, uint32(len(texts))) // #nosec G115 -- of 50,000 notes
		}
	}
	out = appendText(appendText(out, ends), texts)
	var all []entry
	for _, e := range x.entries() {
		moved := entry{e.key, e.list[:0]} // reuses the memory of the list
		if e.key < concept {
			moved.key = feature(ids[uint32(e.key)]) // #nosec G115 -- the number of a word
		}
		for _, p := range e.list {
			if e.key < spelling && int(p.doc()) < len(slots) {
				moved.list = append(moved.list, posting(slots[p.doc()]<<8)|p&255)
			} else if id, ok := ids[uint32(p)]; ok {
				moved.list = append(moved.list, posting(id))
			}
		}
		if len(moved.list) > 0 {
			all = append(all, moved)
		}
	}
	out = appendTable(out, all)
	x.docs, x.free = docs, nil
	r := reader{rest: string(out)}
	x.unpack(&r)
	return out
}

// unpack takes the words and lists from a packed index, in place of the present ones, and returns the
// digests of the packed documents.
func (x *Index) unpack(r *reader) (docs []document, digests []digest, ok bool) {
	if r.readBytes(uint64(len(version))) != version || r.readBytes(sha256.Size) != x.lexicon.sum() {
		return nil, nil, false
	}
	for n := r.readNumber(); n > 0 && !r.broken; n-- {
		d := document{Doc: Doc{Key: r.readText()}}
		var sum digest
		copy(sum[:], r.readBytes(sha256.Size))
		d.length = float32(r.readNumber())
		norm := r.readBytes(4)
		if !r.broken {
			d.norm = math.Float32frombits(binary.LittleEndian.Uint32([]byte(norm)))
		}
		docs, digests = append(docs, d), append(digests, sum)
	}
	w, t := words{r.readText(), r.readText()}, r.readTable()
	if r.broken || r.rest != "" || len(w.ends)%4 != 0 {
		return nil, nil, false
	}
	x.packedWords, x.table, x.words, x.ids, x.known = w, table{packed: t}, nil, map[string]uint32{}, map[string]*stems{}
	return docs, digests, true
}

// Load returns an index of documents with different keys. fresh counts the documents taken apart again or
// dropped, because the packed index did not have them in their present form. A packed index that is
// damaged, or of another version or lexicon, has none.
func Load(l *Lexicon, data []byte, docs []Doc) (x *Index, fresh int) {
	x = New(l)
	r := reader{rest: string(data)}
	packed, digests, ok := x.unpack(&r)
	if !ok {
		packed = nil
	}
	x.docs, x.keys = packed, make(map[string]uint32, len(docs))
	for slot, d := range packed {
		x.keys[d.Key] = uint32(slot) // #nosec G115 -- as many as the text has room for
		x.length += float64(d.length)
	}
	if len(x.keys) < len(packed) {
		return Load(l, nil, docs) // two have one key
	}
	known := make([]bool, len(packed))
	var missing []Doc
	var sum digest
	var buffer []byte
	for _, d := range docs {
		slot, ok := x.keys[d.Key]
		if sum, buffer = digestOf(d, buffer); ok && digests[slot] == sum {
			x.docs[slot].Doc, known[slot] = d, true
		} else {
			missing = append(missing, d)
		}
	}
	fresh = len(missing) + x.dropUnknown(known)
	for _, d := range missing {
		x.Put(d)
	}
	return x, fresh
}

// dropUnknown drops the unknown packed documents, and returns their number. Without their texts it has to look at
// every list.
func (x *Index) dropUnknown(known []bool) (n int) {
	for slot := range known {
		if !known[slot] {
			x.freeSlot(uint32(slot)) // #nosec G115 -- below 2^24 documents
			n++
		}
	}
	if n == 0 {
		return 0
	}
	for _, e := range x.entries() {
		if e.key >= spelling {
			continue
		}
		kept := e.list[:0:0]
		for _, p := range e.list {
			if int(p.doc()) < len(known) && known[p.doc()] {
				kept = append(kept, p)
			}
		}
		if len(kept) < len(e.list) {
			x.set(e.key, kept)
		}
	}
	return n
}
