package audit

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	// acceptance matches a line that announces criteria; the text behind a colon is the first of
	// them.
	acceptance = pattern.New(`(?i)^[\s>*_#+-]*(?:\d+(?:\.\d+)*[.)]?\s+)?(?:[一二三四五六七八九十]+、\s*)?(?:acceptance(?: criteri(?:a|on)| tests?)?|criteria|conditions of satisfaction|scenarios?|验收标准|验收条件|验收准则|验收要点|验收|接受标准|接受条件|通过标准|通过条件|场景)\b?[^:：|]{0,60}?(?:[*_]*\s*[:：]\s*[*_]*\s*(.*)|[*_\s]*)$`)
	// steps is a scenario, in one line or begun.
	steps = pattern.New(`(?i)\bgiven\b.*\bwhen\b|\bwhen\b.{3,}\bthen\b` +
		`|^[\s>*_+-]*(?:\d+[.)]\s+)?(?:\[[ x]\]\s+)?(?:\*\*)?(?:given|when|then)\b|(?:假如|给定|假设|前提)[^|]{2,}` +
		`|当[^|]{2,}(?:时|，|,)[^|]*(?:则|那么|应)`)
	// criteriaHeader names a column that holds criteria.
	criteriaHeader = []string{"acceptance criteria", "acceptance criterion", "acceptance", "criteria", "criterion",
		"accepted when", "done when", "given", "given/when/then", "验收标准", "验收条件", "验收", "标准", "通过条件", "完成条件"}
	otherLabel = pattern.New(`^\s*(?:[-*+]\s+)?(?:\*\*|__)[^*_]{2,60}(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*[:：])`)
)

// markCriteria finds the lines that state an acceptance criterion: lines with an AC id, lines below
// one that announces criteria, scenarios, and the cells of a column of criteria.
func markCriteria(d *markdown.Document) []bool {
	criterion := make([]bool, len(d.Lines))
	var r criteriaReader
	next := 0
	for i := range d.Said {
		var h *markdown.Heading
		for next < len(d.Heads) && d.Heads[next].Line <= i {
			if d.Heads[next].Line == i {
				h = &d.Heads[next]
			}
			next++
		}
		switch {
		case d.Code[i]: // a scenario may stand in a block of its own
			criterion[i] = r.inside && steps.MatchString(d.Lines[i])
		case strings.TrimSpace(d.Said[i]) == "":
			r.blank = true
		default:
			criterion[i] = r.readLine(d, i, h)
		}
	}
	return criterion
}

// criteriaReader goes through a document and knows whether the current line is below one that
// announced criteria.
type criteriaReader struct {
	inside, blank bool
	level, indent int // of the heading or the item that announced them
}

// readLine reports whether line i, which may be a heading, states a criterion.
func (r *criteriaReader) readLine(d *markdown.Document, i int, h *markdown.Heading) bool {
	l := d.Said[i]
	depth, _, isItem := markdown.Item(l)
	row, isRow := d.Rows[i]
	if strings.Contains(l, "AC") {
		if def, ok := definitionAt(d, i); ok && def.id.prefix == "AC" {
			return true
		}
	}
	if m := matchAcceptance(l); m != nil && !isRow && isAnnouncement(strings.TrimSpace(l), h != nil, isItem, m[1]) {
		r.beginCriteria(h, isItem, depth)
		return hasSubstance(m[1])
	}
	switch {
	case h != nil && h.Level <= markdown.BoldKnown:
		r.inside = r.inside && r.level < h.Level
	case otherLabel.MatchString(l), isItem && depth <= r.indent:
		r.inside = false
	}
	blank := r.blank
	r.blank = false
	if containsAny(l, "iven", "hen", "IVEN", "HEN", "假", "给定", "前提", "当") && steps.MatchString(l) {
		return true
	}
	if isRow {
		return r.inside || hasSubstance(row.Cell(d.Tables[row.Table].Column(criteriaHeader...)))
	}
	continues := isItem || !blank || strings.HasPrefix(l, " ")
	return r.inside && h == nil && continues
}

// beginCriteria notes the line that announces the criteria below it.
func (r *criteriaReader) beginCriteria(h *markdown.Heading, isItem bool, depth int) {
	*r = criteriaReader{inside: true, level: markdown.BoldOther + 1, indent: -1}
	if h != nil {
		r.level = h.Level
	} else if isItem {
		r.indent = depth
	}
}

// matchAcceptance matches acceptance, in a line that is not too long for a reader.
func matchAcceptance(l string) []string {
	if len(l) > 4000 {
		return nil
	}
	m := acceptance.FindStringSubmatch(l)
	if m == nil || !containsAny(l, "ccept", "riteri", "onditions", "cenario", "CCEPT", "RITERI", "验收", "接受", "通过", "场景") {
		return nil // even if a scenario is written in capitals alone
	}
	return m
}

// isAnnouncement reports whether a line is a label, and not a sentence that begins with the same
// word.
func isAnnouncement(trimmed string, onHeading, isItem bool, behind string) bool {
	plain := strings.TrimRight(trimmed, "*_ ")
	colon := strings.HasSuffix(plain, ":") || strings.HasSuffix(plain, "：")
	short := isItem && len(trimmed) < 60
	return onHeading || behind != "" || colon || short || strings.HasPrefix(trimmed, "*")
}
