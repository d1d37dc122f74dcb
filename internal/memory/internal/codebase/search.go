// Package codebase finds places in the files of a project by words about them. An index in a cache has the terms of each
// file in chunks, without the text, keyed by the size and the time of the file. It can be lost at any time: each search
// compares it with the files, takes in what is new or changed, and reads the text of the results from the files.
//
// The terms are those of package recall, with the words of words.tsv. The score of a chunk is BM25 over the words and concepts of the query, with a
// part of the score of the file; tests and files that are not code count less.
package codebase

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the words
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
)

// Source is a project whose files are searched.
type Source struct {
	Dir *durable.Dir
	// IsClosed reports whether the program may not read in a folder, by the path of the system.
	IsClosed func(folder string) bool
	// Cache is the path of the folder for the indexes; "" keeps none.
	Cache string
	Now   func() time.Time
	// Likeness compares a query with texts by meaning, from -1 to 1; nil if words alone count.
	Likeness func(ctx context.Context, query string, texts []string) ([]float64, error)
	Language lang.Language
}

// Query describes places to find.
type Query struct {
	Text string
	// IsWanted reports whether a file may be in the results.
	IsWanted func(name string) bool
	// Limit is the number of results at most, MaxBytes the size of all in JSON.
	Limit, MaxBytes int
}

// Found are the places that fit a query, the best first.
type Found struct {
	Query   string  `json:"query"`
	Results []Place `json:"results"`
	// Searched is the number of wanted files compared with the query; LeftOut counts others.
	Searched int     `json:"searched"`
	LeftOut  LeftOut `json:"left_out,omitzero"`
	// NothingClose is true if no result has much of the query.
	NothingClose bool `json:"nothing_close,omitempty"`
	// Degraded names the parts of the search that failed.
	Degraded string `json:"degraded,omitempty"`
	Note     string `json:"note"`
}

// Place is a part of a file, by the first and the last line.
type Place struct {
	File string `json:"file"`
	From int    `json:"from"`
	To   int    `json:"to"`
	// Name is the declaration or heading, if there is one.
	Name  string  `json:"name,omitempty"`
	Score float64 `json:"score"`
	// Text has the best lines, at most 12, without credentials; TextFrom is the first of them.
	TextFrom int    `json:"text_from"`
	Text     string `json:"text"`
}

const (
	// compared is how many places are ranked, and compared by meaning. rankOffset is how little the first ranks differ
	// when the orders by words and by meaning are joined.
	compared, rankOffset = 60, 60
	// leastLike is the least likeness of a place that is close to the query.
	leastLike = 0.5
)

// Search finds the places that fit a query. New and changed files are taken in before, for at most 20 seconds; the ones
// left are counted.
func (s Source) Search(ctx context.Context, q Query) (out Found, err error) {
	until := s.Now().Add(patience)
	l := &list{dir: s.Dir, isClosed: s.IsClosed, files: map[string]state{}, linked: map[string]bool{}}
	if err := l.addFolder(ctx, ".", 0); err != nil {
		return out, err
	}
	words, head := lexicon()
	b := newBoard(recall.NewTerms(words), q.Text, q.IsWanted)
	x := index{list: l, now: s.Now, until: until, terms: b.reader, visit: b.countFile, head: head}
	unkept := x.refreshIn(ctx, s.Cache, s.Dir.Path())
	if err := ctx.Err(); err != nil {
		return out, err
	}
	l.left.NotIndexed, l.left.NotText = len(l.files), b.notText
	out = Found{Query: untrusted.Shown(q.Text, len(q.Text)), Results: []Place{}, Searched: b.wanted, LeftOut: l.left, NothingClose: true}
	var problems []string
	if l.failure != nil {
		problems = append(problems, s.Language.Say("git could not list the files, so ignored ones are among them and hidden ones are not: %v", l.failure))
	}
	if unkept != nil {
		problems = append(problems, s.Language.Say("the index cannot be kept, so each search reads all files: %v", unkept))
	}
	shows := shower{s.Dir, b}
	places := b.bestPlaces(compared)
	if s.Likeness != nil && len(places) > 0 {
		if places, err = s.joinMeaning(ctx, out.Query, shows, places); err != nil {
			problems = append(problems, s.Language.Say("found by words only: %v", err))
		}
	}
	out.Degraded = strings.Join(problems, "; ")
	for _, p := range places {
		shown, _, ok := shows.showPlace(p)
		if !ok {
			continue // it has changed since
		}
		out.Results = append(out.Results, shown)
		for first := &out.Results[0]; len(out.Results) == 1 && first.Text != "" && sizeOf(out) > q.MaxBytes; {
			first.Text = visible.Head(first.Text, len(first.Text)/2)
		}
		if sizeOf(out) > q.MaxBytes {
			out.Results = out.Results[:len(out.Results)-1]
			break
		}
		out.NothingClose = out.NothingClose && p.part < leastPart
		if len(out.Results) == q.Limit {
			break
		}
	}
	return out, nil
}

//go:embed words.tsv
var wordsText []byte

// lexicon returns the words known to an index, and the beginning of an index with them.
var lexicon = sync.OnceValues(func() (words *recall.Lexicon, head string) {
	own, _ := recall.ParseLexicon(wordsText)
	return recall.Builtin().With(own), version + recall.Builtin().Sum() + own.Sum()
})

// sizeOf returns the size of an answer in JSON, as replies have it.
func sizeOf(f Found) int {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(f) // of texts and numbers
	return data.Len()
}

// refreshIn refreshes the index in a cache for the project at a path.
func (x *index) refreshIn(ctx context.Context, cache, project string) (err error) {
	if cache != "" {
		if err = os.MkdirAll(cache, 0o700); err == nil {
			x.cache, err = durable.OpenPrivateDir(cache)
		}
		if err == nil {
			defer func() { _ = x.cache.Close() }() // nothing is written any more
		}
	}
	sum := sha256.Sum256([]byte(project))
	x.name = hex.EncodeToString(sum[:16])
	return cmp.Or(x.refreshFiles(ctx), err)
}

// joinMeaning orders places by both ranks, by words and by meaning.
func (s Source) joinMeaning(ctx context.Context, query string, shows shower, places []place) ([]place, error) {
	var texts []string
	places = slices.DeleteFunc(places, func(p place) bool {
		_, text, ok := shows.showPlace(p)
		if ok {
			texts = append(texts, p.file+"\n"+text)
		}
		return !ok
	})
	likeness, err := s.Likeness(ctx, query, texts)
	if err != nil {
		return places, err
	}
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(likeness[j], likeness[i]) })
	for rank, i := range order {
		places[i].score = 1/float64(rankOffset+i) + 1/float64(rankOffset+rank)
		if likeness[i] >= leastLike {
			places[i].part = 1
		}
	}
	slices.SortFunc(places, place.compare)
	return places, nil
}
