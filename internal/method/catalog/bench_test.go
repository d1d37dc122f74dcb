package catalog_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// BenchmarkCatalog measures the calls of users, on installations on a disk: one of 6,000
// items, the fixture of 6.12, and a real one if TEST_BMAD_REAL_INSTALLS names it.
func BenchmarkCatalog(b *testing.B) {
	installs := []struct {
		name, agent, workflow, words string
		source                       func(b *testing.B) catalog.Source
	}{
		{"6000-items", "agent-0500", "flow-2500", "thing of number 77", func(b *testing.B) catalog.Source { return renderSetting(b, generate(1000, 5000, 2<<10)) }},
		{"fixture-6.12", "bmad-agent-analyst", "bmad-build", "writes a prd", func(b *testing.B) catalog.Source { return renderSetting(b, layout(b, "v6-skills")) }},
		{"real-6.12.0", "bmad-agent-analyst", "bmad-build", "writes a prd", func(b *testing.B) catalog.Source {
			dir := filepath.Join(os.Getenv("TEST_BMAD_REAL_INSTALLS"), "6.12.0")
			if _, err := os.Stat(filepath.Join(dir, "_bmad")); os.Getenv("TEST_BMAD_REAL_INSTALLS") == "" || err != nil {
				b.Skip("TEST_BMAD_REAL_INSTALLS names no folder with an installation of 6.12.0")
			}
			return openSource(b, catalog.Project, dir)
		}},
	}
	for _, in := range installs {
		b.Run("install="+in.name, func(b *testing.B) {
			s := in.source(b) // once for all that is measured on it
			c := catalog.Open(s)
			agent, workflow := find(b, c, catalog.Agent, in.agent), find(b, c, catalog.Workflow, in.workflow)
			ref, err := catalog.ParseRef(workflow.URI)
			if err != nil {
				b.Fatal(err)
			}
			resolveOnce := func(i catalog.Item) func(b *testing.B) {
				return func(b *testing.B) {
					if r, err := resolve.Item(c, i, at); err != nil || len(r.Parts) == 0 {
						b.Fatal(err)
					}
				}
			}
			for _, op := range []struct {
				name string
				do   func(b *testing.B)
			}{
				{"open", func(b *testing.B) {
					if catalog.Open(s).Empty() {
						b.Fatal("nothing was found")
					}
				}},
				{"fresh", func(b *testing.B) {
					if !c.Fresh() {
						b.Fatal("it is not fresh")
					}
				}},
				{"items", func(b *testing.B) {
					if len(c.Items()) < 10 {
						b.Fatal("there are too few")
					}
				}},
				{"find", func(b *testing.B) {
					if _, err := c.Find(catalog.Workflow, in.workflow); err != nil {
						b.Fatal(err)
					}
				}},
				{"find-nobody", func(b *testing.B) {
					if _, err := c.Find(catalog.Workflow, "nobody-of-that-name"); err == nil {
						b.Fatal("it was found")
					}
				}},
				{"search", func(b *testing.B) {
					if len(c.Search(in.words)) == 0 {
						b.Fatal("nothing was found")
					}
				}},
				{"resolve-agent", resolveOnce(agent)},
				{"resolve-workflow", resolveOnce(workflow)},
				{"read", func(b *testing.B) {
					if _, err := c.Read(ref); err != nil {
						b.Fatal(err)
					}
				}},
				{"files", func(b *testing.B) {
					if list, err := c.Files("**/*.md"); err != nil || len(list) == 0 {
						b.Fatal(err)
					}
				}},
			} {
				b.Run("op="+op.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						op.do(b)
					}
					if slices.Contains([]string{"open", "items"}, op.name) {
						b.ReportMetric(float64(len(c.Items())), "items")
					}
				})
			}
		})
	}
}

// renderSetting writes files into a folder that is there as long as the benchmark runs.
func renderSetting(b *testing.B, files fstest.MapFS) catalog.Source {
	b.Helper()
	dir := b.TempDir()
	write(b, dir, files)
	return openSource(b, catalog.Project, dir)
}
