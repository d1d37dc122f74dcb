package audit

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// findSection looks for a heading with one of the names and something below it.
func findSection(c check, s *document) *miss {
	found := s.Sections(c.Names)
	names := wholeNames(c.Names)
	for _, t := range s.Tables {
		// A table with such a header needs no heading.
		if markdown.MatchesName(markdown.NameOf(t.Header[0]), names) && len(t.Rows) > 0 {
			return nil
		}
	}
	if len(c.IDs) > 0 && len(s.definitionsOf(c.IDs...)) > 0 {
		return nil
	}
	if len(found) == 0 {
		return &miss{line: -1, either: []string{c.Name}, accepts: c.Names}
	}
	if slices.ContainsFunc(found, s.hasContent) {
		return nil
	}
	return &miss{line: found[0].Line, either: []string{c.Name}, accepts: c.Names, problem: emptySection}
}

// emptySection is the problem of a section with nothing below the heading.
const emptySection = `the section "{name}" is empty`

// wholeNames makes names match only as a whole.
func wholeNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "=" + strings.TrimPrefix(n, "=")
	}
	return out
}

// hasContent reports whether a heading has text, a list, a table row or code below it.
func (d *text) hasContent(h markdown.Heading) bool {
	if hasSubstance(h.Rest) {
		return true
	}
	for i := h.Line + 1; i < h.End; i++ {
		header := i+1 < len(d.Lines) && markdown.IsTableRule(d.Lines[i+1]) && strings.Contains(d.Lines[i], "|")
		switch {
		case d.Code[i] && !isFence(d.Lines[i]) && hasSubstance(d.Lines[i]):
			return true
		case d.Code[i] || header || markdown.IsUnderline(d.Lines[i]):
		case strings.TrimSpace(d.Said[i]) == "" || isHash(d.Lines[i]):
		case d.Rows[i].Cells != nil:
			if slices.ContainsFunc(d.Rows[i].Cells, hasSubstance) {
				return true
			}
		case label.MatchString(d.Lines[i]):
		case hasSubstance(d.Said[i]) || strings.Contains(d.Lines[i], "`"):
			return true
		}
	}
	return false
}

func isFence(l string) bool { _, _, ok := markdown.Fence(l); return ok }

func isHash(l string) bool { _, _, ok := markdown.HashHeading(l); return ok }

// label is a bold line alone, which announces the text below it.
var label = pattern.New(`^\s*(?:[-*+]\s+)?(?:\*\*|__)[^*_]+(?:\*\*|__)\s*[:：]?\s*$`)

var (
	// measure is a number with a unit, a percentage or a bound.
	measure = pattern.New(`(?i)\d[\d,.]*[ -]?(?:%|％|‰|°|ms\b|µs|s\b|sec|min|h\b|hours?|hrs?\b|days?|weeks?|months?` +
		`|quarters?|years?|[kmgt]i?b\b|[kmg]bit|bytes?|bits?\b|px\b|dpi|hz\b|[kmg]hz|w\b|kwh|m\b|km\b|cm\b|mm\b|€|\$` +
		`|usd|eur|gbp|chf|rps|qps|tps|fps|vcpus?|cores?|cpus?)` +
		`|(?:^|[^a-z:.\d])\d[\d,.]*\s?(?:毫秒|秒|分|小时|时|天|日|周|个|月|年|次|条|人|位|元|名|项|款|台|件|张|页|家|倍|核|兆|万|千|百|亿|成|封|户|册|间|座|扇|套|份|支|辆|笔|票|像素|吨|公斤|公里|遍|轮|格)` +
		`|[<>≤≥±€$£¥]\s*=?\s*\d|(?:less|fewer|more) than\s+\d|(?:under|below|above|within|up to|at (?:least|most)|over|every|per|about|max\.?|min\.?|target:?|limit:?)\s+[€$£]?\d` +
		`|(?:不超过|不低于|不少于|不高于|低于|高于|超过|至少|至多|最多|最少|小于|大于|少于|多于|约|为|达到|达|≈|每(?:秒|分钟|小时|天|日|周|月|年)|上限[:：]?|目标[:：]?)\s*[¥]?\d|\d\s*(?:以内|以下|以上)`)
	// counted is a number before a plain word: "10,000 tasks", but not "PostgreSQL 16 database";
	// countedHan one within a Chinese sentence.
	counted    = pattern.New(`(?:^|[(（|,:;]\s*|\b[a-z]+,? )\d[\d,. ]*\d*\s+[a-z]{3,}`)
	countedHan = pattern.New(`\p{Han}\s*\d[\d,]*\s*\p{Han}`)
	numeral    = pattern.New(`^[~≈<>≤≥=±]*\s*[€$£¥]?\d[\d,.]*\s*(?:[%％+]|\S{1,12})?$`)
	inWords    = pattern.New(`(?i)\b(?:zero|none lost|twice|half)\b|\b(?:one|two|three|four|five|six|seven|eight` +
		`|nine|ten|twelve|fifteen|twenty|thirty|sixty|hundred|thousand|million)\s+(?:ms|milliseconds?|seconds?` +
		`|minutes?|hours?|(?:working |business )?days?|weeks?|months?|years?|percent|users?|people|requests?|times` +
		`|taps?|clicks?|retries)\b` +
		`|(?:[二三四五六七八九十百千两半]|[一二三四五六七八九十百千两]{2,})(?:秒|分钟|个?小时|天|周|个月|年|次|人|倍|成)|一(?:秒|分钟|小时|年)|零(?:丢失|差错|故障)|一半|翻[一两]?[倍番]`)
	// notFigures are dates and ordinals, which count nothing.
	notFigures = pattern.New(`\d{4}\s*年|\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])|第\s*[一二三四五六七八九十百\d]+`)
)

// hasFigure reports whether a line gives a figure. Ids and dates of the project count for nothing.
func (d *text) hasFigure(i int) bool {
	l := d.Lines[i]
	l = notFigures.ReplaceAllString(l, " ")
	if !strings.ContainsAny(l, "0123456789") {
		return inWords.MatchString(l)
	}
	bare := blankIDs(l)
	if measure.MatchString(bare) || inWords.MatchString(l) {
		return true
	}
	if row, ok := d.Rows[i]; ok && slices.ContainsFunc(row.Cells[1:], numeral.MatchString) {
		return true
	}
	if _, body, ok := markdown.Item(l); ok {
		bare = blankIDs(body)
	}
	return counted.MatchString(bare) || countedHan.MatchString(bare)
}

// findFigures looks at sections that are there and filled, but have no figure.
func findFigures(c check, s *document) *miss {
	sections := s.Sections(c.Names)
	at := slices.IndexFunc(sections, s.hasContent)
	if at < 0 {
		return nil
	}
	h := sections[at]
	for i := h.Line; i < h.End; i++ {
		belongs := i > h.Line || h.Rest != ""
		if belongs && s.hasFigure(i) {
			return nil
		}
	}
	return &miss{line: h.Line, name: h.Text}
}
