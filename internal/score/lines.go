package score

import (
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// line is one line of a report with its context: code, comments and quotations cannot
// make a report pass.
type line struct {
	number  int
	text    string // without decoration
	heading int    // the level of a heading, 0 for any other line
	fenced  bool
	data    bool // in a fence of a language that holds values or code and no tool's output
	comment bool
	quoted  bool
	table   bool
	// later is true below a heading about what is for later.
	later bool
	// earlier is true below a heading, or in a log under a line, about an earlier round.
	earlier bool
}

// spoken reports whether the report itself says the line.
func (l line) spoken() bool { return !l.fenced && !l.comment && !l.quoted && !l.earlier }

var (
	anyFence    = pattern.New("^[ \\t>]*(?:[-*+][ \\t]+)?(```+|~~~+)[ \\t]*([\\w+#.-]*)")
	headingLine = pattern.New(`^[ \t]{0,3}(#{1,6})[ \t]`)
	boldLine    = pattern.New(`^[ \t]*\*\*[^*]+\*\*[ \t]*[:：]?[ \t]*$`)
	// What a terminal, HTML and struck text put around words.
	ansi   = pattern.New("\x1b\\[[0-9;]*[A-Za-z]")
	tag    = pattern.New(`</?[a-zA-Z][^<>]{0,200}>`)
	struck = pattern.New(`~~[^~]{1,200}~~`)
)

// Tables as terminals draw them.
var (
	drawn     = strings.NewReplacer("│", "|", "┃", "|", "║", "|")
	drawnMark = pattern.New(`[│┃║┼┿╪]`)
	drawnRule = pattern.New(`^[ \t]*[|+┌├└╔╠╚┏┣┗╒╞╘┡╟][|+─━═┬┼┴┐┤┘╦╬╩╗╣╝┳╋┻┓┫┛╤╪╧╕╡╛┿╇┩╫╢-]{3,}[ \t]*$`)
)

// dataLanguages are those of fences that show values and code.
var dataLanguages = map[string]bool{
	"json": true, "json5": true, "jsonc": true, "yaml": true, "yml": true, "toml": true, "sql": true, "go": true, "js": true, "javascript": true,
	"ts": true, "typescript": true, "tsx": true, "jsx": true, "python": true, "py": true, "java": true, "kotlin": true, "rust": true, "rs": true,
	"c": true, "cpp": true, "csharp": true, "cs": true, "ruby": true, "rb": true, "php": true, "html": true, "css": true, "http": true,
	"diff": true, "patch": true, "gherkin": true, "feature": true, "mermaid": true, "graphql": true, "proto": true, "swift": true,
}

// reader keeps what the lines before one say about it.
type reader struct {
	out        []line
	fence      string
	fenceLine  int
	data       bool
	later      int // the level of the heading that is about what is for later, 0: none
	earlier    int // the level of the heading that speaks of an earlier round, 0: none
	earlierLog bool
	comments   markdown.Comments
	last       string // the last line that was not empty, outside fences
}

// readLines cuts a report into lines.
func readLines(document string, m *meter) []line {
	if m.lines != nil && m.text == document {
		return m.lines
	}
	r := reader{}
	n := 0
	for text := range strings.Lines(document) {
		n++
		m.charge(len(text))
		if m.stopped() {
			break
		}
		r.add(n, strings.TrimRight(text, " \t\r\n"))
	}
	if r.fence != "" { // never closed: the rest of the report is not certainly a log
		for i := range r.out {
			if r.out[i].number > r.fenceLine {
				r.out[i].data = false
			}
		}
	}
	if r.comments.Open { // never closed: hidden from readers, and not from us
		for i := range r.out {
			if r.out[i].number >= r.comments.From {
				r.out[i].comment, r.out[i].quoted = false, true
			}
		}
	}
	m.text, m.lines = document, r.out
	return r.out
}

func (r *reader) add(n int, text string) {
	if m := fenceOf(text); m != nil && !r.comments.Open && (r.fence == "" || strings.HasPrefix(m[1], r.fence) && m[2] == "") {
		r.turn(n, m[1], m[2])
		return
	}
	l := line{number: n, fenced: r.fence != "", data: r.data, earlier: r.earlier > 0 || r.earlierLog, later: r.later > 0}
	if strings.Contains(text, "\uff10"[:1]) { // the first byte of all full-width characters
		text = narrow().Replace(text)
	}
	if strings.ContainsRune(text, '\x1b') {
		text = ansi.ReplaceAllString(text, "")
	}
	if !l.fenced {
		text, l.comment = r.uncomment(n, text)
		if strings.Contains(text, "<") {
			text = tag.ReplaceAllString(text, " ")
		}
		if strings.Contains(text, "~~") {
			text = struck.ReplaceAllString(text, "")
		}
		r.head(&l, text)
		trimmed := strings.TrimSpace(text)
		l.quoted = strings.HasPrefix(trimmed, ">")
		l.table = strings.HasPrefix(trimmed, "|") || strings.Count(trimmed, "|") > 1 && tableRow(trimmed)
		if trimmed != "" {
			r.last = trimmed
		}
	}
	l.text = undrawn(text)
	if strings.TrimSpace(text) != "" {
		r.out = append(r.out, l)
	}
}

// turn opens a fence, or closes the one that is open.
func (r *reader) turn(n int, mark, language string) {
	if r.fence != "" {
		r.fence, r.data, r.earlierLog = "", false, false
		return
	}
	r.fence, r.fenceLine = mark, n
	r.data = dataLanguages[strings.ToLower(language)]
	_, r.earlierLog = r.about(r.last)
	r.earlierLog = r.earlierLog && len(r.last) < 200
}

// undrawn writes a line of a drawn table as Markdown has it.
func undrawn(text string) string {
	if drawnMark.MatchString(text) || len(text) > 2 && drawnRule.MatchString(text) {
		text = drawn.Replace(text)
		if drawnRule.MatchString(text) {
			return "|---|"
		}
	}
	return text
}

// fenceOf matches a line that opens or closes a fence.
func fenceOf(text string) []string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return nil
	}
	return anyFence.FindStringSubmatch(text)
}

