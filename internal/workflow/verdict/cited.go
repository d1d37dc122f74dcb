package verdict

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// place is a file named by an evidence, with the line; 0 for the file as a whole.
type place struct {
	path string
	line int
}

const (
	maxPlaces = 20   // read of one evidence
	maxNamed  = 5000 // read of one document
	maxPath   = 300  // bytes
)

// placesIn returns the possible names of files in a text: "cart/cart.go:12", "cart.go#L12-L20",
// "test_cart.py::test_adds". Nobody has looked yet whether they exist.
func placesIn(text string) []place { return readPlaces(text, maxPlaces) }

// NamedFiles returns the possible names of files in a document, each once. Nobody has looked yet whether they exist.
func NamedFiles(document string) (out []string) {
	seen := map[string]bool{}
	for _, p := range readPlaces(document, maxNamed) {
		if !seen[p.path] {
			seen[p.path] = true
			out = append(out, p.path)
		}
	}
	return out
}

// readPlaces reads at most so many places.
func readPlaces(text string, most int) (out []place) {
	for token := range tokensIn(text) {
		drive := ""
		if len(token) > 2 && token[1] == ':' && strings.ContainsAny(token[2:3], `\/`) {
			drive, token = token[:2], token[2:]
		}
		name, rest, _ := strings.Cut(token, ":")
		if before, after, ok := strings.Cut(name, "#"); ok {
			name, rest = before, after
		}
		rest = strings.TrimLeft(rest, "L")
		digits := len(rest) - len(strings.TrimLeftFunc(rest, isDigit))
		line, _ := strconv.Atoi(rest[:digits])
		name = strings.ReplaceAll(name, `\`, "/")
		if name == "" || len(name) > maxPath || line == 0 && !strings.ContainsAny(name, "./") {
			continue // a word of the sentence may be the name of a file by chance
		}
		if out = append(out, place{drive + name, line}); len(out) == most {
			break
		}
	}
	return out
}

func isDigit(c rune) bool { return '0' <= c && c <= '9' }

// tokensIn yields the words of an evidence without the marks around them, then again the parts in
// backticks as a whole, and the parts of words between Chinese characters, which need no space.
func tokensIn(text string) func(yield func(string) bool) {
	const marks = "`'\"()[]{}<>|*,;，。；：！？、（）【】《》「」“”‘’…"
	isMark := func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(marks, c) }
	isHan := func(c rune) bool { return isMark(c) || unicode.Is(unicode.Han, c) }
	return func(yield func(string) bool) {
		give := func(s string) bool {
			s = strings.TrimRight(s, ".:!?")
			return s == "" || yield(s)
		}
		for word := range strings.FieldsFuncSeq(text, isMark) {
			if !give(word) {
				return
			}
		}
		for i, part := range strings.Split(text, "`") {
			if i%2 == 1 && strings.ContainsAny(part, " ()[]") && !give(part) {
				return
			}
		}
		if strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Han, c) }) {
			for word := range strings.FieldsFuncSeq(text, isHan) {
				if !give(word) {
					return
				}
			}
		}
	}
}

// Files returns the possible names of files in the evidence of passed rows. Those that exist belong
// into [Contract.Lines].
func (r Report) Files() (out []string) {
	seen := map[string]bool{}
	for _, row := range r.Criteria {
		if row.Result != workflow.ResultPass && row.From == 0 {
			continue
		}
		for _, p := range placesIn(row.Evidence) {
			if !seen[p.path] && len(out) < maxRows {
				seen[p.path] = true
				out = append(out, p.path)
			}
		}
	}
	return out
}

// citable are the things that the evidence of a report can cite: checks that succeeded and did not
// run without a test, and the tests named in their output.
type citable struct {
	checks map[string]bool // by canonical id, with and without the engine
	tests  []string
}

func readCitable(checks []workflow.Check) citable {
	out := citable{checks: map[string]bool{}}
	for _, c := range checks {
		ran := c.Exit == 0 && ranNone(c.Output) == ""
		ids := []string{c.ID}
		if _, bare, ok := strings.Cut(c.ID, ":"); ok { // an evidence names it as its own engine did
			ids = append(ids, bare)
		}
		for _, id := range ids {
			key := criteria.Key(id)
			if known, twice := out.checks[key]; !twice || known {
				out.checks[key] = ran
			}
		}
		if ran {
			out.tests = append(out.tests, testsIn(c.Output)...)
		}
	}
	slices.Sort(out.tests)
	out.tests = slices.Compact(out.tests)
	out.tests = out.tests[:min(len(out.tests), maxTests)]
	return out
}

// isCited reports whether something can be looked up for a row. The sentences of an evidence say
// nothing by themselves.
func (j *judge) isCited(row *workflow.Criterion) bool {
	for _, id := range splitRefs(row.Check) {
		if j.citable.checks[criteria.Key(id)] {
			return true
		}
	}
	for token := range tokensIn(row.Evidence) {
		if len(token) <= maxID && strings.ContainsFunc(token, unicode.IsLetter) && j.citable.checks[criteria.Key(token)] {
			return true
		}
	}
	for _, p := range placesIn(row.Evidence) {
		if lines, exists := j.Lines[p.path]; exists && p.line <= lines {
			return true
		}
	}
	return slices.ContainsFunc(j.citable.tests, func(name string) bool { return names(row.Evidence, name) })
}

// names reports whether a text has a name with no letter or digit beside it.
func names(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !isLatin(before) && !isLatin(after) {
			return true
		}
		at = end
	}
}

// isLatin reports whether a character goes on with a word; one in Chinese needs no space around it.
func isLatin(c rune) bool {
	return c == '_' || (unicode.IsLetter(c) || unicode.IsDigit(c)) && !unicode.Is(unicode.Han, c)
}

// judgeWords returns the report once with the ids of passed rows for which nothing can be looked up.
// Such rows stand by word only if the author insists, and then the person decides once about all.
func (j *judge) judgeWords() {
	var words []string
	for _, c := range j.out.Criteria {
		if c.ByWord && !isBare(c) {
			words = append(words, c.ID)
		}
	}
	if j.words = words; len(words) == 0 || j.Told || j.Taken || j.serverFailed() {
		return
	}
	j.addLacking(lang.T("nothing can be looked up for %s: cite a check with exit 0, a test in its output, or a file with its line; "+
		"handed in again without, they stand by word only and the human decides", List(words)))
	for _, c := range j.out.Checks {
		if none := ranNone(c.Output); c.Exit == 0 && none != "" {
			j.addLacking(lang.T("check %s ran no test: “%s”", quote(c.ID), visible.Fit(none, 160)))
		}
	}
}
