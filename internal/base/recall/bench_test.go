package recall_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

var sizes = []int{1000, 10000}

func built(docs []recall.Doc) *recall.Index {
	x := recall.New(recall.Builtin())
	for _, d := range docs {
		x.Put(d)
	}
	return x
}

// BenchmarkBuild reports the memory that the index of the notes takes, without that of the notes.
func BenchmarkBuild(b *testing.B) {
	recall.Builtin()
	for _, n := range sizes {
		docs := distractors(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			x := built(docs)
			b.ResetTimer()
			for range b.N {
				x = built(docs)
			}
			b.StopTimer()
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-heap")
			runtime.KeepAlive(x)
		})
	}
}

func BenchmarkLexicon(b *testing.B) {
	recall.Builtin()
	none, _ := recall.ParseLexicon(nil)
	for range b.N {
		recall.Builtin().With(none)
	}
}

func BenchmarkPut(b *testing.B) {
	for _, n := range sizes {
		docs := distractors(n)
		x := built(docs)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for i := range b.N {
				d := docs[i*7919%n]
				d.Text += " again"
				x.Put(d)
			}
		})
	}
}

// BenchmarkSearch goes through the judged queries; long is an objective with the titles of its
// sprints. grep looks for each word of the query in each text, as a search through files would.
func BenchmarkSearch(b *testing.B) {
	queries := judgedQueries(b, "testdata")
	for _, n := range sizes {
		docs := distractors(n)
		x := built(docs)
		b.Run(fmt.Sprintf("recall-%d", n), func(b *testing.B) {
			for i := range b.N {
				x.Search(queries[i%len(queries)].text, 5, nil)
			}
		})
		b.Run(fmt.Sprintf("long-%d", n), func(b *testing.B) {
			for range b.N {
				x.Relevant(objectives[0], 5, nil)
			}
		})
		b.Run(fmt.Sprintf("similar-%d", n), func(b *testing.B) {
			for i := range b.N {
				x.Similar(docs[i*7919%n].Text, 5, 0.85, nil)
			}
		})
		b.Run(fmt.Sprintf("grep-%d", n), func(b *testing.B) {
			found := 0
			texts := make([]string, n)
			for j := range docs {
				texts[j] = strings.ToLower(docs[j].Text)
			}
			for i := range b.N {
				for _, w := range strings.Fields(strings.ToLower(queries[i%len(queries)].text)) {
					for j := range texts {
						if strings.Contains(texts[j], w) {
							found++
						}
					}
				}
			}
			b.ReportMetric(float64(found)/float64(b.N), "hits/op")
		})
	}
}

var objectives = []string{`Customers can pay an order with a bank transfer: show the account and the reference at checkout, match the incoming transfers with the open orders every night,
send a reminder after seven days, and cancel the order and release its stock after fourteen. Sprint 1: data model and migration. Sprint 2: checkout page and confirmation mail. Sprint 3: import of the bank's files and matching. Sprint 4: reminders, cancellation and the report for accounting.`}
