package audit

import (
	"math"
	"strings"
	"unicode"
)

// wanted is the vocabulary of the objective and of the person's answers.
type wanted struct {
	stems map[string]bool // of English words
	pairs map[string]bool // of Chinese characters
	// stemsOf and pairsOf are those of the objective alone.
	stemsOf, pairsOf map[string]bool
	language         string // of its words; empty where too few tell
}

func wantedOf(b Background) *wanted {
	b.Objective = readable(b.Objective)
	w := &wanted{stems: map[string]bool{}, pairs: map[string]bool{}, stemsOf: map[string]bool{}, pairsOf: map[string]bool{}}
	if strings.TrimSpace(b.Objective) == "" {
		return nil
	}
	collect(b.Objective, w.stemsOf, w.pairsOf)
	collect(b.Objective, w.stems, w.pairs)
	answers := readable(strings.Join(b.Answers, "\n"))
	collect(answers, w.stems, w.pairs)
	w.language, _ = readText(b.Objective+"\n"+answers, nil).prose().language()
	return w
}

// collect adds the stems and pairs of a text that say something of its subject.
func collect(text string, stems, pairs map[string]bool) {
	l := lists()
	eachTerm(l.genericHan.Replace(text), func(word string) {
		if word = strings.ToLower(word); len(word) >= 3 && len(l.spoken[word]) == 0 {
			if s := stem(word); !l.generic[s] && !l.generic[word] {
				stems[s] = true
			}
		}
	}, func(a, b rune) {
		if !l.particles[a] && !l.particles[b] {
			pairs[string([]rune{a, b})] = true
		}
	})
}

// eachTerm calls word for each word, also those that names of programs and paths are put
// together from, and pair for each two Chinese characters side by side.
func eachTerm(text string, word func(string), pair func(a, b rune)) {
	from, last := -1, rune(0)
	end := func(to int) {
		if from >= 0 {
			word(text[from:to])
			from = -1
		}
	}
	lower := false
	for i, c := range text {
		if isHan(c) {
			end(i)
			if last != 0 {
				pair(last, c)
			}
			last, lower = c, false
			continue
		}
		last = 0
		switch {
		case !unicode.IsLetter(c):
			end(i)
		case from < 0:
			from = i
		case unicode.IsUpper(c) && lower: // camelCase
			end(i)
			from = i
		}
		lower = unicode.IsLower(c)
	}
	end(len(text))
}

// match is how much of what was wanted a document speaks of.
type match struct {
	hits, of int     // terms of the objective, those that are in the document
	lines    float64 // share of the lines with text in which a wanted term is
	chinese  bool    // Chinese terms were compared
}

// count adds terms that were wanted, and those of them that were found.
func (m *match) count(wanted, found map[string]bool) {
	m.of += len(wanted)
	for term := range wanted {
		if found[term] {
			m.hits++
		}
	}
}

func (w *wanted) match(d *text) (m match, scored bool) {
	stems, pairs := map[string]bool{}, map[string]bool{}
	known := map[string]string{} // the stems of words that were met
	lines, with := 0, 0
	for _, l := range d.Lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		lines++
		found := false
		eachTerm(l, func(word string) {
			s, met := known[word]
			if !met {
				if lower := strings.ToLower(word); len(lower) >= 3 {
					s = stem(lower)
				}
				known[word] = s
			}
			if w.stems[s] {
				stems[s], found = true, true
			}
		}, func(a, b rune) {
			if p := string([]rune{a, b}); w.pairs[p] {
				pairs[p], found = true, true
			}
		})
		if found {
			with++
		}
	}
	p := d.prose()
	// A language is compared where both have it.
	words := len(w.stemsOf) > 1 && 3*p.words > p.han/2
	if language, _ := p.language(); words && w.language != "" && language != "" && language != "latin" && language != w.language {
		words = false
	}
	if words {
		scored = true
		m.count(w.stemsOf, stems)
	}
	if len(w.pairsOf) > 1 && p.han > 3*p.words {
		scored, m.chinese = true, true
		m.count(w.pairsOf, pairs)
	}
	if lines > 0 {
		m.lines = float64(with) / float64(lines)
	}
	return m, scored
}

// leastCompared is how many words a document has that can be held against an objective:
// a shorter one may speak of one part of it alone.
const leastCompared = 60

// findOffObjective finds a document that speaks of something else than what was asked for:
// it has none of the objective's words, or next to none and hardly a line with one.
func findOffObjective(c check, s *document) []miss {
	if s.wanted == nil || s.prose().size < leastCompared {
		return nil
	}
	m, scored := s.wanted.match(s.text)
	if !scored || m.of < 3 && s.prose().size < 2*leastCompared {
		return nil
	}
	percent := int(math.Round(100 * m.lines))
	found := miss{line: -1, n: percent, want: itoa(m.of), name: itoa(m.hits)}
	switch {
	case m.hits == 0, 5*m.hits <= m.of && percent < c.Full:
		return []miss{found}
	case !m.chinese && percent < c.At:
		// The words stand in a line or two, and the rest is about nothing of it.
		found.share = 0.9
		return []miss{found}
	}
	return nil
}
