package exposition_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/exposition"
)

var (
	headLine   = regexp.MustCompile(`^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.+)\})? (\S+)$`)
	labelPair  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(?:,|$)`)
	unescape   = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\"`, `"`)
	suffixes   = map[string][]string{"counter": {""}, "gauge": {""}, "summary": {"", "_sum", "_count"}, "histogram": {"_bucket", "_sum", "_count"}}
)

// page is the result of a strict reader: types and help by family, and values by name and labels.
type page struct {
	kinds, help map[string]string
	values      map[string]float64
}

// parse reads a page as strictly as the description of the format: each family once, HELP and TYPE
// before its samples, no sample twice, and the buckets of histograms in order.
func parse(t *testing.T, text string) page {
	t.Helper()
	p := page{map[string]string{}, map[string]string{}, map[string]float64{}}
	if !strings.HasSuffix(text, "\n") {
		t.Fatalf("the last line does not end: %q", text)
	}
	family, below := "", map[string][2]float64{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head := headLine.FindStringSubmatch(line); head != nil {
			switch _, known := p.kinds[head[2]]; {
			case head[1] == "HELP" && !known && p.help[head[2]] == "":
				p.help[head[2]], family = unescape.Replace(head[3]), head[2]
			case head[1] == "TYPE" && !known && family == head[2] && suffixes[head[3]] != nil:
				p.kinds[head[2]] = head[3]
			default:
				t.Fatalf("out of place: %q", line)
			}
			continue
		}
		sample := sampleLine.FindStringSubmatch(line)
		if sample == nil {
			t.Fatalf("not a sample: %q", line)
		}
		suffix, own := strings.CutPrefix(sample[1], family)
		if !own || !slices.Contains(suffixes[p.kinds[family]], suffix) {
			t.Fatalf("a sample of another family than %s: %q", family, line)
		}
		value, err := strconv.ParseFloat(sample[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		labels := labelsOf(t, sample[2])
		if le, bucket := labels["le"]; bucket {
			bound, err := strconv.ParseFloat(le, 64)
			delete(labels, "le")
			series := fmt.Sprint(sample[1], labels)
			if last, seen := below[series]; err != nil || seen && (bound <= last[0] || value < last[1]) {
				t.Fatalf("buckets out of order: %q, %v", line, err)
			}
			below[series] = [2]float64{bound, value}
			labels["le"] = le
		}
		key := fmt.Sprint(sample[1], labels)
		if _, twice := p.values[key]; twice {
			t.Fatalf("twice: %q", line)
		}
		p.values[key] = value
	}
	for series, last := range below {
		count := strings.Replace(series, "_bucket", "_count", 1)
		if !math.IsInf(last[0], 1) || p.values[count] != last[1] {
			t.Errorf("%s ends with %v, and the count is %v", series, last, p.values[count])
		}
	}
	return p
}

func labelsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	labels := map[string]string{}
	for text != "" {
		pair := labelPair.FindStringSubmatch(text)
		if pair == nil {
			t.Fatalf("not a label: %q", text)
		}
		labels[pair[1]] = unescape.Replace(pair[2])
		text = text[len(pair[0]):]
	}
	return labels
}

// TestPageIsWhatScrapersRead writes every kind of family, with characters that have to be escaped.
func TestPageIsWhatScrapersRead(t *testing.T) {
	t.Parallel()
	calls := exposition.NewVector("calls_total", "Calls\nby \\ kind.", nil, "kind", "end")
	took := exposition.NewVector("took_seconds", "How long.", []float64{.5, 1, 60}, "kind")
	empty := exposition.NewVector("empty_total", "Nothing.", nil, "kind")
	calls.Add(1, "b\"\\\n", "x")
	calls.Add(2, "b\"\\\n", "x")
	calls.Add(1e6, "a", "x")
	for _, seconds := range []float64{.2, .5, .7, 60, 61} {
		took.Add(seconds, "a")
	}
	var p exposition.Page
	took.AddTo(&p)
	calls.AddTo(&p)
	empty.AddTo(&p)
	p.Add(exposition.Counter, "limit", "None.", exposition.Sample{Value: math.Inf(1)})
	const want = `# HELP calls_total Calls\nby \\ kind.
# TYPE calls_total counter
calls_total{kind="a",end="x"} 1e+06
calls_total{kind="b\"\\\n",end="x"} 3
# HELP limit None.
# TYPE limit counter
limit +Inf
# HELP took_seconds How long.
# TYPE took_seconds histogram
took_seconds_bucket{kind="a",le="0.5"} 2
took_seconds_bucket{kind="a",le="1"} 3
took_seconds_bucket{kind="a",le="60"} 4
took_seconds_bucket{kind="a",le="+Inf"} 5
took_seconds_sum{kind="a"} 122.4
took_seconds_count{kind="a"} 5
`
	if got := string(p.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	read := parse(t, string(p.Bytes()))
	if got := read.values[fmt.Sprint("calls_total", map[string]string{"kind": "b\"\\\n", "end": "x"})]; got != 3 {
		t.Errorf("the escaped label is read as another: %v", read.values)
	}
}

// TestHandlerBoundsScrapes checks that a request above the limit is told to come back.
func TestHandlerBoundsScrapes(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	handler := exposition.Handler(1, func(_ context.Context, p *exposition.Page) {
		begun <- struct{}{}
		<-end
		p.Add(exposition.Counter, "a", "A.", exposition.Sample{Value: 1})
	})
	get := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w
	}
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- get() }()
	<-begun
	if w := get(); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "try again later") {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	close(end)
	w := <-first
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != exposition.ContentType || parse(t, w.Body.String()).kinds["a"] != "counter" {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
	go func() { <-begun }()
	if w := get(); w.Code != http.StatusOK {
		t.Errorf("the place is not free again: %d", w.Code)
	}
}
