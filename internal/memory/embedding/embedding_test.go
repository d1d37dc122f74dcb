package embedding

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// standIn answers by the published interfaces of an embeddings server and of Qdrant. Its vectors
// count a few words, so that texts with the same ones are alike.
type standIn struct {
	t        *testing.T
	server   *httptest.Server
	requests atomic.Int64
	embedded atomic.Int64
	// fail is the number of requests to answer with status.
	fail   atomic.Int64
	status int
	answer func(texts []string) any
	// points are the points of the database, by collection and id.
	points map[string]map[string]point
}

// meanings lists words of one meaning each, as a model would know them.
var meanings = [][]string{{"invoice", "facture", "发票"}, {"clock", "horloge", "时钟"}, {"cache", "缓存"}}

func vectorOf(text string) []float32 {
	v := []float32{0.01, 0.01, 0.01}
	for i, words := range meanings {
		for _, w := range words {
			if strings.Contains(strings.ToLower(text), w) {
				v[i]++
			}
		}
	}
	return v
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, status: http.StatusServiceUnavailable, points: map[string]map[string]point{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("GET /collections/{name}", s.describe)
	mux.HandleFunc("PUT /collections/{name}", s.create)
	mux.HandleFunc("PUT /collections/{name}/points", s.upsert)
	mux.HandleFunc("POST /collections/{name}/points/search", s.search)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if s.fail.Add(-1) >= 0 {
			http.Error(w, "secret-key", s.status)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *standIn) read(w http.ResponseWriter, r *http.Request, to any) bool {
	if r.Header.Get("Content-Type") != "application/json" || json.NewDecoder(r.Body).Decode(to) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return false
	}
	return true
}

func (s *standIn) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.t.Error(err)
	}
}

func (s *standIn) embeddings(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if !s.read(w, r, &in) {
		return
	}
	if in.Model != "words" || len(in.Input) == 0 || len(in.Input) > 64 || r.Header.Get("Authorization") != "Bearer secret-key" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.embedded.Add(int64(len(in.Input)))
	if s.answer != nil {
		s.write(w, s.answer(in.Input))
		return
	}
	data := []map[string]any{}
	for i := range in.Input { // in any order
		n := len(in.Input) - 1 - i
		data = append(data, map[string]any{"object": "embedding", "index": n, "embedding": vectorOf(in.Input[n])})
	}
	s.write(w, map[string]any{"object": "list", "data": data, "model": in.Model, "usage": map[string]int{"prompt_tokens": 1}})
}

func (s *standIn) find(w http.ResponseWriter, r *http.Request) map[string]point {
	list, ok := s.points[r.PathValue("name")]
	if !ok {
		http.Error(w, `{"status":{"error":"Not found"}}`, http.StatusNotFound)
		return nil
	}
	return list
}

func (s *standIn) describe(w http.ResponseWriter, r *http.Request) {
	if s.find(w, r) != nil {
		s.write(w, map[string]any{"result": map[string]any{"status": "green"}, "status": "ok"})
	}
}

func (s *standIn) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Vectors struct {
			Size     int    `json:"size"`
			Distance string `json:"distance"`
		} `json:"vectors"`
	}
	if !s.read(w, r, &in) {
		return
	}
	if in.Vectors.Size != 3 || in.Vectors.Distance != "Cosine" || s.points[r.PathValue("name")] != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.points[r.PathValue("name")] = map[string]point{}
	s.write(w, map[string]any{"result": true, "status": "ok"})
}

func (s *standIn) upsert(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Points []point `json:"points"`
	}
	list := s.find(w, r)
	if list == nil || !s.read(w, r, &in) {
		return
	}
	for _, p := range in.Points {
		if len(p.Vector) != 3 || len(p.ID) != 36 || p.Payload.Tags == nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		list[p.ID] = p
	}
	s.write(w, map[string]any{"result": map[string]any{"status": "completed"}, "status": "ok"})
}

func (s *standIn) search(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Vector []float32 `json:"vector"`
		Limit  int       `json:"limit"`
		With   bool      `json:"with_payload"`
	}
	list := s.find(w, r)
	if list == nil || !s.read(w, r, &in) {
		return
	}
	result := []map[string]any{}
	for id, p := range list {
		result = append(result, map[string]any{"id": id, "version": 1, "score": dotProduct(in.Vector, p.Vector), "payload": p.Payload})
	}
	s.write(w, map[string]any{"result": result, "status": "ok"})
}

