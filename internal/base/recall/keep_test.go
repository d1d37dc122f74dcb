package recall_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

// sameAnswers compares two indexes by many queries: words of the documents, some of them misspelt, and those
// of the judged queries.
func sameAnswers(t *testing.T, about string, many int, got, want *recall.Index, docs []recall.Doc) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Errorf("%s: the index has %d documents, want %d", about, got.Len(), want.Len())
	}
	r := rand.New(rand.NewPCG(5, 6))
	queries := []string{"", "zzz unknown", "数据库 déploiement getUserById"}
	for _, q := range judgedQueries(t, "testdata")[:many/4] {
		queries = append(queries, q.text)
	}
	for len(queries) < many {
		words := strings.Fields(docs[r.IntN(len(docs))].Text)
		from := r.IntN(len(words))
		q := strings.Join(words[from:min(len(words), from+1+r.IntN(6))], " ")
		if at := r.IntN(len(q)); r.IntN(4) == 0 {
			q = q[:at] + "x" + q[at:]
		}
		queries = append(queries, q)
	}
	found := 0
	for _, q := range queries {
		hits := want.Search(q, 10, nil)
		found += len(hits)
		if is := got.Search(q, 10, nil); !reflect.DeepEqual(is, hits) {
			t.Fatalf("%s: Search %q: got %v, want %v", about, q, is, hits)
		}
		if is, hits := got.Relevant(q, 5, nil), want.Relevant(q, 5, nil); !reflect.DeepEqual(is, hits) {
			t.Fatalf("%s: Relevant %q: got %v, want %v", about, q, is, hits)
		}
		if is, hits := got.Similar(q, 5, 0.3, nil), want.Similar(q, 5, 0.3, nil); !reflect.DeepEqual(is, hits) {
			t.Fatalf("%s: Similar %q: got %v, want %v", about, q, is, hits)
		}
	}
	if found < len(queries) {
		t.Errorf("%s: %d queries find %d documents", about, len(queries), found)
	}
}

// changed returns documents of which some are gone, some have other texts, and some are new.
func changed(docs []recall.Doc, seed uint64) (out []recall.Doc) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i, d := range docs {
		switch r.IntN(8) {
		case 0:
			continue
		case 1:
			d.Text += " amended by 登录 of " + docs[(i*7+1)%len(docs)].Text
		case 2:
			d.Extra = append([]string{"retagged"}, d.Extra...)
		case 3:
			d.Time++
		case 4:
			out = append(out, recall.Doc{Key: fmt.Sprint("new", seed, i), Text: "unheardof" + d.Text, Time: 3})
		}
		out = append(out, d)
	}
	return out
}

// TestKeptAnswersAlike: an index that was kept answers as one that takes in the documents as they are now.
func TestKeptAnswersAlike(t *testing.T) {
	docs := append(distractors(300), judgedNotes(t, "testdata")...)
	x := built(docs)
	kept := x.Pack()
	sameAnswers(t, "packed", 500, x, built(docs), docs)
	for seed := range uint64(2) {
		now := changed(docs, seed)
		loaded, fresh := recall.Load(recall.Builtin(), kept, now)
		if fresh < 100 || fresh > 500 {
			t.Errorf("%d documents were taken in or left out", fresh)
		}
		sameAnswers(t, "loaded", 500, loaded, built(now), now)
		docs, kept = now, loaded.Pack()
		sameAnswers(t, "packed again", 100, loaded, built(now), now)
		again, fresh := recall.Load(recall.Builtin(), kept, docs)
		if fresh != 0 {
			t.Errorf("%d documents of the same were taken in", fresh)
		}
		docs = changed(docs, seed+10)
		left := map[string]bool{}
		for _, d := range docs {
			left[d.Key] = true
			again.Put(d)
		}
		for _, d := range now {
			if !left[d.Key] {
				again.Drop(d.Key)
			}
		}
		sameAnswers(t, "changed", 100, again, built(docs), docs)
		kept = again.Pack()
	}
}

// TestKeptIsIgnored: an index that is not whole, or of another version, byte order or lexicon, has nothing
// of the documents.
func TestKeptIsIgnored(t *testing.T) {
	docs := append(distractors(100), judgedNotes(t, "testdata")...)
	kept := built(docs).Pack()
	swapped := []byte(string(kept))
	for at := 0; at+4 <= len(swapped); at += 4 {
		binary.BigEndian.PutUint32(swapped[at:], binary.LittleEndian.Uint32(swapped[at:]))
	}
	own, _ := recall.ParseLexicon([]byte("en|zebra|striped horse"))
	packedBy := func(l *recall.Lexicon) []byte {
		x := recall.New(l)
		for _, d := range docs {
			x.Put(d)
		}
		return x.Pack()
	}
	cases := map[string][]byte{
		"none": nil, "longer": append([]byte(string(kept)), 0), "swapped": swapped, "version": append([]byte("recall 0\n"), kept[9:]...),
		"lexicon": packedBy(recall.Builtin().With(own)), "no lexicon": packedBy(recall.Words),
	}
	for n := 0; n < len(kept); n += 1 + len(kept)/23 {
		cases[fmt.Sprint("cut at ", n)] = kept[:n]
	}
	for name, data := range cases {
		x, fresh := recall.Load(recall.Builtin(), data, docs)
		if fresh != len(docs) {
			t.Errorf("%s: %d of %d documents were taken in", name, fresh, len(docs))
		}
		if name == "swapped" || name == "lexicon" {
			sameAnswers(t, name, 100, x, built(docs), docs)
		}
	}
}

// FuzzLoad checks that no bytes break an index, or make it find a document that is not there.
func FuzzLoad(f *testing.F) {
	docs := append(distractors(5), judgedNotes(f, "testdata")[:5]...)
	kept := built(docs).Pack()
	const head = len("recall 2\n") + 32
	for _, data := range [][]byte{nil, kept[head:], kept[head : len(kept)/2], []byte("\x01\x01a")} {
		f.Add(data, docs[0].Text)
	}
	f.Fuzz(func(t *testing.T, data []byte, query string) {
		x, _ := recall.Load(recall.Builtin(), append(kept[:head:head], data...), docs)
		look := func() {
			t.Helper()
			for _, h := range append(append(x.Search(query, 30, nil), x.Relevant(query, 3, nil)...), x.Similar(query, 3, 0.5, nil)...) {
				there := false
				for _, d := range docs {
					there = there || d.Key == h.Key
				}
				if !there {
					t.Fatalf("%q is found", h.Key)
				}
			}
		}
		look()
		x.Put(recall.Doc{Key: docs[0].Key, Text: query})
		x.Drop(docs[1].Key)
		look()
		x.Pack()
		look()
		if x.Len() != len(docs)-1 {
			t.Errorf("%d documents", x.Len())
		}
	})
}
