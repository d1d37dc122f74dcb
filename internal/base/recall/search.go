package recall

import (
	"cmp"
	"math"
	"slices"
)

// The parameters of BM25 for repetition and length, the weight of the cosine beside it, and the extra
// weight of a document with the whole query. They were chosen on the notes and queries of testdata marked
// as tuned.
const (
	saturation  = 1.2
	lengthBias  = 0.4
	gramsWeight = 5
	wholeness   = 1
)

// Search returns the best documents for a query, best first, at most limit. If keep is not
// nil, it decides by key which documents take part.
func (x *Index) Search(text string, limit int, keep func(key string) bool) []Hit {
	return x.boardFor(text).bestHits(limit, keep, func(h Hit) bool { return h.Coverage > 0 || h.Cosine > 0.1 })
}

func (x *Index) boardFor(text string) *board {
	q := x.readQuery(text)
	b := x.newBoard()
	for _, u := range q.units {
		b.addUnit(u)
	}
	b.addGrams(q.grams)
	return b
}

// board collects the points of all documents for one query.
type board struct {
	*Index
	score, covered, cosine, proof []float32
	whole, possible               float64 // the greatest possible covered and proof of a document
	average                       float64 // length of a document
	// For one unit: the points and the weight of the best reading, and the documents with any.
	value, match []float32
	touched      []uint32
}

func (x *Index) newBoard() *board {
	n := len(x.docs)
	all := make([]float32, 6*n)
	return &board{Index: x, score: all[:n], covered: all[n : 2*n], cosine: all[2*n : 3*n], value: all[3*n : 4*n], match: all[4*n : 5*n], proof: all[5*n:],
		average: max(1, x.length/float64(max(len(x.keys), 1)))}
}

// addUnit counts a unit: each document by its best reading. The unit is as rare as the documents that surely
// have it, because a common guess must not make it common.
func (b *board) addUnit(u unit) {
	for _, r := range u.readings {
		for _, p := range r.posts {
			d := p.doc()
			if b.match[d] == 0 {
				b.touched = append(b.touched, d)
			}
			b.match[d] = max(b.match[d], float32(r.weight))
			n := p.count()
			n *= (saturation + 1) / (n + saturation*(1-lengthBias+lengthBias*float64(b.docs[d].length)/b.average))
			b.value[d] = max(b.value[d], float32(r.weight*n))
		}
	}
	n := 0
	for _, d := range b.touched {
		if b.match[d] >= asSure {
			n++
		}
	}
	if n == 0 {
		n = len(b.touched)
	}
	idf, rare, proof := float32(b.idf(n)), b.rarity(n), b.proofOf(n, u.weak)
	if !u.spare {
		b.whole += rare
	}
	if !u.spare && n > 0 {
		b.possible += float64(proof)
	} else if !u.spare {
		b.possible += float64(proof) * asNobodys
	}
	for _, d := range b.touched {
		b.score[d] += idf * b.value[d]
		if !u.spare {
			b.covered[d] += float32(rare) * b.match[d]
			b.proof[d] += proof * b.match[d]
		}
		b.value[d], b.match[d] = 0, 0
	}
	b.touched = b.touched[:0]
}

// The least proof for a document to belong to a long text: the worth of one word and a half found in no
// other document, or of eight tenths of a word for the best one among few documents. A short text needs six
// tenths of the greatest possible proof, in which words of no document count little. Every word is as rare
// as among fifty documents more, because among five a word is rare by chance, and weak words count less. In
// the projects of testdata, of three to eight notes, a long objective finds 21 of 27 related notes and 4 of
// 157 others (17 and none without the exception for the best one), short objectives 28 of 31, and 3 of 216.
// A missing lesson costs more than a note too many.
const (
	enoughProof = 1.5
	firstProof  = 0.8
	partOfProof = 0.6
	asNobodys   = 0.2
	asWeak      = 0.4
	background  = 50
	// crowded is the number of documents from which on the best one is not an exception.
	crowded = 5000
)

// rarity returns the rarity of a unit in n documents, among background documents more.
func (b *board) rarity(n int) float64 {
	return math.Log(1 + (float64(len(b.keys)+background-n)+0.5)/(float64(n)+0.5))
}

// proofOf returns the proof, from 0 to 1, of a unit in n documents.
func (b *board) proofOf(n int, weak bool) float32 {
	p := b.rarity(n) / b.rarity(1)
	if weak {
		p *= asWeak
	}
	return float32(p)
}

