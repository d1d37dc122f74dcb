package audit

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/recent"
)

// disownRules are the sentences of words/disowned.yaml.
type disownRules struct {
	english, chinese disownLanguage
	// topics matches a sentence with one of the topics of either language.
	topics *pattern.Pattern
}

// disownLanguage are the rules of one language, as patterns of a clause that clauses has written.
type disownLanguage struct {
	han    bool // Chinese
	rules  []disownRule
	unless []string
	// topics are words that may be the subject of a document.
	topics []string
	// needs are the parts of each rule that a clause has to have, as bits; by word says which
	// of them a word may belong to. Few clauses have all parts of a rule, and only they are
	// matched with it.
	needs  []uint32
	byWord map[string][]rulePart
}

// disownRule is one rule: its parts stand in one clause, or anywhere in the sentence.
type disownRule []*pattern.Pattern

// rulePart is one part of one rule.
type rulePart struct {
	rule int
	bit  uint32
}

// disownings returns the rules.
var disownings = embeddedOnce(readDisowned)

func readDisowned() (*disownRules, error) {
	d := &disownRules{}
	type language struct {
		Sets   map[string][]string `yaml:"sets"`
		Rules  []string            `yaml:"rules"`
		Unless []string            `yaml:"unless"`
		Topics []string            `yaml:"topics"`
	}
	var raw struct {
		English language `yaml:"english"`
		Chinese language `yaml:"chinese"`
	}
	if err := readList("disowned.yaml", &raw); err != nil {
		return nil, err
	}
	var topics []string
	d.chinese.han = true
	for to, from := range map[*disownLanguage]language{&d.english: raw.English, &d.chinese: raw.Chinese} {
		to.unless, to.topics, to.byWord = from.Unless, from.Topics, map[string][]rulePart{}
		for _, rule := range from.Rules {
			var made disownRule
			for part := range strings.SplitSeq(rule, "&") {
				compiled, err := compileRule(part, from.Sets, to.han)
				if err != nil {
					return nil, err
				}
				made = append(made, compiled)
			}
			to.rules = append(to.rules, made)
			to.index(rule, from.Sets)
		}
		for _, topic := range from.Topics {
			topics = append(topics, regexp.QuoteMeta(topic))
		}
	}
	d.topics = pattern.New("(?i)" + strings.Join(topics, "|"))
	return d, nil
}

// compileRule makes a pattern of a rule. English words stand in a clause with a space
// before each, Chinese characters without any.
func compileRule(rule string, sets map[string][]string, han bool) (*pattern.Pattern, error) {
	var b strings.Builder
	for part := range strings.FieldsSeq(rule) {
		name, maybe := strings.CutSuffix(part, "?")
		alternatives := []string{name}
		switch {
		case part == "^" || part == "$":
			b.WriteString(part)
			continue
		case part == ".." && han:
			b.WriteString(`.{0,8}?`)
			continue
		case part == "..":
			b.WriteString(`(?: [^ ]+){0,4}?`)
			continue
		case strings.HasPrefix(name, "<"):
			if alternatives = sets[strings.Trim(name, "<>")]; alternatives == nil {
				return nil, fmt.Errorf("words/disowned.yaml: the rule %q has no set %s", rule, name)
			}
		}
		// The longest first: the first that fits is taken.
		alternatives = slices.Clone(alternatives)
		slices.SortFunc(alternatives, func(a, b string) int { return len(b) - len(a) })
		for i, a := range alternatives {
			alternatives[i] = regexp.QuoteMeta(a)
			if !han {
				alternatives[i] = " " + alternatives[i]
			}
		}
		b.WriteString("(?:" + strings.Join(alternatives, "|") + ")")
		if maybe {
			b.WriteString("?")
		}
	}
	source := b.String()
	if !han && !strings.HasSuffix(source, "$") {
		source += `(?: |$)`
	}
	return pattern.New(source), nil
}

// index notes by which words, or Chinese characters, a clause can be told to lack a part
// of the rule that was added last.
func (l *disownLanguage) index(rule string, sets map[string][]string) {
	number, needs := len(l.rules)-1, uint32(0)
	for i, part := range strings.Fields(rule) {
		if strings.HasSuffix(part, "?") || part == ".." || part == "^" || part == "$" || part == "&" || part == "<be>" || i >= 32 {
			continue
		}
		alternatives := []string{part}
		if strings.HasPrefix(part, "<") {
			alternatives = sets[strings.Trim(part, "<>")]
		}
		needs |= 1 << i
		words := map[string]bool{}
		for _, a := range alternatives {
			words[longestWord(a, l.han)] = true
		}
		for w := range words {
			l.byWord[w] = append(l.byWord[w], rulePart{number, 1 << i})
		}
	}
	l.needs = append(l.needs, needs)
}

// longestWord returns the word of a phrase that fewest clauses have, or the first character of
// a Chinese one.
func longestWord(phrase string, han bool) string {
	if han {
		return string([]rune(phrase)[:1])
	}
	longest := ""
	for w := range strings.FieldsSeq(phrase) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	return longest
}

