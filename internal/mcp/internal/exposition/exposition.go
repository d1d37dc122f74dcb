// Package exposition serves figures in the text format of Prometheus, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/.
package exposition

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ContentType is the content type of a page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// Kind is the type of a family.
type Kind string

// The types of families.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Sample is a line of a family. Suffix follows the family's name; Labels has names and values in turn.
type Sample struct {
	Suffix string
	Labels []string
	Value  float64
}

// Page is the response to one request.
type Page struct{ families map[string][]byte }

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// Add adds a family, unless it has no samples.
func (p *Page) Add(kind Kind, name, help string, samples ...Sample) {
	if len(samples) == 0 {
		return
	}
	b := fmt.Appendf(nil, "# HELP %s %s\n# TYPE %s %s\n", name, helpEscapes.Replace(help), name, kind)
	for _, s := range samples {
		b = append(append(b, name...), s.Suffix...)
		before := byte('{')
		for pair := range slices.Chunk(s.Labels, 2) {
			b = fmt.Appendf(b, `%c%s="%s"`, before, pair[0], labelEscapes.Replace(pair[1]))
			before = ','
		}
		if before == ',' {
			b = append(b, '}')
		}
		b = append(append(append(b, ' '), formatNumber(s.Value)...), '\n')
	}
	if p.families == nil {
		p.families = map[string][]byte{}
	}
	p.families[name] = b
}

// Bytes returns the page, with the families in the order of their names.
func (p *Page) Bytes() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(p.families)) {
		b.Write(p.families[name])
	}
	return b.Bytes()
}

// formatNumber returns a number in the text format, even an infinite one or NaN.
func formatNumber(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Vector is a counter for each combination of label values, or a histogram if it has bounds. It is
// safe for concurrent use.
type Vector struct {
	name, help string
	labels     []string
	bounds     []float64

	mu     sync.Mutex
	series map[string]*series
}

type series struct {
	values []string
	// within counts the values in each bucket, without the lower buckets.
	within []uint64
	sum    float64
	count  uint64
}

// NewVector returns a counter, or a histogram if there are bounds, which have to ascend.
func NewVector(name, help string, bounds []float64, labels ...string) *Vector {
	return &Vector{name: name, help: help, labels: labels, bounds: bounds, series: map[string]*series{}}
}

// Add adds a value to the counter or histogram for these values of the labels.
func (v *Vector) Add(value float64, values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := strings.Join(values, "\x00")
	s := v.series[key]
	if s == nil {
		s = &series{values: values, within: make([]uint64, len(v.bounds))}
		v.series[key] = s
	}
	if i, _ := slices.BinarySearch(v.bounds, value); i < len(s.within) {
		s.within[i]++
	}
	s.sum += value
	s.count++
}

// AddTo adds the family to a page, by the values of the labels.
func (v *Vector) AddTo(p *Page) {
	v.mu.Lock()
	defer v.mu.Unlock()
	kind, samples := Counter, []Sample(nil)
	if v.bounds != nil {
		kind = Histogram
	}
	order := func(a, b *series) int { return slices.Compare(a.values, b.values) }
	for _, s := range slices.SortedFunc(maps.Values(v.series), order) {
		var labels []string
		for i, name := range v.labels {
			labels = append(labels, name, s.values[i])
		}
		if kind == Counter {
			samples = append(samples, Sample{Labels: labels, Value: s.sum})
			continue
		}
		bucket := func(le string, n uint64) {
			samples = append(samples, Sample{"_bucket", append(slices.Clone(labels), "le", le), float64(n)})
		}
		total := uint64(0)
		for i, bound := range v.bounds {
			total += s.within[i]
			bucket(formatNumber(bound), total)
		}
		bucket("+Inf", s.count)
		samples = append(samples, Sample{"_sum", labels, s.sum}, Sample{"_count", labels, float64(s.count)})
	}
	p.Add(kind, v.name, v.help, samples...)
}

// Handler serves a page written by fill, to at most limit requests at a time.
func Handler(limit int, fill func(context.Context, *Page)) http.Handler {
	places := make(chan struct{}, limit)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, fmt.Sprintf("Limit of concurrent requests reached (%d), try again later.", limit), http.StatusServiceUnavailable)
			return
		}
		var p Page
		fill(r.Context(), &p)
		w.Header().Set("Content-Type", ContentType)
		_, _ = w.Write(p.Bytes()) // a scraper that has left gets nothing
	})
}