func tableRow(text string) bool { return strings.Contains(text, " | ") }

// head takes in a heading, or a line in bold that stands for one.
func (r *reader) head(l *line, text string) {
	var m []string
	if at := strings.IndexByte(text, '#'); at >= 0 && at < 4 {
		m = headingLine.FindStringSubmatch(text)
	}
	switch {
	case m != nil:
		l.heading = len(m[1])
	case strings.Contains(text, "**") && boldLine.MatchString(text):
		l.heading = 7
	default:
		return
	}
	later, earlier := r.about(text)
	if r.later == 0 || l.heading <= r.later {
		r.later = 0
		if later && l.heading > 1 { // not the title
			r.later = l.heading
		}
	}
	if r.earlier == 0 || l.heading <= r.earlier {
		r.earlier, l.earlier = 0, false
		if earlier {
			r.earlier, l.earlier = l.heading, true
		}
	}
}

// about reports whether a heading is about what is for later, and about an earlier round alone.
func (*reader) about(text string) (later, earlier bool) {
	now := false
	for _, s := range sentences(text[:min(len(text), 300)], isEarlierHead|isLaterHead|isPresent) {
		later = later || s.has(isLaterHead)
		earlier = earlier || s.has(isEarlierHead)
		for _, t := range s.tokens {
			now = now || t.has(isPresent) || t.text == "2" || t.text == "two" || t.text == "二" || t.text == "rerun"
		}
	}
	return later, earlier && !now
}

// uncomment removes HTML comments from a line; hidden reports whether nothing else is on it.
func (r *reader) uncomment(n int, text string) (rest string, hidden bool) {
	if rest = r.comments.Strip(n, text); rest != text && strings.TrimSpace(rest) == "" {
		return text, true
	}
	return rest, false
}

// narrow writes full-width characters as the ASCII ones.
var narrow = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for r := '！'; r <= '～'; r++ {
		switch r {
		case '！', '（', '）', '，', '：', '；', '？', '｜', '＜', '＞': // punctuation that stays unchanged
		default:
			pairs = append(pairs, string(r), string(r-0xfee0))
		}
	}
	return strings.NewReplacer(pairs...)
})