func keys(name string) string {
	if name == KeyVariable {
		return "secret-key"
	}
	return ""
}

func place(t *testing.T, s *standIn) Place {
	t.Helper()
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return Place{Dir: dir, Embeddings: s.server.URL + "/v1", Model: "words", App: "bmad-relay"}
}

var some = []notes.Note{
	{ID: "00000000-0000-4000-8000-00000000000a", Type: "failures", Agent: "dev", Text: "The invoice was sent twice."},
	{ID: "00000000-0000-4000-8000-00000000000b", Type: "decisions", Agent: "architect", Text: "The clock is UTC.", Tags: []string{"time"}},
}

func TestNearest(t *testing.T) {
	s := newStandIn(t)
	at := place(t, s)
	f := New(keys)
	near := func(query, want string) {
		t.Helper()
		known, others, err := f.Nearest(t.Context(), at, query, some)
		if got := fmt.Sprintf("a %.1f b %.1f", known[0], known[1]); err != nil || got != want || len(others) > 0 {
			t.Errorf("%q: %s, %v; want %s", query, got, err, want)
		}
	}
	near("où est la facture", "a 1.0 b 0.0")
	near("时钟", "a 0.0 b 1.0")
	if n := s.embedded.Load(); n != 4 {
		t.Errorf("%d texts were sent, want the notes once and each query", n)
	}
	f = New(keys) // another process
	near("clock", "a 0.0 b 1.0")
	if n := s.embedded.Load(); n != 5 {
		t.Errorf("%d texts were sent, want the kept vectors to be used", n)
	}
	files, _ := filepath.Glob(filepath.Join(at.Dir.Path(), folder, "*.vec"))
	if len(files) != 1 {
		t.Fatalf("vectors are kept in %v", files)
	}
	if err := os.WriteFile(files[0], []byte("half a vector"), 0o600); err != nil {
		t.Fatal(err)
	}
	f = New(keys)
	near("clock", "a 0.0 b 1.0")
	f = New(keys)
	near("clock", "a 0.0 b 1.0")
	if n := s.embedded.Load(); n != 9 {
		t.Errorf("%d texts were sent, want a broken file to be replaced", n)
	}
}

// TestLikeness: many texts are compared with a query, and nothing of them is kept.
func TestLikeness(t *testing.T) {
	s := newStandIn(t)
	at := place(t, s)
	f := New(keys)
	texts := make([]string, 130)
	for i := range texts {
		texts[i] = "the clock"
	}
	texts[100] = "the invoice"
	got, err := f.Likeness(t.Context(), at, "facture", texts)
	if err != nil || len(got) != len(texts) || got[100] < 0.9 || got[0] > 0.1 || got[129] > 0.1 {
		t.Errorf("got %v (%v)", got, err)
	}
	if _, err := os.Stat(filepath.Join(at.Dir.Path(), folder)); err == nil {
		t.Error("vectors are kept")
	}
	s.fail.Store(10)
	if got, err := f.Likeness(t.Context(), at, "facture", texts); err == nil {
		t.Errorf("got %v", got)
	}
}

