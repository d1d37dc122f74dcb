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

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
)

// disownRules are the sentences of words/disowned.yaml.
type disownRules struct {
	english, chinese disownLanguage
	// topics matches a sentence with one of the topics of either language.
	topics *pattern.Pattern
}

// disownLanguage are the rules of one language, for clauses of splitClauses.
type disownLanguage struct {
	han    bool // Chinese
	rules  []disownRule
	unless []string
	// topics are words that may be the subject of a document.
	topics []string
	// needs has a bit for each part that a rule requires; byWord has the parts that a word may
	// belong to. Few clauses have all parts of a rule, and only they are matched with the rule.
	needs  []uint32
	byWord map[string][]rulePart
}

// disownRule is one rule: all parts stand in one clause, or anywhere in the sentence.
type disownRule []places

// places are the places of a part of a rule, in their order.
type places []place

// rulePart is one part of one rule.
type rulePart struct{ rule, bit uint32 }

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
		sets, keys := map[string][]string{}, map[string][]string{}
		for name, words := range from.Sets {
			sets[name] = inClause(words, to.han)
		}
		for _, rule := range from.Rules {
			var made disownRule
			for part := range strings.SplitSeq(rule, "&") {
				read, err := readPart(part, sets, to.han)
				if err != nil {
					return nil, err
				}
				made = append(made, read)
			}
			to.rules = append(to.rules, made)
			to.indexRule(rule, sets, keys)
		}
		for _, topic := range from.Topics {
			topics = append(topics, regexp.QuoteMeta(topic))
		}
	}
	d.topics = pattern.New("(?i)" + strings.Join(topics, "|"))
	return d, nil
}

// place is the content of a rule at one place of a clause.
type place struct {
	// texts are the possible words, the longest first; maybe is true if none has to.
	texts []string
	maybe bool
	// gap is the number of arbitrary words or characters here. edge is '^' or '$' at the beginning or end of a
	// clause, and ' ' behind a whole word.
	gap  int
	edge byte
}

// readPart reads a part of a rule. English words stand in a clause with a space before each, Chinese
// characters without any.
func readPart(part string, sets map[string][]string, han bool) (places, error) {
	var out places
	for element := range strings.FieldsSeq(part) {
		name, maybe := strings.CutSuffix(element, "?")
		texts := sets[strings.Trim(name, "<>")]
		switch {
		case element == "^", element == "$":
			out = append(out, place{edge: element[0]})
		case element == ".." && han:
			out = append(out, place{gap: 8})
		case element == "..":
			out = append(out, place{edge: ' '}, place{gap: 4})
		case !strings.HasPrefix(name, "<"):
			out = append(out, place{texts: inClause([]string{name}, han), maybe: maybe})
		case texts == nil:
			return nil, fmt.Errorf("words/disowned.yaml: the rule %q has no set %s", part, name)
		default:
			out = append(out, place{texts: texts, maybe: maybe})
		}
	}
	if !han && out[len(out)-1].edge == 0 {
		out = append(out, place{edge: ' '})
	}
	return out, nil
}

// inClause returns words as they stand in a clause, the longest first.
func inClause(words []string, han bool) []string {
	out := slices.Clone(words)
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	for i := range out {
		if !han {
			out[i] = " " + out[i]
		}
	}
	return out
}

// find returns the first part of a clause that matches, as a regular expression would; from is -1 if there is none.
func (p places) find(clause string) (from, to int) {
	for from := range clause {
		if to := p.matchEnd(clause, from); to >= 0 {
			return from, to
		}
	}
	return -1, -1
}

// matchEnd returns the end of the match that begins at a place of a clause, or -1.
func (p places) matchEnd(clause string, at int) int {
	if len(p) == 0 {
		return at
	}
	here, rest, left := p[0], p[1:], clause[at:]
	switch {
	case here.edge == '^' && at > 0, here.edge == '$' && left != "", here.edge == ' ' && left != "" && left[0] != ' ':
		return -1
	}
	for _, text := range here.texts {
		if strings.HasPrefix(left, text) {
			if end := rest.matchEnd(clause, at+len(text)); end >= 0 {
				return end
			}
		}
	}
	if here.texts != nil && !here.maybe {
		return -1
	}
	end := rest.matchEnd(clause, at)
	for range here.gap {
		if end >= 0 || at == len(clause) {
			break
		}
		at += lengthOfFirst(clause[at:])
		end = rest.matchEnd(clause, at)
	}
	return end
}

// lengthOfFirst returns the length of the first word, with the space before it, or of the first Chinese character.
func lengthOfFirst(clause string) int {
	if clause[0] != ' ' {
		_, size := utf8.DecodeRuneInString(clause)
		return size
	}
	if next := strings.IndexByte(clause[1:], ' '); next >= 0 {
		return 1 + next
	}
	return len(clause)
}

