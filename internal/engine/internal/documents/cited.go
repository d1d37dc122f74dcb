package documents

import (
	"bytes"
	"math"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// maxCounted bounds the bytes of a file read for the number of its lines.
const maxCounted = 1 << 20

// CountLines returns the numbers of lines of the files that a report cites and that exist, by the
// names in the report: files of the project, or artifacts of the run by their names alone. A
// report cannot cite itself.
func (d *Disk) CountLines(s *standing.Standing, r verdict.Report) map[string]int {
	out := map[string]int{}
	for _, name := range r.Files() {
		for _, local := range []string{d.project.Local(name), s.Tasks + name} {
			if local == s.Draft.Work || local == s.ArtifactPath(s.Stage) || !filepath.IsLocal(filepath.FromSlash(local)) {
				continue
			}
			data, more, err := durable.ReadHead(d.project.Dir.Tree(), local, maxCounted)
			if err != nil {
				continue
			}
			out[name] = bytes.Count(data, []byte("\n"))
			if more {
				out[name] = math.MaxInt
			} else if len(data) > 0 && data[len(data)-1] != '\n' {
				out[name]++
			}
			break
		}
	}
	return out
}
