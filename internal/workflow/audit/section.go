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
	stories := slices.Contains(c.IDs, "US") && len(s.userStories()) > 0
	if stories || len(c.IDs) > 0 && len(s.nodesOf(c.IDs...)) > 0 || s.hasContentOf(c.What) || s.hasFiguresIn(c.FiguresIn) {
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

// findFigures looks at sections that are there and filled: none has a figure, and one has a name that begins as
// asked for.
func findFigures(c check, s *document) *miss {
	if s.hasContentOf(c.What) || s.hasFiguresIn(slices.Concat(c.Names, c.FiguresIn)) {
		return nil
	}
	for _, h := range s.Sections(c.Names) {
		if beginsWithName(h.Name, c.Names) && s.hasContent(h) {
			return &miss{line: h.Line, name: h.Text}
		}
	}
	return nil
}

// beginsWithName reports whether one of the names that a heading contains is at its beginning.
func beginsWithName(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return strings.HasPrefix(name, strings.TrimPrefix(n, "=")) && markdown.MatchesName(name, []string{n})
	})
}

// hasFiguresIn reports whether a section with one of the names has a figure.
func (d *text) hasFiguresIn(names []string) bool {
	return slices.ContainsFunc(d.Sections(names), func(h markdown.Heading) bool {
		for i := h.Line; i < h.End; i++ {
			if (i > h.Line || h.Rest != "") && d.hasFigure(i) {
				return true
			}
		}
		return false
	})
}

// contents are what stands for a section without its name.
var contents = []string{"", "prose", "requirements", "limits"}

var (
	// obliges matches a requirement, limit a bound of a machine.
	obliges = pattern.New(`(?i)\b(?:shall|must|should)\b|必须|必需|应当|应该|应能|不得|需要|需支持`)
	limit   = pattern.New(`(?i)\d[\d,.]*\s*\+?\s*(?:%|ms\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b|hours?\b|[kmgt]i?b\b|(?:rps|qps|tps|fps)\b|px\b|` +
		`(?:requests|connections|sessions|concurrent)\b|毫秒|秒|分钟|小时|并发|次/)`)
)

// leastLines is how many lines of a content stand for a section.
const leastLines = 3

// hasContentOf reports whether a document has what a section would, wherever it stands.
func (d *text) hasContentOf(what string) bool {
	lines := 0
	switch what {
	case "prose":
		return d.beginsWithProse()
	case "requirements":
		for i, l := range d.Said {
			_, _, isItem := markdown.Item(l)
			_, isRow := d.Rows[i]
			isHTML := strings.HasPrefix(strings.TrimSpace(l), "<")
			if d.criterion()[i] || (isItem || isRow || isHTML || containsAny(l, "SHALL", "MUST")) && obliges.MatchString(l) {
				lines++
			}
		}
	case "limits":
		for _, l := range d.Said {
			if limit.MatchString(l) {
				lines++
			}
		}
	}
	return lines >= leastLines
}

// leastWords is the length of a sentence that tells the subject of a document.
const leastWords = 8

// beginsWithProse reports whether a sentence stands before the first heading below the title.
func (d *text) beginsWithProse() bool {
	end := len(d.Lines)
	for i, h := range d.Heads {
		if h.Level <= 6 && (i > 0 || h.Level > 1) {
			end = h.Line
			break
		}
	}
	return slices.ContainsFunc(d.prose().sentences, func(s sentence) bool { return s.line < end && s.size() >= leastWords && !d.criterion()[s.line] })
}
