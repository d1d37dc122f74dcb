package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// document returns a submission of about 20 kB that keeps the run at po/refining.
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

// sizes returns the numbers of sessions in a project that actions are measured at. With -short, which
// only shows that benchmarks still run, the largest is left out: it takes a minute to make.
func sizes() []int {
	if testing.Short() {
		return []int{1, 1_000}
	}
	return []int{1, 1_000, 20_000}
}

// BenchmarkAction measures each action in projects of several sizes: the median and
// the 99th percentile, and how the median compares with that in a project of one
// session. A submission has 20 kB; only list reads more than one session.
func BenchmarkAction(b *testing.B) {
	medians := map[string]time.Duration{}
	for _, n := range sizes() {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			bench := newBench(b)
			populate(b, bench, n)
			for _, action := range benchActions() {
				b.Run("action="+action.name, func(b *testing.B) {
					var times []time.Duration
					for b.Loop() {
						b.StopTimer()
						if action.prepare != nil {
							action.prepare(bench)
						}
						b.StartTimer()
						began := time.Now()
						action.do(bench)
						times = append(times, time.Since(began))
					}
					slices.Sort(times)
					median := times[len(times)/2]
					if n == 1 {
						medians[action.name] = median
					}
					b.ReportMetric(float64(median.Nanoseconds()), "p50-ns/op")
					b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns/op")
					if alone := medians[action.name]; alone > 0 {
						b.ReportMetric(float64(median)/float64(alone), "x-of-one-session")
					}
				})
			}
		})
	}
}

type benchAction struct {
	name        string
	prepare, do func(*bench)
}

func benchActions() []benchAction {
	fresh := func(b *bench) { b.do(start("build a relay")) }
	text := document()
	return []benchAction{
		{"start", nil, fresh},
		{"submit", fresh, func(b *bench) { b.do(submit(workflow.PO, text)) }},
		{"confirm", func(b *bench) {
			fresh(b)
			b.do(submit(workflow.PO, strings.Replace(text, "70/100", "95/100", 1)))
		}, func(b *bench) { b.do(confirm(true)) }},
		{"status", nil, func(b *bench) { b.do(request.Request{Action: workflow.ActionStatus}) }},
		{"refused", nil, func(b *bench) { // without a session, in the language of the project
			if _, err := b.engine.Do(ctx, request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Feedback: "no"}, Address: project.Address{Cwd: b.dir}}); err == nil {
				b.t.Fatal("not refused")
			}
		}},
		{"list", nil, func(b *bench) {
			if _, _, _, err := b.engine.Sessions(ctx, project.Address{Cwd: b.dir}); err != nil {
				b.t.Fatal(err)
			}
		}},
	}
}

// populate makes a project of n sessions that are half way through their run. Their
// files are written without the price of making them durable; the first start then
// takes over their names.
func populate(b *testing.B, bench *bench, n int) {
	b.Helper()
	bench.to(workflow.Dev, workflow.Generating)
	name := filepath.Join(bench.dir, ".bmad-task", "session-"+bench.session+".json")
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	for i := 1; i < n; i++ {
		id := fmt.Sprintf("%08d-1111-4000-8000-000000000000", i)
		text := strings.ReplaceAll(strings.ReplaceAll(string(data), bench.session, id), `"build-a-thing"`, fmt.Sprintf(`"an-older-thing-%d"`, i))
		if err := os.WriteFile(filepath.Join(filepath.Dir(name), "session-"+id+".json"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if n > 1 {
		if err := os.RemoveAll(filepath.Join(filepath.Dir(name), "names")); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(filepath.Join(filepath.Dir(name), "task-mapping.json")); err != nil {
			b.Fatal(err)
		}
	}
	bench.do(start("build a relay"))
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

// BenchmarkChanged measures how much longer a list takes that looks whether its sessions were
// changed: if each file is as it was recorded, and if each has to be verified.
func BenchmarkChanged(b *testing.B) {
	for _, n := range sizes() {
		for _, way := range []string{"as_recorded", "verified"} {
			b.Run(fmt.Sprintf("sessions=%d/%s", n, way), func(b *testing.B) {
				bench := newBench(b)
				populate(b, bench, n)
				folder := trust.UserState(bench.state)
				signer, err := folder.Signer(ctx)
				if err != nil {
					b.Fatal(err)
				}
				sessions, _, _, err := bench.engine.Sessions(ctx, project.Address{Cwd: bench.dir})
				if err != nil {
					b.Fatal(err)
				}
				for _, s := range sessions {
					data, err := os.ReadFile(filepath.Join(bench.dir, ".bmad-task", "session-"+s.SessionID+".json"))
					if err != nil {
						b.Fatal(err)
					}
					c := workflow.Checkpoint{Entries: 1, Revision: s.Revision, File: workflow.Hash(data)}
					if way == "verified" {
						c.File = ""
					}
					if err := folder.Record(ctx, signer, bench.dir, s.SessionID, c); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					if _, err := bench.engine.Changed(ctx, project.Address{Cwd: bench.dir}, sessions, false); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
