package score

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bmad-mcp/internal/workflow"
)

var (
	// "## Sprint 1: title", and as people vary it: an emoji before, "(2 weeks)" after the number, no colon, 第1个冲刺.
	sprintHeading = regexp.MustCompile(`(?i)^#{1,4}\s*[^\w\p{Han}]*(?:(?:sprint|冲刺|迭代)\s*#?\s*(\d{1,4}|[一二三四五六七八九十])|第\s*(\d{1,4}|[一二三四五六七八九十])\s*个?\s*(?:冲刺|迭代))\s*[*_]*\s*(?:[(（][^)）]*[)）])?\s*[*_]*(?:(?:[:：\-–—]+|\.\s|\s)\s*(.*?))?\s*#*\s*$`)
	fenceLine     = regexp.MustCompile("^\\s{0,3}(```+|~~~+)")
	fenceLines    = regexp.MustCompile("(?m)^ {0,3}(?:```+|~~~+)")
)

var hanDigits = []string{"一", "二", "三", "四", "五", "六", "七", "八", "九", "十"}

// sprintObjects reads the sprints of a plan that is structured JSON.
func sprintObjects(object map[string]any) (out []workflow.Sprint) {
	for _, v := range []any{object["sprints"], object["sprint_plan"], object["plan"]} {
		if inner, ok := v.(map[string]any); ok {
			v = inner["sprints"]
		}
		list, _ := v.([]any)
		for _, item := range list {
			o, ok := item.(map[string]any)
			numbers := intList(field(o, "number", "sprint", "id"))
			if !ok || len(numbers) == 0 || slices.ContainsFunc(out, func(s workflow.Sprint) bool { return s.Number == numbers[0] }) {
				continue
			}
			title := field(o, "title", "name", "goal")
			if title == "" {
				title = fmt.Sprintf("Sprint %d", numbers[0])
			}
			out = append(out, workflow.Sprint{Number: numbers[0], Title: clipRunes(title, 120), Status: workflow.SprintPending})
		}
	}
	return out
}

// ReadSprints reads the headings "## Sprint N: title" of a plan, in their order,
// outside code fences. A number that comes twice counts once; repeated says so.
func ReadSprints(document string) (out []workflow.Sprint, repeated []string) {
	seen := map[int]bool{}
	fence := ""
	// A fence that is never closed hides nothing.
	unclosed := len(fenceLines.FindAllString(document, -1))%2 == 1
	for line := range strings.Lines(document) {
		line = strings.TrimRight(line, " \t\r\n")
		if m := fenceLine.FindStringSubmatch(line); m != nil && !unclosed {
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
		number := m[1] + m[2]
		n, err := strconv.Atoi(number)
		if err != nil {
			n = slices.Index(hanDigits, number) + 1
		}
		if seen[n] {
			repeated = append(repeated, fmt.Sprintf("Sprint %d has two headings; only the first counts, so number the other anew", n))
			continue
		}
		seen[n] = true
		title := strings.Trim(m[3], "*_ :：-–—")
		if title == "" {
			title = fmt.Sprintf("Sprint %d", n)
		}
		out = append(out, workflow.Sprint{Number: n, Title: clipRunes(title, 120), Status: workflow.SprintPending})
	}
	return out, repeated
}