// addGrams adds the cosine of the grams of the query, weighted by their rarity, and of the documents.
func (b *board) addGrams(g features) {
	sum := 0.0
	g.each(func(f feature, n int) {
		posts := b.postsWith(f)
		w := damping(n) * b.idf(len(posts))
		sum += w * w
		for _, p := range posts {
			b.cosine[p.doc()] += float32(w * dampingOf(p))
		}
	})
	norm := float32(math.Sqrt(sum))
	if norm == 0 {
		return
	}
	for d := range b.cosine {
		if b.cosine[d] != 0 {
			b.cosine[d] /= norm * b.docs[d].norm
			b.score[d] += gramsWeight * b.cosine[d]
		}
	}
}

// bestHits returns the highest scores among the documents wanted by keep.
func (b *board) bestHits(limit int, keep func(string) bool, worth func(Hit) bool) []Hit {
	type found struct {
		Hit
		time int64
	}
	order := func(a, c found) int {
		return cmp.Or(cmp.Compare(c.Score, a.Score), cmp.Compare(c.time, a.time), cmp.Compare(a.Key, c.Key))
	}
	if limit <= 0 {
		return []Hit{}
	}
	var top []found
	for d := range b.score {
		doc := &b.docs[d]
		if b.score[d] == 0 || doc.length < 0 {
			continue
		}
		f := found{Hit{Key: doc.Key, Score: float64(b.score[d]), Cosine: min(1, float64(b.cosine[d])), Proof: float64(b.proof[d])}, doc.Time}
		if b.whole > 0 {
			f.Coverage = min(1, float64(b.covered[d])/b.whole)
			f.Score *= 1 + wholeness*f.Coverage
		}
		if len(top) == limit && order(f, top[limit-1]) > 0 {
			continue
		}
		if !worth(f.Hit) || keep != nil && !keep(doc.Key) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, f, order)
		if top = slices.Insert(top, at, f); len(top) > limit {
			top = top[:limit]
		}
	}
	out := make([]Hit, len(top))
	for i := range top {
		out[i] = top[i].Hit
	}
	return out
}

// Similar returns the documents whose spelling is at least this close to a text, closest first, at most
// limit. It looks up the most frequent grams only for documents with most of the others, because no other
// document can be close.
func (x *Index) Similar(text string, limit int, least float64, keep func(key string) bool) []Hit {
	type list struct {
		posts  []posting
		weight float64
	}
	var lists []list
	sum := 0.0
	gramsOf(text).each(func(f feature, n int) {
		lists = append(lists, list{x.postsWith(f), damping(n)})
		sum += damping(n) * damping(n)
	})
	slices.SortStableFunc(lists, func(a, b list) int { return len(a.posts) - len(b.posts) })
	b := x.newBoard()
	rest := sum
	for len(lists) > 0 && rest > min(0.25, least*least)*sum {
		rest -= lists[0].weight * lists[0].weight
		for _, p := range lists[0].posts {
			b.cosine[p.doc()] += float32(lists[0].weight * dampingOf(p))
		}
		lists = lists[1:]
	}
	for d := range b.cosine {
		whole := math.Sqrt(sum) * float64(b.docs[d].norm)
		dot := float64(b.cosine[d])
		if b.cosine[d] = 0; dot == 0 || dot/whole+math.Sqrt(rest/sum) < least {
			continue
		}
		for _, l := range lists {
			if at, _ := slices.BinarySearch(l.posts, newPosting(uint32(d), 0)); at < len(l.posts) && l.posts[at].doc() == uint32(d) { // #nosec G115 -- below 2^24
				dot += l.weight * dampingOf(l.posts[at])
			}
		}
		b.cosine[d] = float32(dot / whole)
		b.score[d] = b.cosine[d]
	}
	return b.bestHits(limit, keep, func(h Hit) bool { return h.Cosine >= least-1e-6 })
}

// Relevant returns the documents that belong to a long text, for example the objective of a task with the
// titles of sprints, the best first. Coverage cannot judge these, because most words of an objective are
// missing even in a fitting note.
func (x *Index) Relevant(text string, limit int, keep func(key string) bool) []Hit {
	b := x.boardFor(text)
	short := b.possible * partOfProof
	// The more documents there are, the more of them share one word with any text.
	crowd := max(0, min(1, math.Log(float64(len(x.keys))/background)/math.Log(crowded/background)))
	first := firstProof + crowd*(enoughProof-firstProof)
	hits := b.bestHits(limit, keep, func(h Hit) bool { return h.Proof > 0 && h.Proof >= min(first, short) })
	if len(hits) == 0 {
		return nil
	}
	best := hits[0].Key
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Key != best && h.Proof < min(enoughProof, short) })
}
