package recall_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

// judged is a query with the grades of the notes that answer it.
type judged struct {
	half, category, text string
	grades               map[string]int
}

func table(t testing.TB, path string, columns int) [][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != columns {
			t.Fatalf("%s:%d: got %d columns, want %d", path, n+1, len(row), columns)
		}
		out = append(out, row)
	}
	return out
}

func judgedNotes(t testing.TB) []recall.Doc {
	var out []recall.Doc
	for i, row := range table(t, "testdata/notes.tsv", 4) {
		out = append(out, recall.Doc{Key: row[0], Text: row[3], Extra: strings.Split(row[2], ","), Time: int64(i)})
	}
	return out
}

func judgedQueries(t testing.TB) []judged {
	known := map[string]bool{}
	for _, d := range judgedNotes(t) {
		if known[d.Key] {
			t.Fatalf("two notes are called %s", d.Key)
		}
		known[d.Key] = true
	}
	var out []judged
	for _, row := range table(t, "testdata/queries.tsv", 4) {
		q := judged{row[0], row[1], row[2], map[string]int{}}
		for _, pair := range strings.Split(row[3], ",") {
			key, grade, _ := strings.Cut(pair, "=")
			n, err := strconv.Atoi(grade)
			if err != nil || !known[key] {
				t.Fatalf("the query %q names %q", q.text, pair)
			}
			q.grades[key] = n
		}
		out = append(out, q)
	}
	return out
}

// finder returns the keys of the best notes for a query.
type finder func(query string) []string

func ours(docs []recall.Doc) finder {
	x := recall.New(recall.Builtin())
	for _, d := range docs {
		x.Put(d)
	}
	return func(query string) []string {
		var out []string
		for _, h := range x.Search(query, 20, nil) {
			out = append(out, h.Key)
		}
		return out
	}
}

// substring ranks by how many words of the query a note contains, as a search through files would.
func substring(docs []recall.Doc) finder {
	texts := make([]string, len(docs))
	for i, d := range docs {
		texts[i] = strings.ToLower(d.Text + " " + strings.Join(d.Extra, " "))
	}
	return func(query string) []string {
		points := make([]float64, len(docs))
		for _, w := range strings.Fields(strings.ToLower(query)) {
			for i := range texts {
				if strings.Contains(texts[i], w) {
					points[i]++
				}
			}
		}
		return ranked(docs, points)
	}
}

// bm25 is the plain formula over words in small letters.
func bm25(docs []recall.Doc) finder {
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	counts := make([]map[string]float64, len(docs))
	lengths := make([]float64, len(docs))
	having := map[string]float64{}
	all := 0.0
	for i, d := range docs {
		counts[i] = map[string]float64{}
		for _, w := range split(d.Text + " " + strings.Join(d.Extra, " ")) {
			if counts[i][w]++; counts[i][w] == 1 {
				having[w]++
			}
			lengths[i]++
		}
		all += lengths[i]
	}
	average := all / float64(len(docs))
	return func(query string) []string {
		points := make([]float64, len(docs))
		for _, w := range split(query) {
			idf := math.Log(1 + (float64(len(docs))-having[w]+0.5)/(having[w]+0.5))
			for i := range docs {
				if n := counts[i][w]; n > 0 {
					points[i] += idf * n * 2.2 / (n + 1.2*(0.25+0.75*lengths[i]/average))
				}
			}
		}
		return ranked(docs, points)
	}
}

func ranked(docs []recall.Doc, points []float64) []string {
	var order []int
	for i := range docs {
		if points[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(docs[b].Time, docs[a].Time))
	})
	var out []string
	for _, i := range order[:min(20, len(order))] {
		out = append(out, docs[i].Key)
	}
	return out
}

// measure returns nDCG@5 and the reciprocal rank of one answer.
func measure(q judged, found []string) (ndcg, rr float64) {
	gain := func(grade, place int) float64 { return (math.Pow(2, float64(grade)) - 1) / math.Log2(float64(place)+2) }
	got := 0.0
	for i, key := range found {
		if g := q.grades[key]; g > 0 {
			if i < 5 {
				got += gain(g, i)
			}
			if rr == 0 {
				rr = 1 / float64(i+1)
			}
		}
	}
	var grades []int
	for _, g := range q.grades {
		grades = append(grades, g)
	}
	slices.SortFunc(grades, func(a, b int) int { return b - a })
	best := 0.0
	for i, g := range grades[:min(5, len(grades))] {
		best += gain(g, i)
	}
	return got / best, rr
}

// mean is the average of what was measured over queries.
type mean struct{ ndcg, rr, n float64 }

func (m *mean) add(ndcg, rr float64) { m.ndcg, m.rr, m.n = m.ndcg+ndcg, m.rr+rr, m.n+1 }
func (m *mean) String() string       { return fmt.Sprintf("%.3f / %.3f", m.ndcg/m.n, m.rr/m.n) }

// results has the means by half, and by half and category.
type results map[string]*mean

func (r results) add(q judged, ndcg, rr float64) {
	for _, name := range []string{q.half, q.half + " " + q.category, "all", "all " + q.category} {
		if r[name] == nil {
			r[name] = &mean{}
		}
		r[name].add(ndcg, rr)
	}
}

func judge(queries []judged, find finder, failed func(judged, float64, []string)) results {
	out := results{}
	for _, q := range queries {
		found := find(q.text)
		ndcg, rr := measure(q, found)
		out.add(q, ndcg, rr)
		if failed != nil && ndcg < 0.5 {
			failed(q, ndcg, found)
		}
	}
	return out
}

func TestQuality(t *testing.T) {
	notes, queries := judgedNotes(t), judgedQueries(t)
	categories := []string{"", " exact", " inflection", " identifier", " typo", " paraphrase", " cross"}
	w := tabwriter.NewWriter(os.Stderr, 0, 0, 2, ' ', 0)
	defer func() { _ = w.Flush() }()
	for _, n := range []int{0, 370, 10000} {
		docs := append(distractors(n), notes...)
		fmt.Fprintf(w, "%d notes, nDCG@5 / MRR\t%s\n", len(docs), strings.Join(append([]string{"all"}, categories[1:]...), "\t"))
		for _, m := range []struct {
			name string
			make func([]recall.Doc) finder
		}{{"substring", substring}, {"plain BM25", bm25}, {"recall", ours}} {
			var failed func(judged, float64, []string)
			if m.name == "recall" && os.Getenv("RECALL_FAILED") != "" {
				failed = func(q judged, v float64, found []string) {
					fmt.Printf("%d %s %s %.2f %q want %v got %v\n", n, q.half, q.category, v, q.text, q.grades, found[:min(4, len(found))])
				}
			}
			r := judge(queries, m.make(docs), failed)
			for _, half := range []string{"tuned", "held", "fresh"} {
				row := []string{m.name + ", " + half}
				for _, c := range categories {
					if m := r[half+c]; m != nil {
						row = append(row, m.String())
					}
				}
				fmt.Fprintln(w, strings.Join(row, "\t"))
			}
		}
	}
}
