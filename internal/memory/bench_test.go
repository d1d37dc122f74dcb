package memory_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// vocabulary are the words of this repository's documents, the most frequent first.
var vocabulary = sync.OnceValue(func() []string {
	counts := map[string]int{}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../prompts/*.md", "../../testdata/submissions/*/*.md"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				panic(err)
			}
			for _, w := range strings.FieldsFunc(strings.ToLower(string(data)), func(r rune) bool { return r < 'a' || r > 'z' }) {
				counts[w]++
			}
		}
	}
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
})

// sentences returns a function that makes the text of the n-th note: about 30 words, a few of them frequent.
func sentences(seed uint64) func(n int) string {
	r := rand.New(rand.NewPCG(seed, 2))
	word := func() string {
		all := vocabulary()
		return all[int(math.Pow(r.Float64(), 2)*float64(len(all)))]
	}
	return func(n int) string {
		words := make([]string, 30)
		for i := range words {
			words[i] = word()
		}
		return fmt.Sprintf("%s in internal/%s/%s.go, case %d", strings.Join(words, " "), word(), word(), n)
	}
}

// newFilledShelf returns a project with that many notes.
func newFilledShelf(t testing.TB, path string, count int) shelf {
	t.Helper()
	sentence := sentences(1)
	s := openWith(t, path, memory.New(memory.Options{Now: time.Now}), config.Default())
	var lines strings.Builder
	for n := range count {
		fmt.Fprintf(&lines, `{"v":1,"id":"00000000-0000-4000-8000-%012d","type":"failures","agent":"dev","text":%q,"tags":["case-%d"],"project":"p","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z","by":"t"}`+"\n", n, sentence(n), n)
		if lines.Len() > 127<<10 || n == count-1 {
			name := "failures.jsonl"
			for part := 1; s.read(t, name) != ""; part++ {
				name = fmt.Sprintf("failures-%06d.jsonl", part)
			}
			s.write(t, name, lines.String())
			lines.Reset()
		}
	}
	time.Sleep(2100 * time.Millisecond) // until nothing can have changed within a tick of the disk's clock
	return s
}

// counts returns the numbers of notes that are measured at.
func counts() []int {
	if testing.Short() {
		return []int{10, 1000}
	}
	return []int{10, 1000, 10_000}
}

// BenchmarkRemember measures the write of a note beside a bare durable write of a file of the same
// size, on a disk; the two are done in turn, so that other work on the machine hits both.
func BenchmarkRemember(b *testing.B) {
	for _, count := range counts() {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			path, sentence := scratch.Dir(b), sentences(2)
			s := newFilledShelf(b, path, count)
			s.remember(b, notes.Note{Text: "the first one builds the index"}, notes.Created)
			if _, err := s.Recall(ctx, memory.Query{Text: "index"}); err != nil {
				b.Fatal(err)
			}
			bare, err := durable.OpenDir(path)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = bare.Close() }()
			var ours, floor []time.Duration
			n := 0
			for b.Loop() {
				if n++; n%500 == 0 { // the pace of a process
					b.StopTimer()
					s = openWith(b, path, memory.New(memory.Options{Now: time.Now}), config.Default())
					if _, err := s.Recall(ctx, memory.Query{Text: "index"}); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				began := time.Now()
				got, err := s.Remember(ctx, notes.Note{Type: notes.Failures, Agent: "dev", Text: sentence(int(time.Now().UnixNano()))})
				if err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(began))
				data, err := os.ReadFile(s.path + "/" + got.File)
				if err != nil {
					b.Fatal(err)
				}
				began = time.Now()
				if err := bare.Replace("bare", data); err != nil {
					b.Fatal(err)
				}
				floor = append(floor, time.Since(began))
			}
			median := func(of []time.Duration) float64 {
				slices.Sort(of)
				return float64(of[len(of)/2].Microseconds())
			}
			b.ReportMetric(median(ours), "µs/remember")
			b.ReportMetric(median(floor), "µs/bare")
			b.ReportMetric(median(ours)/median(floor), "ratio")
		})
	}
}

// BenchmarkRecall measures the first recall of a process, and those after it.
func BenchmarkRecall(b *testing.B) {
	queries := []string{"the relay loses events when the disk is full", "certificate of the gateway", "磁盘已满", "le cache expire trop tôt", "internal/ledger/schema.go", "depploy rolback"}
	for _, count := range counts()[1:] {
		path := b.TempDir()
		s := newFilledShelf(b, path, count)
		b.Run(fmt.Sprint("first/", count), func(b *testing.B) {
			for b.Loop() {
				first := openWith(b, path, memory.New(memory.Options{Now: time.Now}), config.Default())
				if _, err := first.Recall(ctx, memory.Query{Text: queries[0]}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("warm/", count), func(b *testing.B) {
			s.recall(b, memory.Query{Text: queries[0]})
			for n := 0; b.Loop(); n++ {
				if _, err := s.Recall(ctx, memory.Query{Text: queries[n%len(queries)]}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("briefing/", count), func(b *testing.B) {
			m := memory.New(memory.Options{Now: time.Now})
			p := &project.Project{Dir: s.dir(b), Config: config.Default()}
			if _, err := m.Relevant(ctx, p, lesson.Question{Text: "relay", Types: lesson.Types()}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := m.Relevant(ctx, p, lesson.Question{Text: "build a webhook relay that retries and never loses an event", Types: lesson.Types()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHeap measures the memory that the notes of a project take, with their index.
func BenchmarkHeap(b *testing.B) {
	for _, count := range counts()[1:] {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			path := b.TempDir()
			newFilledShelf(b, path, count)
			if _, err := readForeign(b, path).Recall(ctx, memory.Query{Text: "what the program itself keeps: the lexicon"}); err != nil {
				b.Fatal(err)
			}
			used := func() uint64 {
				runtime.GC()
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := used()
			var s shelf
			for b.Loop() {
				s = openWith(b, path, memory.New(memory.Options{Now: time.Now}), config.Default())
				if _, err := s.Recall(ctx, memory.Query{Text: "relay"}); err != nil {
					b.Fatal(err)
				}
			}
			after := used()
			runtime.KeepAlive(s)
			b.ReportMetric((float64(after)-float64(before))/(1<<20), "MB")
		})
	}
}