// candidates returns the rules of which a sentence has all parts, in whatever order.
func (l disownLanguage) candidates(clauses []string) []int {
	found := make([]uint32, len(l.rules))
	add := func(w string) {
		for _, p := range l.byWord[w] {
			found[p.rule] |= p.bit
		}
	}
	for _, c := range clauses {
		if !l.han {
			for w := range strings.SplitSeq(c[1:], " ") { // each word has a space before it
				add(w)
			}
			continue
		}
		for i, r := range c {
			add(c[i : i+utf8.RuneLen(r)])
		}
	}
	var out []int
	for rule, bits := range found {
		if bits != 0 && bits == l.needs[rule] {
			out = append(out, rule)
		}
	}
	return out
}

// findDisowned finds a sentence that says of the document that nothing in it is so.
func findDisowned(_ check, s *document) *miss {
	findings := s.reportedFindings() // of the work, not of the report
	topic := s.prose().topics()
	var out miss
	for _, sentence := range s.prose().sentences {
		_, found := slices.BinarySearch(findings, sentence.line)
		if found || len(sentence.raw) > 2000 || !disowns(sentence.raw, topic) {
			continue
		}
		out.name = cmp.Or(out.name, clip(sentence.raw, 100))
		out.add(sentence.line, atLine(sentence.line))
	}
	return out.found()
}

// quoted matches words of somebody else, or a text of the product.
var quoted = pattern.New(`"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|‘[^’]*’`)

// topics returns the words of invention that a document has in three sentences or more.
func (p *prose) topics() map[string]bool {
	rules := disownings()
	count, out := map[string]int{}, map[string]bool{}
	for _, s := range p.sentences {
		if !rules.topics.MatchString(" " + s.raw + " ") {
			continue // as most
		}
		lower := " " + strings.ToLower(s.raw) + " "
		for _, t := range slices.Concat(rules.english.topics, rules.chinese.topics) {
			if strings.Contains(lower, t) {
				count[t]++
			}
		}
	}
	for t, n := range count {
		if n >= 3 {
			out[t] = true
		}
	}
	return out
}

var (
	// plainly are the hashes of the sentences read last that take nothing back, whatever the topic: most of a
	// document are the same in its next round, and in another document of the run.
	plainly = recent.New[uint64, struct{}](4000)
	seed    = maphash.MakeSeed()
)

// disowns reports whether a sentence takes the document back, which is about the topic.
func disowns(raw string, topic map[string]bool) bool {
	hash := maphash.String(seed, raw)
	if _, known := plainly.Get(hash); known {
		return false
	}
	rules := disownings()
	words, han := clauses(quoted.ReplaceAllString(raw, " "))
	if rules.english.match(words, topic) || rules.chinese.match(han, topic) {
		return true
	}
	if len(topic) == 0 {
		plainly.Put(hash, struct{}{})
	}
	return false
}

// match reports whether a sentence, by its clauses, takes the document back. topic has the words
// of the document's subject.
func (l disownLanguage) match(clauses []string, topic map[string]bool) bool {
	for _, i := range l.candidates(clauses) {
		hit := true
		for _, part := range l.rules[i] {
			hit = hit && slices.ContainsFunc(clauses, func(c string) bool {
				if len(l.rules[i]) == 1 {
					return part.MatchString(c)
				}
				at := part.FindStringIndex(c)
				return at != nil && !topic[strings.TrimSpace(c[at[0]:at[1]])] && !negates(c[:at[0]])
			})
		}
		if hit {
			return !slices.ContainsFunc(clauses, func(c string) bool { return containsPhrase(c, l.unless) })
		}
	}
	return false
}

// negates reports whether the words behind it are denied: "none of the figures is …".
func negates(before string) bool {
	words := strings.Fields(before)
	for _, w := range words[max(0, len(words)-6):] {
		switch w {
		case "no", "none", "not", "nothing", "never", "neither", "nor", "without", "isn't", "aren't", "wasn't", "weren't":
			return true
		}
	}
	return strings.HasSuffix(before, "不") || strings.HasSuffix(before, "没有") || strings.HasSuffix(before, "并非") || strings.HasSuffix(before, "不是")
}

// containsPhrase reports whether a clause has one of the phrases, as whole words.
func containsPhrase(clause string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		if p[0] >= 0x80 {
			return strings.Contains(clause, p)
		}
		return strings.Contains(clause+" ", " "+p+" ")
	})
}

func endsClause(r rune) bool { return strings.ContainsRune(",;:，、：；()（）—–|", r) }

// inClauseWord reports whether a character belongs to a word, behind one of its characters or not.
func inClauseWord(c rune, behind bool) bool {
	switch {
	case c >= 'a' && c <= 'z':
		return true
	case c == '\'' || c == '’' || c == '-':
		return behind
	}
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

// clauses cuts a sentence at its commas: English words with a space before each, and
// Chinese characters without any.
func clauses(raw string) (words, han []string) {
	for clause := range strings.FieldsFuncSeq(raw, endsClause) {
		var w, h strings.Builder
		inWord := false
		for _, c := range clause {
			c = unicode.ToLower(c)
			switch {
			case isHan(c):
				h.WriteRune(c)
				inWord = false
			case inClauseWord(c, inWord):
				if !inWord {
					w.WriteByte(' ')
				}
				inWord = true
				if c == '’' {
					c = '\''
				}
				w.WriteRune(c)
			default:
				inWord = false
			}
		}
		if w.Len() > 0 {
			words = append(words, w.String())
		}
		if h.Len() > 0 {
			han = append(han, h.String())
		}
	}
	return words, han
}
