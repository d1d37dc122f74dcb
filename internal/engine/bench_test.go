package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bmad-mcp/internal/engine"
	"bmad-mcp/internal/store"
	"bmad-mcp/internal/workflow"
)

// document is a submission of about 20 kB that keeps the session at po/refining.
func document() string {
	return "# PRD\n\n" + strings.Repeat("The relay stores every webhook durably before it answers the provider. ", 280) + "\n\nQuality Score: 70/100\n"
}

// BenchmarkFloor is the least a durable write of the same 20 kB can cost: write,
// fsync, rename.
func BenchmarkFloor(b *testing.B) {
	dir, text := b.TempDir(), []byte(document())
	for i := 0; b.Loop(); i++ {
		name := filepath.Join(dir, fmt.Sprintf("f%d", i))
		f, err := os.Create(name + ".tmp")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write(text); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(name+".tmp", name); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSubmit submits 20 kB to sessions that are 50 submissions old at most.
func BenchmarkSubmit(b *testing.B) {
	bench := newBench(b)
	text := document()
	for i := 0; b.Loop(); i++ {
		if i%50 == 0 {
			b.StopTimer()
			bench.do(start("build a relay"))
			b.StartTimer()
		}
		bench.do(submit(workflow.PO, text))
	}
}

// BenchmarkStart starts sessions in projects that have some already.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			bench := newBench(b)
			populate(b, bench.dir, n)
			bench.ids = n + 1
			bench.do(start("build a relay")) // takes over the names and the mapping
			b.ResetTimer()
			for b.Loop() {
				bench.do(start("build a relay"))
			}
		})
	}
}

// BenchmarkStatus asks for one session by its id.
func BenchmarkStatus(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			bench := newBench(b)
			populate(b, bench.dir, n)
			bench.ids = n + 1
			bench.do(start("build a relay"))
			b.ResetTimer()
			for b.Loop() {
				bench.do(engine.Request{Action: workflow.ActionStatus})
			}
		})
	}
}

// populate writes n sessions as files, without the price of making them durable.
func populate(b *testing.B, dir string, n int) {
	b.Helper()
	folder := filepath.Join(dir, ".bmad-task")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		s := workflow.Default().NewSession(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), "an older thing", dir, "bench", time.Unix(int64(i), 0).UTC())
		s.TaskName = fmt.Sprintf("an-older-thing-%d", i)
		data, err := store.Encode(s)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "session-"+s.SessionID+".json"), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplyBytes reports the bytes of the replies of whole runs on real documents.
func BenchmarkReplyBytes(b *testing.B) {
	for b.Loop() {
		bench := newBench(b)
		const run = "webhook-relay"
		bench.do(start("Build a webhook relay"))
		bench.do(submit(workflow.PO, sample(b, run, "03-po-second.json")))
		bench.do(confirm(true))
		bench.do(submit(workflow.Architect, sample(b, run, "05-architect-second.md")))
		bench.do(confirm(true))
		bench.do(submit(workflow.SM, sample(b, run, "06-sm-first.json")))
		bench.do(approve(true, ""))
		bench.do(submit(workflow.Dev, sample(b, run, "07-dev-first.md")))
		bench.do(submit(workflow.Review, sample(b, run, "10-review-second.md")))
		bench.do(submit(workflow.QA, sample(b, run, "11-qa.md")))
		b.ReportMetric(float64(bench.bytes), "bytes/run")
		b.ReportMetric(float64(bench.most), "bytes/largest")
	}
}
