package audit

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// window is how many words in a row make a passage that is compared with others, hanWindow
// how many Chinese characters.
const (
	window    = 4
	hanWindow = 7
)

// passages gives each place of the sentence a key of the passage that begins there.
func (s sentence) passages() (words, han []uint64) {
	for i := 0; i+window <= len(s.words); i++ {
		h := seed
		for _, w := range s.words[i : i+window] {
			h = mix(h, w.sum)
		}
		words = append(words, h)
	}
	for i := 0; i+hanWindow <= len(s.han); i++ {
		h := seed
		for _, c := range s.han[i : i+hanWindow] {
			h = mixRune(h, c)
		}
		han = append(han, h)
	}
	return words, han
}

// covered returns how many of n places lie in one of the passages of the given length that
// are marked.
func covered(marked []bool, length int) int {
	n, until := 0, 0
	for i, yes := range marked {
		if yes {
			n += i + length - max(i, until)
			until = i + length
		}
	}
	return n
}

// share returns how much of the prose lies in passages of which known is true, with the
// first sentence that is most of it one.
func (p *prose) share(known func(sentence int, passage uint64) bool) (share float64, first int) {
	total := 0.0
	first = -1
	for i, s := range p.sentences {
		words, han := s.passages()
		mark := func(keys []uint64) []bool {
			out := make([]bool, len(keys))
			for k, key := range keys {
				out[k] = known(i, key)
			}
			return out
		}
		n := float64(covered(mark(words), window)) + wordsOf(covered(mark(han), hanWindow))
		total += n
		if first < 0 && 2*n > s.size() {
			first = i
		}
	}
	if p.size == 0 {
		return 0, first
	}
	return total / p.size, first
}

// findEchoed measures how much of the document says again what it has said elsewhere.
func findEchoed(c check, s *document) []miss {
	p := s.prose()
	if p.size < leastProse {
		return nil
	}
	from := map[uint64]int{}
	share, first := p.share(func(sentence int, passage uint64) bool {
		at, ok := from[passage]
		if !ok {
			from[passage] = sentence
		}
		return ok && at != sentence
	})
	if first < 0 {
		return nil
	}
	return shareMiss(c, share, p.sentences[first].line, p.sentences[first].raw)
}

// findTemplated measures how much of the document is one sentence with other words in it.
func findTemplated(c check, s *document) []miss {
	p := s.prose()
	if p.size < leastProse {
		return nil
	}
	frames := p.frames()
	count := map[uint64]int{}
	for _, f := range frames {
		count[f]++
	}
	total, worst := 0.0, -1
	for i, f := range frames {
		if f == 0 || count[f] < 4 {
			continue
		}
		total += p.sentences[i].size()
		if worst < 0 || count[f] > count[frames[worst]] {
			worst = i
		}
	}
	if worst < 0 {
		return nil
	}
	return shareMiss(c, total/p.size, p.sentences[worst].line, p.sentences[worst].raw)
}

// frames returns for each sentence a key of what it shares with many others, with marks where it
// has something of its own; 0 where that is not most of it.
func (p *prose) frames() []uint64 {
	const gapMark = 1
	inSentences := map[uint64]int{}
	last := map[uint64]int{} // the sentence that had a part last, from 1
	all := make([][]uint64, len(p.sentences))
	for i, s := range p.sentences {
		all[i] = s.parts()
		for _, w := range all[i] {
			if last[w] != i+1 {
				last[w] = i + 1
				inSentences[w]++
			}
		}
	}
	often := max(4, len(p.sentences)/12)
	out := make([]uint64, len(p.sentences))
	for i, parts := range all {
		frame, kept, gap := seed, 0, false
		for _, w := range parts {
			if inSentences[w] >= often {
				kept++
				frame = mix(frame, w)
				gap = false
			} else if !gap {
				frame = mix(frame, gapMark)
				gap = true
			}
		}
		if kept >= 5 && 2*kept >= len(parts) {
			out[i] = frame
		}
	}
	return out
}

// parts are keys of the words of a sentence, or of the pairs of its Chinese characters.
func (s sentence) parts() []uint64 {
	var out []uint64
	if len(s.han) <= 2*len(s.words) {
		for _, w := range s.words {
			out = append(out, w.sum)
		}
		return out
	}
	for i := 0; i+2 <= len(s.han); i++ {
		out = append(out, mixRune(mixRune(seed, s.han[i]), s.han[i+1]))
	}
	return out
}

// findInstructed measures how much of the document is what the rubric asks for, in the
// rubric's own words.
func findInstructed(c check, s *document) []miss {
	p := s.prose()
	if p.size < leastProse || s.rules == nil {
		return nil
	}
	rules := s.rules()
	share, first := p.share(func(_ int, passage uint64) bool { return rules[passage] })
	if first < 0 {
		return nil
	}
	return shareMiss(c, share, p.sentences[first].line, p.sentences[first].raw)
}

// passages are those of the texts of the rubric, in every language in which findings have them.
func (r Rubric) passages() map[uint64]bool {
	out := map[uint64]bool{}
	read := func(text string) {
		for _, s := range readText(text, nil).prose().sentences {
			words, han := s.passages()
			for _, key := range append(words, han...) {
				out[key] = true
			}
		}
	}
	// Paragraphs are read together, which is faster: no passage goes from one to the next.
	var paragraphs []string
	for _, text := range r.spoken() {
		if text = strings.TrimSpace(text); containsAny(text, "\n", "<!--", "---", "```", "~~~") {
			read(text)
		} else {
			paragraphs = append(paragraphs, text)
		}
	}
	read(strings.Join(paragraphs, "\n\n"))
	return out
}

// spoken returns the texts of the rubric with their translations, each once.
func (r Rubric) spoken() []string {
	var out []string
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	languages := lang.All()
	for _, c := range r.checks {
		for _, text := range []string{c.Problem, c.Fix} {
			add(text)
			for _, l := range languages {
				add(l.Word(text))
			}
		}
	}
	return out
}
