package recall_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
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

func judgedNotes(t testing.TB, folder string) []recall.Doc {
	var out []recall.Doc
	for i, row := range table(t, folder+"/notes.tsv", 4) {
		out = append(out, recall.Doc{Key: row[0], Text: row[3], Extra: strings.Split(row[2], ","), Time: int64(i)})
	}
	return out
}

func judgedQueries(t testing.TB, folder string) []judged {
	known := map[string]bool{}
	for _, d := range judgedNotes(t, folder) {
		if known[d.Key] {
			t.Fatalf("two notes are called %s", d.Key)
		}
		known[d.Key] = true
	}
	var out []judged
	for _, row := range table(t, folder+"/queries.tsv", 4) {
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

// among has use look at an index of n distractors and some notes. The distractors are taken in once.
func among(n int, notes []recall.Doc, use func(x *recall.Index)) {
	if crowds[n] == nil {
		crowds[n] = built(distractors(n))
	}
	for _, d := range notes {
		crowds[n].Put(d)
	}
	use(crowds[n])
	for _, d := range notes {
		crowds[n].Drop(d.Key)
	}
}

// crowds are indexes of distractors by their number.
var crowds = map[int]*recall.Index{}

func ours(x *recall.Index) finder {
	return func(query string) []string {
		var out []string
		for _, h := range x.Search(query, 20, nil) {
			out = append(out, h.Key)
		}
		return out
	}
}

// substring ranks by the number of the query's words in a note, as a search through files would.
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

// bm25 ranks by the plain formula over words in small letters.
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

// mean is the average of the measures of some queries.
type mean struct{ ndcg, rr, n float64 }

func (m *mean) add(ndcg, rr float64) { m.ndcg, m.rr, m.n = m.ndcg+ndcg, m.rr+rr, m.n+1 }
func (m *mean) mean() float64        { return m.ndcg / m.n }
func (m *mean) String() string       { return fmt.Sprintf("%.3f / %.3f", m.ndcg/m.n, m.rr/m.n) }

// results has the means by half, and by half and category.
type results map[string]*mean

func (r results) add(q judged, ndcg, rr float64) {
	for _, name := range []string{q.half, q.half + " " + q.category} {
		if r[name] == nil {
			r[name] = &mean{}
		}
		r[name].add(ndcg, rr)
	}
}

func judge(queries []judged, find finder, failed func(judged, []string)) results {
	out := results{}
	for _, q := range queries {
		found := find(q.text)
		ndcg, rr := measure(q, found)
		out.add(q, ndcg, rr)
		if failed != nil && ndcg < 0.5 {
			failed(q, found)
		}
	}
	return out
}

// The halves of the judged set. The ranking was chosen with the tuned one. The held one was written
// after the first lexicon, but its author knew it when he added more domains; the fresh one came
// after those, and nobody has looked at its queries afterwards.
var halves = []string{"tuned", "held", "fresh"}

var categories = []string{"exact", "inflection", "identifier", "typo", "paraphrase", "cross"}

// floors has the least accepted nDCG@5 by half, overall and for each category, somewhat below the one
// that was measured.
var floors = map[int]map[string][7]float64{
	370: {
		"tuned": {0.84, 0.95, 0.95, 0.95, 0.88, 0.45, 0.86},
		"held":  {0.87, 0.95, 0.95, 0.95, 0.95, 0.78, 0.82},
		"fresh": {0.74, 0.95, 0.95, 0.95, 0.95, 0.53, 0.68},
	},
	10000: {
		"tuned": {0.72, 0.95, 0.95, 0.95, 0.80, 0.18, 0.73},
		"held":  {0.85, 0.95, 0.95, 0.95, 0.95, 0.74, 0.78},
		"fresh": {0.66, 0.95, 0.95, 0.95, 0.95, 0.47, 0.56},
	},
}

// TestQuality prints, with -v, the measures of the judged queries, beside those of a search for substrings and of
// plain BM25 if there are few notes. If RECALL_FAILED names a half, its failures are listed.
func TestQuality(t *testing.T) {
	for _, n := range []int{370, 10000} {
		measureQuality(t, n, n == 370)
	}
}

// TestQualityBesideOthers compares recall with the plain searches among many notes, too.
func TestQualityBesideOthers(t *testing.T) {
	scratch.NeedsTime(t, "a plain search among 10,000 notes, for each query")
	measureQuality(t, 10000, true)
}

// measureQuality measures the judged queries among n other notes, and compares them with plain searches.
func measureQuality(t *testing.T, n int, compared bool) {
	notes, queries := judgedNotes(t, "testdata"), judgedQueries(t, "testdata")
	among(n, notes, func(x *recall.Index) {
		floor := floors[n]
		docs := append(distractors(n), notes...)
		var text strings.Builder
		w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintf(w, "%d notes: nDCG@5 / MRR\tall\t%s\n", len(docs), strings.Join(categories, "\t"))
		row := func(name, half string, r results) {
			cells := []string{name + ", " + half, r[half].String()}
			for _, c := range categories {
				cells = append(cells, r[half+" "+c].String())
			}
			_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
		base := map[string]results{}
		if compared {
			base = map[string]results{"substring": judge(queries, substring(docs), nil), "plain BM25": judge(queries, bm25(docs), nil)}
		}
		got := judge(queries, ours(x), func(q judged, found []string) {
			if q.half == os.Getenv("RECALL_FAILED") {
				t.Logf("%d: %s %q wants %v and found %v", n, q.category, q.text, q.grades, found[:min(5, len(found))])
			}
		})
		for _, half := range halves {
			for _, name := range []string{"substring", "plain BM25"} {
				r, measured := base[name]
				if !measured {
					continue
				}
				row(name, half, r)
				if gain := got[half].mean() - r[half].mean(); gain < 0.25 {
					t.Errorf("%d notes, %s: recall is ahead of %s by %.3f, want 0.25 or more", n, half, name, gain)
				}
			}
			row("recall", half, got)
			for i, c := range append([]string{""}, categories...) {
				if v := got[strings.TrimSpace(half+" "+c)].mean(); v < floor[half][i] {
					t.Errorf("%d notes, %s %s: nDCG@5 is %.3f, want %.2f or more", n, half, c, v, floor[half][i])
				}
			}
		}
		_ = w.Flush()
		t.Log("\n" + text.String())
	})
}

// TestApart holds the quality on sets that neither the ranking nor the lexicon was made with.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		folder string
		others int
		floor  [2]float64
	}{{apart, 0, [2]float64{0.80, 0.72}}, {apart, 370, [2]float64{0.71, 0.53}}, {apart, 10000, [2]float64{0.67, 0.47}}, {desk, 0, [2]float64{0.82, 0.74}}, {desk, 370, [2]float64{0.70, 0.60}}} {
		n, floor, all, paraphrases := c.others, c.floor, &mean{}, &mean{}
		among(n, judgedNotes(t, c.folder), func(x *recall.Index) {
			for _, q := range judgedQueries(t, c.folder) {
				ndcg, rr := measure(q, ours(x)(q.text))
				if all.add(ndcg, rr); q.category == "paraphrase" {
					paraphrases.add(ndcg, rr)
				}
			}
		})
		t.Logf("%s, %d others: nDCG@5 / MRR %s, paraphrases %s", c.folder, n, all, paraphrases)
		if all.mean() < floor[0] || paraphrases.mean() < floor[1] {
			t.Errorf("%s, %d others: nDCG@5 is %.3f, of paraphrases %.3f, want %.2f and %.2f", c.folder, n, all.mean(), paraphrases.mean(), floor[0], floor[1])
		}
	}
}

// apart and desk are the folders of two more sets. The rules of Hit.Weak were chosen by the queries marked choose, tuned
// and held; of the other queries, only the sums were read.
const (
	apart = "testdata/apart"
	desk  = "testdata/desk"
)

// astray counts the queries whose answer is found and of which nothing that is found is called close, and those
// without an answer of which something is.
type astray struct{ silent, answered, loud, unanswered int }

func (a astray) String() string {
	return fmt.Sprintf("%d of %d queries whose answer is found have nothing close, %d of %d without an answer have something", a.silent, a.answered, a.loud, a.unanswered)
}

// TestWeakHits checks how often the hits of a query are all weak though the answer is among them, and how often
// they are not if no note answers it: among all notes, with many others, and of projects of a few notes. There, a
// query also counts as one without an answer if only its answers were left out, though others may be near.
func TestWeakHits(t *testing.T) {
	for _, c := range []struct {
		folder, half       string
		silent, loud       float64 // the most, of all queries
		fewSilent, fewLoud float64 // in projects of a few notes
	}{
		{"testdata", "tuned", 0.11, 0.29, 0.08, 0.18},
		{"testdata", "held", 0.06, 0.22, 0.06, 0.22},
		{"testdata", "fresh", 0.10, 1, 0.12, 0.22},
		{apart, "choose", 0.16, 0.45, 0.13, 0.20},
		{apart, "report", 0.23, 0.23, 0.22, 0.13},
		{desk, "choose", 0.11, 0.51, 0.10, 0.24},
		{desk, "report", 0.16, 0.21, 0.14, 0.17},
	} {
		notes := judgedNotes(t, c.folder)
		within := func(what string, a astray, silent, loud float64) {
			t.Helper()
			t.Logf("%s, %s, %s: %s", c.folder, c.half, what, a)
			if float64(a.silent) > silent*float64(a.answered) || float64(a.loud) > loud*float64(a.unanswered) {
				t.Errorf("%s, %s, %s: %s, want at most %v and %v", c.folder, c.half, what, a, silent, loud)
			}
		}
		for _, n := range []int{0, 370, 10000} {
			var a astray
			among(n, notes, func(x *recall.Index) { a.add(t, x, c.folder, c.half, notes) })
			within(fmt.Sprint(n, " others"), a, c.silent, c.loud)
		}
		var few astray
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 40 {
			var some []recall.Doc
			for _, i := range r.Perm(len(notes))[:min(8+8*(n%4), len(notes))] {
				some = append(some, notes[i])
			}
			few.add(t, built(some), c.folder, c.half, some)
		}
		within("few notes", few, c.fewSilent, c.fewLoud)
	}
}

// add counts the queries of a half on an index that has some of the notes.
func (a *astray) add(t *testing.T, x *recall.Index, folder, half string, notes []recall.Doc) {
	t.Helper()
	look := func(text string, grades map[string]int) (found, close bool) {
		for _, h := range x.Search(text, 5, nil) {
			found, close = found || grades[h.Key] > 0, close || !h.Weak()
		}
		return found, close
	}
	for _, q := range judgedQueries(t, folder) {
		if q.half != half {
			continue
		}
		answers := slices.ContainsFunc(notes, func(d recall.Doc) bool { return q.grades[d.Key] > 0 })
		switch found, close := look(q.text, q.grades); {
		case found:
			a.answered++
			if !close {
				a.silent++
			}
		case !answers:
			a.unanswered++
			if close {
				a.loud++
			}
		}
	}
	for _, row := range table(t, folder+"/unanswered.tsv", 2) {
		if row[0] != half {
			continue
		}
		a.unanswered++
		if _, close := look(row[1], nil); close {
			a.loud++
		}
	}
}
