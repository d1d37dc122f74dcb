package audit

import (
	"iter"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

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
			case isHan(r):
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

// sentencesOf cuts a line behind its sentences, whose marks and the space between them are left out.
func sentencesOf(l string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(l); {
			end, next := i, i+1
			switch c := l[i]; {
			case c == '.' || c == '!' || c == '?':
				for next < len(l) && strings.IndexByte(" \t\n\f\r", l[next]) >= 0 {
					next++
				}
				if next == i+1 {
					i++
					continue
				}
			case c < utf8.RuneSelf:
				i++
				continue
			default:
				r, size := utf8.DecodeRuneInString(l[i:])
				next = i + size
				if r != '。' && r != '！' && r != '？' && r != '；' {
					i = next
					continue
				}
			}
			if !yield(l[from:end]) {
				return
			}
			from, i = next, next
		}
		yield(l[from:])
	}
}

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
		for part := range sentencesOf(s.Lines[i]) {
			if 3*len(part) < 2*36 { // small letters take at most one byte in two more
				continue
			}
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
		if !strings.ContainsFunc(word, isHan) || utf8.RuneCountInString(word) == 1 {
			out = append(out, word)
			continue
		}
		from, second := 0, false
		for i, r := range word {
			if second {
				out = append(out, word[from:i+utf8.RuneLen(r)])
			}
			from, second = i, true
		}
	}
	return out
}

// plainWords is a sentence for comparing: no ids, marks, case, or what stands in round brackets, such
// as a priority or a story.
func plainWords(s string) string {
	if containsAny(s, "(", "（") {
		s = withoutBrackets(s)
	}
	if strings.ContainsAny(s, "0123456789") {
		s = anyID.blank(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	apart := false
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			r = unicode.ToLower(r)
		default:
			apart = true
			continue
		}
		if apart && b.Len() > 0 {
			b.WriteByte(' ')
		}
		apart = false
		b.WriteRune(r)
	}
	return b.String()
}

// inBrackets is how many characters stand in round brackets at most that are left out.
const inBrackets = 60

// withoutBrackets puts a space in place of what stands in round brackets without others in it.
func withoutBrackets(s string) string {
	var b strings.Builder
	kept, open, n := 0, -1, 0
	for i, r := range s {
		switch {
		case r == '(' || r == '（':
			open, n = i, 0
		case open < 0:
		case r == ')' || r == '）':
			b.WriteString(s[kept:open])
			b.WriteByte(' ')
			kept, open = i+utf8.RuneLen(r), -1
		default:
			if n++; n > inBrackets {
				open = -1
			}
		}
	}
	b.WriteString(s[kept:])
	return b.String()
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
