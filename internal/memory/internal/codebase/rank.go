package codebase

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

// The parameters of BM25, and the weights of the score.
const (
	saturation = 0.6
	// chunkBias and fileBias are how much the length of a chunk and of a file counts.
	chunkBias, fileBias = 0.7, 0.2
	// asConcept is the weight of a concept beside a word, ofFile the weight of the file beside the chunk, and inPath
	// how often a word of the path counts.
	asConcept, ofFile, inPath = 0.6, 0.8, 3
	// aside is the weight of a test, an example or a file that is not code.
	aside = 0.45
	// leastPart is the least part of the query in a chunk that is close to it, of which words of no file count less.
	leastPart, asNobodys = 0.25, 0.3
	// maxTerms bounds the terms of a query, whose numbers are bytes, and maxOfFile the places in one file.
	maxTerms, maxOfFile = 256, 3
)

// Parts of the paths of tests and examples, and the ends of the names of files that are not code.
var (
	asideNames = []string{"_test.", ".test.", ".spec.", "/test_", "/test/", "/tests/", "/testdata/", "/__tests__/", "/spec/", "/fixtures/", "/examples/", "/_examples/",
		"/benchmarks/", "/vendor/", "/doc.go", "/license", "/copying", "/notice"}
	codeless = []string{"", ".md", ".mdx", ".rst", ".txt", ".adoc", ".json", ".yml", ".yaml", ".toml", ".lock", ".html", ".css", ".svg", ".xml", ".csv", ".po"}
)

// isAside reports whether a file is a test, an example or not code, by the path.
func isAside(name string) bool {
	name = "/" + strings.ToLower(name)
	return slices.Contains(codeless, path.Ext(name)) || slices.ContainsFunc(asideNames, func(part string) bool { return strings.Contains(name, part) })
}

// board collects the files and chunks with terms of a query.
type board struct {
	isWanted func(name string) bool
	reader   *recall.Terms
	// terms are the terms of the query with their weights, the number of files with each, and the worth of each.
	terms           []uint32
	weights, rarity []float64
	files           []int
	found           []candidate
	// searched, wanted and notText are the numbers of files, words and chunks the numbers in all of them.
	searched, wanted, notText, words, chunks int
}

// candidate is a wanted file with terms of the query.
type candidate struct {
	name  string
	words int
	parts []part
}

// part is a chunk with terms of the query, and pairs of the number of a term and the count.
type part struct {
	chunk
	words  int
	counts []byte
}

func newBoard(t *recall.Terms, query string, isWanted func(string) bool) *board {
	weights := map[uint32]float64{}
	t.Each(query, func(_ int, one recall.Term) {
		weight := 1.0
		if one.IsConcept() {
			weight = asConcept
		}
		weights[termOf(one)] = weight
	})
	b := &board{isWanted: isWanted, reader: t, terms: slices.Sorted(maps.Keys(weights))}
	b.terms = b.terms[:min(len(b.terms), maxTerms)]
	for _, term := range b.terms {
		b.weights = append(b.weights, weights[term])
	}
	b.files, b.rarity = make([]int, len(b.terms)), make([]float64, len(b.terms))
	return b
}

// countFile takes a file into account.
func (b *board) countFile(r record) {
	var c candidate
	seen, chunks := make([]int, len(b.terms)), 0
	r.eachChunk(func(at chunk, words int, terms record) {
		chunks++
		c.words += words
		if p := (part{at, words, b.countTerms(terms)}); p.counts != nil {
			c.parts = append(c.parts, p)
			p.eachTerm(func(t int, _ float64) { seen[t] = 1 })
		}
	})
	if chunks == 0 {
		b.notText++
		return
	}
	b.searched, b.words, b.chunks = b.searched+1, b.words+c.words, b.chunks+chunks
	for t, n := range seen {
		b.files[t] += n
	}
	if c.name = r.name(); !b.isWanted(c.name) {
		return
	}
	if b.wanted++; c.parts != nil {
		b.found = append(b.found, c)
	}
}

// countTerms returns the counts of the query's terms among rising ones.
func (b *board) countTerms(terms record) (counts []byte) {
	t := 0
	for ; len(terms) > 0 && t < len(b.terms); terms = terms[4:] {
		one := uint32(terms.number(0)) // #nosec G115 -- as it was written
		for t < len(b.terms) && b.terms[t]|maxCount < one {
			t++
		}
		if t < len(b.terms) && b.terms[t] == one&^maxCount {
			counts = append(counts, byte(t), byte(one&maxCount))
		}
	}
	return counts
}

func (p part) eachTerm(do func(t int, n float64)) {
	for i := 0; i < len(p.counts); i += 2 {
		do(int(p.counts[i]), float64(p.counts[i+1]))
	}
}

// place is a chunk of a file with a score, and with the part of the query in it, from 0 to 1.
type place struct {
	file string
	chunk
	score, part float64
}

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(other.score, p.score), cmp.Compare(p.file, other.file), cmp.Compare(p.from, other.from))
}

// bestPlaces returns the best places, at most limit.
func (b *board) bestPlaces(limit int) (out []place) {
	whole := 0.0
	for t, n := range b.files {
		b.rarity[t] = b.weights[t] * math.Log(1+(float64(b.searched-n)+0.5)/(float64(n)+0.5))
		if n > 0 {
			whole += b.rarity[t]
		} else {
			whole += asNobodys * b.rarity[t]
		}
	}
	for _, c := range b.found {
		for _, p := range dropOverlaps(b.placesOf(c, whole)) {
			at, _ := slices.BinarySearchFunc(out, p, place.compare)
			out = slices.Insert(out, at, p)
			out = out[:min(len(out), limit)]
		}
	}
	return out
}

// dropOverlaps returns the best places of a file that do not overlap, at most maxOfFile.
func dropOverlaps(places []place) (out []place) {
	for _, p := range places {
		overlaps := func(better place) bool { return p.from < better.to && better.from < p.to }
		if len(out) < maxOfFile && !slices.ContainsFunc(out, overlaps) {
			out = append(out, p)
		}
	}
	return out
}

// placesOf returns the places in a file, the best first; whole is the worth of all terms.
func (b *board) placesOf(c candidate, whole float64) (out []place) {
	counts := make([]float64, len(b.terms))
	for _, p := range c.parts {
		p.eachTerm(func(t int, n float64) {
			if p.to == 0 {
				n *= inPath
			}
			counts[t] += n
		})
	}
	ofWhole, weight := 0.0, 1.0
	for t, n := range counts {
		ofWhole += ofFile * b.rarity[t] * saturateCount(n, c.words, b.words, b.searched, fileBias)
	}
	if isAside(c.name) {
		weight = aside
	}
	for _, p := range c.parts {
		score, has := ofWhole, 0.0
		p.eachTerm(func(t int, n float64) {
			score += b.rarity[t] * saturateCount(n, p.words, b.words, b.chunks, chunkBias)
			has += b.rarity[t]
		})
		if p.to > 0 { // else it is the path
			out = append(out, place{c.name, p.chunk, weight * score, has / whole})
		}
	}
	slices.SortFunc(out, place.compare)
	return out
}

// saturateCount returns the worth of a term with a count in a text of some words; there are all words in a number of texts.
func saturateCount(n float64, words, all, texts int, bias float64) float64 {
	length := float64(words) * float64(texts) / float64(max(all, 1))
	return n * (saturation + 1) / (n + saturation*(1-bias+bias*length))
}
