package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/specimen"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
)

// writers make the documents of a run by the number of its stage.
var writers = map[string]func(stage uint64, size int) string{
	"repeated": func(_ uint64, size int) string { return specimen.Repeated(size) },
	"varied":   specimen.English,
	"chinese":  specimen.Chinese,
}

// runOf returns the documents of the stages of a run, in their order.
func runOf(b *testing.B, kind string, run, size int) []string {
	b.Helper()
	var out []string
	if kind == "real" {
		for _, name := range []string{"03-po-second.json", "05-architect-second.md", "06-sm-first.json", "09-dev-second.md", "10-review-second.md", "11-qa.md"} {
			data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "submissions", "webhook-relay", name))
			if err != nil {
				b.Fatal(err)
			}
			out = append(out, string(data))
		}
		return out
	}
	for i := range stages {
		out = append(out, writers[kind](uint64(100*run+i+1), size))
	}
	return out
}

// runAudit audits the document of a stage, with those of the stages before it.
func runAudit(b *testing.B, stage int, documents []string) {
	b.Helper()
	known := audit.Background{Plan: workflow.SM, Objective: "Build a relay that stores webhooks and delivers them again", Earlier: map[workflow.StageID]string{}}
	for i := range stage {
		known.Earlier[workflow.StageID(stages[i])] = documents[i]
	}
	rubric(b, workflow.StageID(stages[stage])).Audit(documents[stage], known)
}

// BenchmarkAudit audits a run of documents of about 20 kB, a stage after the other: how long each
// takes of the processor, and how many times the cheapest the dearest one takes.
func BenchmarkAudit(b *testing.B) {
	for _, kind := range []string{"repeated", "varied", "chinese", "real"} {
		b.Run("documents="+kind, func(b *testing.B) {
			took := make([]time.Duration, len(stages))
			for run := 0; b.Loop(); run++ {
				b.StopTimer()
				documents := runOf(b, kind, run, 20<<10) // others for each run, as people write them
				b.StartTimer()
				for stage := range stages {
					began := specimen.Processor()
					runAudit(b, stage, documents)
					took[stage] += specimen.Processor() - began
				}
			}
			for i, stage := range stages {
				b.ReportMetric(float64(took[i].Microseconds())/float64(b.N)/1000, stage+"-ms")
			}
			b.ReportMetric(float64(slices.Max(took))/float64(slices.Min(took)), "dearest/cheapest")
		})
	}
}

// BenchmarkLookAgain audits a document a second time, as a later stage reads it, and reports the
// share of the first look's time that it takes.
func BenchmarkLookAgain(b *testing.B) {
	var first, second time.Duration
	for i := uint64(1); b.Loop(); i++ {
		earlier := map[workflow.StageID]string{workflow.PO: specimen.English(i, 20<<10)}
		for _, total := range []*time.Duration{&first, &second} {
			began := specimen.Processor()
			rubric(b, workflow.Dev).Audit("# R\n\nDone.\n", audit.Background{Plan: workflow.SM, Earlier: earlier})
			*total += specimen.Processor() - began
		}
	}
	b.ReportMetric(float64(second)/float64(first), "second/first")
}

// BenchmarkSize audits documents from 20 kB to 2 MB by the rubric of each stage: how long one
// takes, and how a byte of it compares with a byte of 20 kB.
func BenchmarkSize(b *testing.B) {
	small := map[string]float64{}
	for _, size := range []int{20 << 10, 100 << 10, 2 << 20} {
		for i, stage := range stages {
			b.Run(fmt.Sprintf("kB=%d/stage=%s", size>>10, stage), func(b *testing.B) {
				document := specimen.English(uint64(i+1), size)
				began := specimen.Processor()
				for b.Loop() {
					rubric(b, workflow.StageID(stage)).Audit(document, audit.Background{Plan: workflow.SM})
				}
				took := float64((specimen.Processor() - began).Microseconds()) / float64(b.N)
				small[stage] = max(small[stage], map[bool]float64{true: took}[size == 20<<10])
				b.ReportMetric(took/1000, "ms")
				// An audit reads the first megabyte.
				b.ReportMetric(took/small[stage]*float64(20<<10)/float64(min(size, 1<<20)), "x-per-byte")
			})
		}
	}
}

// BenchmarkHard audits texts of which each line, or the one there is, is hard to read: the
// dearest stage of each, for a megabyte.
func BenchmarkHard(b *testing.B) {
	for _, name := range sortedNames(hard) {
		b.Run("text="+name, func(b *testing.B) {
			document := strings.Repeat(hard[name], (1<<20)/len(hard[name]))
			took := make([]time.Duration, len(stages))
			for b.Loop() {
				for i, stage := range stages {
					began := specimen.Processor()
					rubric(b, workflow.StageID(stage)).Audit(document, audit.Background{Plan: workflow.SM})
					took[i] += specimen.Processor() - began
				}
			}
			b.ReportMetric(float64(slices.Max(took).Microseconds())/float64(b.N)/1000, "dearest-ms")
		})
	}
}

func sortedNames(texts map[string]string) []string {
	var out []string
	for name := range texts {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
