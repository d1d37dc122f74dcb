package criteria

import (
	_ "embed" // the words
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

//go:embed words.txt
var wordsText string

// lists has the lists of words.txt by their names.
var lists = readLists(wordsText)

// readLists reads lists of words.
func readLists(text string) map[string][]string {
	out := map[string][]string{}
	name := ""
	for line := range strings.Lines(text) {
		if line[0] == '#' {
			continue
		}
		if before, after, ok := strings.Cut(line, ":"); ok {
			if name, line = before, after; out[name] != nil {
				panic("words.txt has two lists " + name)
			}
		}
		for word := range strings.SplitSeq(line, ",") {
			if word = strings.TrimSpace(word); word != "" {
				out[name] = append(out[name], word)
			}
		}
	}
	return out
}

// words returns the words of lists.
func words(names ...string) (out []string) {
	for _, name := range names {
		if lists[name] == nil {
			panic("words.txt has no list " + name)
		}
		out = append(out, lists[name]...)
	}
	return out
}

// set returns the words of a list as the keys of a map.
func set(name string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words(name) {
		out[w] = true
	}
	return out
}

// oneOf returns an expression for the words of lists. The longer ones come first, because the first that matches counts.
func oneOf(names ...string) string {
	all := words(names...)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	for i, w := range all {
		if whole, ok := strings.CutPrefix(w, "="); ok {
			all[i] = whole + `\b`
		}
	}
	return `(?:` + strings.Join(all, "|") + `)`
}

// Names of sections and columns.
var (
	acceptance   = words("acceptance")
	scenarios    = words("scenarios")
	wanted       = words("wanted")
	naming       = words("naming")
	restating    = words("restating")
	other        = words("other")
	omitted      = slices.Concat(words("omitted"), markdown.Omissions)
	textColumns  = words("text columns")
	otherColumns = words("other columns")
	idColumns    = words("number columns")
)

// Letters and words at ids.
var (
	requirementFamilies = set("requirement families")
	vagueFamilies       = set("vague families")
	foreignFamilies     = set("foreign families")
	wordNumbers         = set("words before numbers")
	refWord             = set("reference words")
)

// kindOfLetters and kindOfWord are the kinds of the nodes that letters, or a word, and a number name.
var (
	kindOfLetters = kindsOf(map[Kind][]string{Criterion: words("criterion families"), Story: words("story families"), Epic: words("epic families")})
	kindOfWord    = kindsOf(map[Kind][]string{Story: words("story", "stories", "feature"), Requirement: words("requirement", "requirements"), Epic: words("epic")})
)

func kindsOf(lists map[Kind][]string) map[string]Kind {
	out := map[string]Kind{}
	for kind, list := range lists {
		for _, w := range list {
			out[w] = kind
		}
	}
	return out
}

// stem returns the letters of a family before the first hyphen: "FR" of "FR-PAY".
func stem(family string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(family, "_", "-"), "-")
	return first
}

// strong reports whether one of the parts of a family are the letters of requirements.
func strong(family string) bool {
	for part := range strings.FieldsFuncSeq(family, func(r rune) bool { return r == '-' || r == '_' }) {
		if requirementFamilies[part] {
			return true
		}
	}
	return family != "" && family[0] >= 0x80
}

// Parts of expressions: a number behind a word, as "1", "1.2", "R.0" or "A1"; the colon or dash before a title; and the
// end of a word, which in Chinese may stand right before the next.
const (
	number   = `\s*[#:]?\s*((?:[A-Za-z][.-]?)?\d{1,4}(?:\.\d{1,4}){0,3}[a-z]?)(?:[^\w.]|\.?$|\.\D)`
	titleEnd = `\s*(?:[:：.—–-]\s*(.*)|$)`
	wordEnd  = `(?:[^\pL]|$|[\p{Han}])`
)

var (
	storyWord       = pattern.New(`(?i)^(` + oneOf("story") + `)` + number)
	epicWord        = pattern.New(`(?i)^(` + oneOf("epic") + `)` + number)
	requirementWord = pattern.New(`(?i)^(` + oneOf("requirement") + `)` + number)
	featureWord     = pattern.New(`(?i)^(` + oneOf("feature") + `)` + number)
	requirementName = pattern.New(`(?i)^(?:` + oneOf("requirement") + `|rule)\s*[:：]\s*\S`)
	storyName       = pattern.New(`(?i)^` + oneOf("story") + `\s*:\s*\S`)
	gherkinFeature  = pattern.New(`(?i)^` + oneOf("gherkin feature") + `\s*[:：]\s*(\S.*)$`)
	backgroundWord  = pattern.New(`(?i)^` + oneOf("background") + `\s*[:：]`)
	scenarioWord    = pattern.New(`(?i)^(?:acceptance |验收)?` + oneOf("scenario") + `\s*(\d{1,3}(?:\.\d{1,3})?)?` + titleEnd)
	criterionWord   = pattern.New(`(?i)^` + oneOf("criterion") + `\s*#?(\d{1,3}(?:\.\d{1,3})?)` + titleEnd)
	givenWord       = pattern.New(`(?i)^` + oneOf("given") + wordEnd)
	stepWord        = pattern.New(`(?i)^` + oneOf("when", "step") + wordEnd)
	whenWord        = pattern.New(`(?i)^` + oneOf("when") + wordEnd)
	thenWord        = pattern.New(`(?i)(?:^|[^\pL])` + oneOf("then") + `(?:[^\pL]|$)|` + oneOf("then without spaces"))
	// groupWord and endLabel are labels that divide a list of criteria, and that stand behind one.
	groupWord = pattern.New(`(?i)^` + oneOf("group"))
	endLabel  = pattern.New(`(?i)^` + oneOf("end"))
	// deferredText begins the text of an id that is not to be built.
	deferredText = pattern.New(`(?i)^[\s*_:：.—–-]*` + oneOf("deferred") + `[\s*_]*(?:$|[.:：;,。，)）\]—–-])|^[\s*_:：.—–-]*[(（\[【]` + oneOf("deferred") + `(?:[^\pL]|$)|[\[(（【]` + oneOf("deferred") + `[\])）】]|^[\s*_:：.—–-]*~~`)
	// listed matches the text behind the first id of a list or range of ids.
	listed = pattern.New(`(?i)^[*_\x60\s)\]]*(?:[,、，;/&+~…-]|\.{2,3}|or\b|` + oneOf("and", "to") + `)[*_\x60\s(\[]*` +
		`(?:[A-Za-z]{1,6}[A-Za-z0-9-]{0,12}?[-_ ]?\d|\d{1,4}\b\s*(?:[,、，)\]]|$|and\b|to\b))`)
)
