package score

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	// "## Sprint 1: title", and as people vary it: an emoji before, "(2 weeks)" after the number, no colon, 第1个冲刺.
	sprintHeading = pattern.New(`(?i)^(#{1,4})\s*[^\w\p{Han}]*(?:\d+(?:\.\d+)*\.?\s+|[一二三四五六七八九十]+、\s*)?(?:(?:sprint|冲刺|迭代)\s*#?\s*(\d{1,4}|[一二三四五六七八九十])|第\s*(\d{1,4}|[一二三四五六七八九十])\s*个?\s*(?:冲刺|迭代))\s*[*_]*\s*(?:[(（][^)）]*[)）])?\s*[*_]*(?:(?:[:：\-–—]+|\.\s|\s)\s*(.*?))?\s*#*\s*$`)
	// "Sprint 1–2 at a glance" is about several.
	sprintRange = pattern.New(`(?i)(?:sprint|冲刺|迭代)\s*#?\s*\d+\s*[–-]\s*\d`)
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
			numbers := intList(field(o, "number", "sprint", "id", "name", "title"))
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
// outside code fences. A number that comes twice counts once and is listed in repeated.
func ReadSprints(document string) (out []workflow.Sprint, repeated []lang.Text) {
	if out, repeated = readSprints(withoutFences(document)); len(out) == 0 {
		// The whole plan may stand in a fence, with words around it.
		out, repeated = readSprints(document)
	}
	return out, repeated
}

func readSprints(document string) (out []workflow.Sprint, repeated []lang.Text) {
	seen := map[int]string{} // the heading mark each number was met under
	for line := range strings.Lines(document) {
		line = strings.TrimRight(line, " \t\r\n")
		m := sprintHeading.FindStringSubmatch(line)
		if m == nil || sprintRange.MatchString(line) {
			continue
		}
		number := m[2] + m[3]
		n, err := strconv.Atoi(number)
		if err != nil {
			n = slices.Index(hanDigits, number) + 1
		}
		if mark := seen[n]; mark != "" && mark != m[1] {
			continue // "### Sprint 1 definition of done" belongs to "## Sprint 1"
		} else if mark != "" {
			repeated = append(repeated, lang.T("Sprint %d has two headings; only the first counts, so renumber the other", n))
			continue
		}
		seen[n] = m[1]
		title := strings.Trim(m[4], "*_ :：-–—·|→")
		if title == "" {
			title = fmt.Sprintf("Sprint %d", n)
		}
		out = append(out, workflow.Sprint{Number: n, Title: clipRunes(title, 120), Status: workflow.SprintPending})
	}
	return out, repeated
}
