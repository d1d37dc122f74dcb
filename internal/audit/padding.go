package audit

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// wordCount counts words outside code.
func (d *text) wordCount() int {
	words, han := 0, 0
	for i, l := range d.Lines {
		if d.Code[i] {
			continue
		}
		inWord := false
		for _, r := range l {
			switch {
			case unicode.Is(unicode.Han, r):
				han++
				inWord = false
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				if !inWord {
					words++
				}
				inWord = true
			case r != '-' && r != '\'' && r != '’' && r != '_':
				inWord = false
			}
		}
	}
	return words + int(math.Ceil(wordsOf(han)))
}

// findShort finds a document that cannot hold what its stage owes.
func findShort(c check, s *document) []miss {
	n := s.wordCount()
	if n >= c.Min {
		return nil
	}
	share := 0.5
	if 3*n < 2*c.Min {
		share = 1
	}
	return []miss{{line: -1, n: n, share: share, want: itoa(c.Min)}}
}

var sentenceEnd = pattern.New(`[.!?]\s+|[。！？；]`)

// doneWords mark what a plan rightly says in each sprint.
var doneWords = pattern.New(`(?i)done|definition|reviewed|tests? (?:pass|run|are)|ci\b|linter|acceptance|完成|评审|通过|测试`)

// findRepeated finds sentences and rows that stand in the document again and again.
func findRepeated(c check, s *document) []miss {
	type copies struct{ first, n int }
	seen := map[string]*copies{}
	var order []string
	for i, l := range s.Said {
		if s.Code[i] || strings.TrimSpace(l) == "" || markdown.IsTableRule(l) {
			continue
		}
		for _, part := range sentenceEnd.Split(s.Lines[i], -1) {
			key := plainWords(part)
			if long := len(key); long < 36 || strings.Count(key, " ") < 4 && long < 48 && key[0] < 0x80 {
				continue
			}
			if k := seen[key]; k != nil {
				k.n++
				continue
			}
			seen[key] = &copies{i, 1}
			order = append(order, key)
		}
	}
	worst, extra := "", 0
	for _, key := range order {
		k := seen[key]
		if k.n < c.At || doneWords.MatchString(key) && k.n < 2*c.At {
			continue
		}
		extra += k.n - 1
		if worst == "" || k.n > seen[worst].n {
			worst = key
		}
	}
	if worst == "" {
		return nil
	}
	return []miss{{line: seen[worst].first, n: extra, name: clip(worst, 60), want: itoa(seen[worst].n)}}
}

// termsOf lists the words of a text, and the pairs of its Chinese characters.
func termsOf(text string) []string {
	var out []string
	for word := range strings.FieldsSeq(plainWords(text)) {
		runes := []rune(word)
		if !slices.ContainsFunc(runes, func(r rune) bool { return unicode.Is(unicode.Han, r) }) || len(runes) == 1 {
			out = append(out, word)
			continue
		}
		for i := 0; i+2 <= len(runes); i++ {
			out = append(out, string(runes[i:i+2]))
		}
	}
	return out
}

// inBrackets is what stands in round brackets: a priority, a story.
var inBrackets = pattern.New(`[(（][^()（）]{0,60}[)）]`)

// plainWords is a sentence for comparing: no ids, marks or case.
func plainWords(s string) string {
	if containsAny(s, "(", "（") {
		s = inBrackets.ReplaceAllString(s, " ")
	}
	if strings.ContainsAny(s, "0123456789") {
		s = anyID.blank(s)
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return ' '
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// findRestated lists short sections that say only what the opening says.
func findRestated(_ check, s *document) []miss {
	title, at := s.Title()
	opening, from := map[string]bool{}, -1
	for _, w := range termsOf(title) {
		opening[w] = true
	}
	var out miss
	for i, h := range s.Heads {
		end := h.End
		if i+1 < len(s.Heads) {
			end = min(end, s.Heads[i+1].Line)
		}
		if i == at || h.Level > markdown.BoldKnown {
			continue
		}
		body := h.Rest
		for _, l := range s.Said[h.Line+1 : end] {
			if len(body) > 600 {
				break
			}
			body += " " + l
		}
		words := termsOf(body)
		if len(words) == 0 {
			continue
		}
		if from < 0 { // the first section with text is the opening
			from = h.Line
			for _, w := range words {
				opening[w] = true
			}
			continue
		}
		if len(words) < 6 || len(words) > 60 || strings.ContainsAny(body, "0123456789|`") {
			continue
		}
		known := 0
		for _, w := range words {
			if opening[w] {
				known++
			}
		}
		if known*100 >= len(words)*85 {
			if len(out.items) == 0 {
				out.line = h.Line
			}
			out.items = append(out.items, plain(h.Text))
		}
	}
	if len(out.items) == 0 {
		return nil
	}
	return []miss{out}
}