// TestParts: the files of vectors stay small, and every vector is found again.
func TestParts(t *testing.T) {
	at := place(t, newStandIn(t))
	v := &vectors{by: map[digest][]float32{}, name: "0123456789abcdef"}
	const size, total = 4000, 150
	for i := range total {
		vector := make([]float32, size)
		vector[i] = 1
		if err := v.addVectors(at.Dir, []string{fmt.Sprint(i)}, [][]float32{vector}); err != nil {
			t.Fatal(err)
		}
	}
	again := &vectors{by: map[digest][]float32{}, name: v.name}
	again.loadFiles(at.Dir)
	for i := range total {
		if got := again.vectorOf(fmt.Sprint(i)); len(got) != size || got[i] != 1 {
			t.Fatalf("vector %d is lost", i)
		}
	}
	files, _ := filepath.Glob(filepath.Join(at.Dir.Path(), folder, "*.vec"))
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Size() > maxPart {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(files) != 3 || again.part != v.part || again.full != v.full {
		t.Errorf("%d files; part %d with %d bytes, want %d with %d", len(files), again.part, again.full, v.part, v.full)
	}
}

func TestQdrant(t *testing.T) {
	s := newStandIn(t)
	at := place(t, s)
	at.Qdrant = s.server.URL
	f := New(keys)
	s.points["bmad-relay-failures"] = map[string]point{"00000000-0000-4000-8000-0000000000ff": {
		Vector: scaleToUnit(vectorOf("cache")), Payload: payload{Text: "The cache was never emptied.", Agent: "forge", Type: "failures", Created: "2026-02-03T04:05:06Z"},
	}}
	for range 2 {
		known, others, err := f.Nearest(t.Context(), at, "facture", some)
		if err != nil || math.Abs(known[0]-1) > 0.05 || known[1] > 0.05 {
			t.Fatalf("%v, %v", known, err)
		}
		if len(others) != 1 || others[0].Text != "The cache was never emptied." || others[0].Type != "failures" || others[0].CreatedAt.Time.Year() != 2026 || others[0].Agent != "forge" {
			t.Errorf("of others: %+v", others)
		}
	}
	kept := s.points["bmad-relay-decisions"][some[1].ID]
	if kept.Payload.Text != some[1].Text || kept.Payload.Tags[0] != "time" || kept.Payload.Agent != "architect" {
		t.Errorf("kept: %+v", kept)
	}
	delete(s.points, "bmad-relay-decisions") // the database was emptied
	if known, _, err := f.Nearest(t.Context(), at, "clock", some); err != nil || known[1] < 0.9 {
		t.Errorf("%v, %v", known, err)
	}
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	one := func([]string) any { return map[string]any{"data": []any{}} }
	huge := func(texts []string) any {
		return map[string]any{"data": []map[string]any{{"index": len(texts), "embedding": []float32{1}}}}
	}
	other := func() func(texts []string) any {
		n := 0
		return func(texts []string) any {
			data := []map[string]any{}
			for i := range texts {
				n++
				data = append(data, map[string]any{"index": i, "embedding": make([]float32, n+1)})
			}
			return map[string]any{"data": data}
		}
	}
	for _, c := range []struct {
		name   string
		fail   int64
		status int
		answer func([]string) any
		want   string
		tries  int64
	}{
		{name: "once busy", fail: 1, status: 503, tries: 3},
		{name: "rate limit", fail: 1, status: 429, tries: 3},
		{name: "down", fail: 9, status: 500, want: "answers with status 500", tries: 2},
		{name: "wrong key", fail: 9, status: 401, want: "answers with status 401", tries: 1},
		{name: "elsewhere", fail: 9, status: 302, want: "answers with status 302", tries: 1},
		{name: "too few", answer: one, want: "do not fit the texts", tries: 1},
		{name: "another index", answer: huge, want: "do not fit the texts", tries: 1},
		{name: "of different lengths", answer: other(), want: "vectors of 2 and of 3 numbers", tries: 1},
		{name: "text", answer: func([]string) any { return "sorry" }, want: "something other than the JSON", tries: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // some wait before they ask again
			s := newStandIn(t)
			s.status, s.answer = c.status, c.answer
			s.fail.Store(c.fail)
			known, _, err := New(keys).Nearest(t.Context(), place(t, s), "clock", some)
			if c.want == "" {
				if err != nil || known[1] < 0.9 {
					t.Errorf("%v, %v", known, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret-key") || known != nil {
				t.Errorf("%v, %v; want %q", known, err, c.want)
			}
			if n := s.requests.Load(); n != c.tries {
				t.Errorf("%d requests, want %d", n, c.tries)
			}
		})
	}
}

func TestGivenUp(t *testing.T) {
	s := newStandIn(t)
	s.fail.Store(99)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := New(keys).Nearest(ctx, place(t, s), "clock", some); err == nil || s.requests.Load() > 1 {
		t.Errorf("%v after %d requests", err, s.requests.Load())
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1": false, "::1": false, "10.1.2.3": false, "192.168.1.1": false, "8.8.8.8": false,
		"169.254.169.254": true, "fe80::1": true, "0.0.0.0": true, "fd00:ec2::254": true, "100.100.100.200": true, "::ffff:169.254.169.254": true,
	} {
		if got := isForbidden(netip.MustParseAddr(address).Unmap()); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	at := place(t, newStandIn(t))
	at.Embeddings = "http://169.254.169.254/v1"
	if _, _, err := New(keys).Nearest(t.Context(), at, "q", some); err == nil || !strings.Contains(err.Error(), "link-local") {
		t.Errorf("%v", err)
	}
}