// indexRule notes the words, or Chinese characters, without which a clause lacks a part of the
// newest rule. keys has the words of earlier rules' parts.
func (l *disownLanguage) indexRule(rule string, sets, keys map[string][]string) {
	number, needs := uint32(len(l.rules)-1), uint32(0) //nolint:gosec // there are some hundred rules
	for i, part := range strings.Fields(rule) {
		if strings.HasSuffix(part, "?") || part == ".." || part == "^" || part == "$" || part == "&" || part == "<be>" || i >= 32 {
			continue
		}
		if keys[part] == nil {
			alternatives := []string{part}
			if strings.HasPrefix(part, "<") {
				alternatives = sets[strings.Trim(part, "<>")]
			}
			for _, a := range alternatives {
				if w := longestWord(a, l.han); !slices.Contains(keys[part], w) {
					keys[part] = append(keys[part], w)
				}
			}
		}
		needs |= 1 << i
		for _, w := range keys[part] {
			l.byWord[w] = append(l.byWord[w], rulePart{number, 1 << i})
		}
	}
	l.needs = append(l.needs, needs)
}

// longestWord returns the word of a phrase found in the fewest clauses, or the first character of a
// Chinese one.
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

// candidateRules returns the rules of which a sentence has all parts, in whatever order.
func (l disownLanguage) candidateRules(clauses []string) []int {
	if len(clauses) == 0 {
		return nil // as most sentences have none of the other language
	}
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

// findDisowned finds a sentence that takes the whole document back.
func findDisowned(_ check, s *document) *miss {
	findings := s.reportedFindings() // of the work, not of the report
	topic := s.prose().topicWords()
	bounds := s.LinesOf(s.Sections(boundaries))
	var out miss
	for _, sentence := range s.prose().sentences {
		_, found := slices.BinarySearch(findings, sentence.line)
		if found || bounds[sentence.line] || len(sentence.raw) > 2000 || !disownsDocument(sentence.raw, topic) {
			continue
		}
		out.name = cmp.Or(out.name, clip(sentence.raw, 100))
		out.addItem(sentence.line, atLine(sentence.line))
	}
	return out.orNil()
}

// boundaries are sections on what a product is not, and on what its document takes for granted.
var boundaries = []string{"assumptions", "scope", "constraints", "limitations", "假设", "前提", "范围", "约束", "限制"}

// quoted matches words of somebody else, or a text of the product.
var quoted = pattern.New(`"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|‘[^’]*’`)

// topicWords returns the words of invention in at least three sentences of a document.
func (p *prose) topicWords() map[string]bool {
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
	// plainly are the hashes of recent sentences that take nothing back, whatever the topic: most sentences of a
	// document come again in the next round, and in another document of the run.
	plainly = recent.New[uint64, struct{}](4000)
	seed    = maphash.MakeSeed()
)

// disownsDocument reports whether a sentence takes the document back. topic has the words of the
// document's subject.
func disownsDocument(raw string, topic map[string]bool) bool {
	hash := maphash.String(seed, raw)
	if _, known := plainly.Get(hash); known {
		return false
	}
	rules := disownings()
	words, han := splitClauses(quoted.ReplaceAllString(raw, " "))
	if rules.english.matchesClauses(words, topic) || rules.chinese.matchesClauses(han, topic) {
		return true
	}
	if len(topic) == 0 {
		plainly.Put(hash, struct{}{})
	}
	return false
}

// matchesClauses reports whether a sentence, by the clauses, takes the document back. topic has the words of the
// document's subject.
func (l disownLanguage) matchesClauses(clauses []string, topic map[string]bool) bool {
	for _, i := range l.candidateRules(clauses) {
		hit := true
		for _, part := range l.rules[i] {
			hit = hit && slices.ContainsFunc(clauses, func(c string) bool {
				from, to := part.find(c)
				if len(l.rules[i]) == 1 || from < 0 {
					return from >= 0
				}
				return !topic[strings.TrimSpace(c[from:to])] && !hasNegation(c[:from])
			})
		}
		if hit {
			return !slices.ContainsFunc(clauses, func(c string) bool { return containsPhrase(c, l.unless) })
		}
	}
	return false
}

// hasNegation reports whether a text denies the words behind it: "none of the figures is …".
func hasNegation(before string) bool {
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

// inClauseWord reports whether a character belongs to a word. behind is true if the character
// before it does.
func inClauseWord(c rune, behind bool) bool {
	switch {
	case c >= 'a' && c <= 'z':
		return true
	case c == '\'' || c == '’' || c == '-':
		return behind
	}
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

// splitClauses cuts a sentence at the commas: English words with a space before each, and Chinese
// characters without any.
func splitClauses(raw string) (words, han []string) {
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
