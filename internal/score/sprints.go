package score

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"bmad-mcp/internal/workflow"
)

var (
	sprintHeading = regexp.MustCompile(`(?i)^#{1,4}\s*[*_]*\s*(?:sprint|冲刺|迭代)\s*#?\s*(\d{1,4})\s*[*_]*\s*(?:[:：.\-–—]+\s*(.*?))?\s*#*\s*$`)
	fenceLine     = regexp.MustCompile("^\\s{0,3}(```+|~~~+)")
)

// ReadSprints reads the headings "## Sprint N: title" of a plan, in their order,
// outside code fences. A number that comes twice counts once; repeated says so.
func ReadSprints(document string) (out []workflow.Sprint, repeated []string) {
	seen := map[int]bool{}
	fence := ""
	for line := range strings.Lines(document) {
		line = strings.TrimRight(line, " \t\r\n")
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			switch {
			case fence == "":
				fence = m[1]
			case strings.HasPrefix(m[1], fence):
				fence = ""
			}
			continue
		}
		m := sprintHeading.FindStringSubmatch(line)
		if fence != "" || m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		if seen[n] {
			repeated = append(repeated, fmt.Sprintf("Sprint %d has two headings; only the first counts, so number the other anew", n))
			continue
		}
		seen[n] = true
		title := strings.Trim(m[2], "*_ ")
		if title == "" {
			title = "Sprint " + m[1]
		}
		out = append(out, workflow.Sprint{Number: n, Title: clipRunes(title, 120), Status: workflow.SprintPending})
	}
	return out, repeated
}
