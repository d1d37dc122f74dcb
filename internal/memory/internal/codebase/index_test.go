package codebase_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// resultsOf returns an answer as JSON.
func (w *tree) resultsOf(t testing.TB, question string) string {
	t.Helper()
	data, err := json.Marshal(w.find(t, question))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBrokenIndex: whatever the index has become, the answer is the same, and the index is whole again afterwards.
func TestBrokenIndex(t *testing.T) {
	t.Parallel()
	w := newTree(t, map[string]string{"net/retry.go": shop["net/retry.go"], "b.md": "# Attempts\n", "logo.png": shop["logo.png"]})
	const question = "attempts with jitter"
	want := w.resultsOf(t, question)
	path := w.index(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(about string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := w.resultsOf(t, question); got != want {
			t.Fatalf("%s: got %s, want %s", about, got, want)
		}
		if after, err := os.ReadFile(path); err != nil || len(after) != len(whole) {
			t.Fatalf("%s: the index has %d bytes afterwards, want %d", about, len(after), len(whole))
		}
	}
	for n := range whole {
		check(fmt.Sprint("cut at ", n), whole[:n])
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		data := bytes.Clone(whole)
		data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
		check(fmt.Sprint("changed ", i), data)
		random := make([]byte, r.IntN(2*len(whole)))
		for at := range random {
			random[at] = byte(r.Uint32())
		}
		check(fmt.Sprint("random ", i), random)
	}
	check("more at the end", append(bytes.Clone(whole), "more"...))
	check("twice", append(bytes.Clone(whole), whole[len(whole)/2:]...))
	check("another version", bytes.Replace(whole, []byte("code 1"), []byte("code 0"), 1))
}

// FuzzRecord: a record with a good sum and any other bytes breaks nothing.
func FuzzRecord(f *testing.F) {
	w := newTree(f, map[string]string{"a.go": "package a // attempts\n"})
	w.find(f, "attempts")
	path := w.index(f)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	head := whole[:bytes.IndexByte(whole, '\n')+65]
	f.Add(whole[len(head)+8:])
	f.Add(bytes.Repeat([]byte{255}, 40))
	f.Add(bytes.Repeat([]byte{0}, 40))
	f.Fuzz(func(t *testing.T, record []byte) {
		sum := crc32.ChecksumIEEE(record)
		n := len(record)
		data := append(bytes.Clone(head), byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
		if err := os.WriteFile(path, append(data, record...), 0o600); err != nil {
			t.Fatal(err)
		}
		w.find(t, "attempts")
	})
}

// TestCache: without a place for the index each search reads the files, and a full cache loses the oldest index.
func TestCache(t *testing.T) {
	t.Parallel()
	w := newTree(t, shop)
	w.Cache = filepath.Join(w.path, "net", "retry.go") // a file
	if found := w.find(t, "attempts"); len(found.Results) == 0 || found.Degraded == "" {
		t.Errorf("got %+v", found)
	}
	w.Cache = ""
	if found := w.find(t, "attempts"); len(found.Results) == 0 || found.Degraded != "" {
		t.Errorf("got %+v", found)
	}
	w.Cache = t.TempDir()
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(w.Cache, fmt.Sprintf(".old-%d.tmp-0123456789abcdef", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found := w.find(t, "attempts"); found.Degraded != "" {
		t.Errorf("got %+v", found)
	}
	if entries, err := os.ReadDir(w.Cache); err != nil || len(entries) != 16 {
		t.Errorf("the cache has %d files (%v)", len(entries), err)
	}
}
