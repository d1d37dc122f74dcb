package audit

import "strings"

// language returns the language of the document's words: that whose small words are most
// of them, and their share.
func (p *prose) language() (name string, share float64) {
	if p.words == 0 {
		return "", 0
	}
	counts := map[string]int{}
	latin := 0
	l := lists()
	for _, w := range p.known.words {
		if l.latin[w.text] {
			latin += w.times
		}
		for _, language := range w.spoken {
			counts[language] += w.times
		}
	}
	best := 0
	for _, language := range l.languages {
		if counts[language] > best {
			name, best = language, counts[language]
		}
	}
	if latin > best {
		name, best = "latin", latin
	}
	return name, float64(best) / float64(p.words)
}

// findGibberish measures how much of the document cannot be language: words without the
// small words between them, small words in an order that no text has, words that nobody
// knows, rows of keys, the same characters again and again.
func findGibberish(c check, s *document) []miss {
	p := s.prose()
	if p.size < leastProse {
		return nil
	}
	if p.otherAlphabet() {
		return nil
	}
	all := p.wordsAreNone(s.wanted)
	random := p.randomHan()
	total, first, name := 0.0, -1, ""
	for _, sentence := range p.sentences {
		bad := hanRepeats(sentence.han)
		if random {
			bad = wordsOf(len(sentence.han))
		}
		if all || sentence.badWords() {
			bad += float64(len(sentence.words))
		}
		if bad > 0 {
			total += bad
			if first < 0 {
				first, name = sentence.line, sentence.raw
			}
		}
	}
	return shareMiss(c, total/p.size, first, name)
}

// otherAlphabet reports whether the document is in a writing of which nothing is known
// here: Cyrillic, Japanese, Korean, Arabic.
func (p *prose) otherAlphabet() bool { return 5*p.foreign > p.words+p.han/2 }

// Bounds of wordsAreNone, in percent, and how many there have to be at least. The good
// documents of the corpus keep far from them: 26 or more of a hundred words are small
// ones, at most 5 of a hundred pairs are unusual, and 27 of a hundred other words rare.
// Words shuffled within their lines have 13 unusual pairs of a hundred.
const (
	fewSmall     = 8
	manyUnusual  = 9
	leastUnusual = 8
	manyRare     = 52
	someRare     = 40 // where there are hardly any small words
	leastRare    = 20
)

// wordsAreNone reports whether the words of alphabets, taken together, are a text in no
// living language.
func (p *prose) wordsAreNone(w *wanted) bool {
	language, share := p.language()
	few := share*100 < fewSmall
	switch {
	case p.words < leastProse:
		return false
	case language == "latin":
		return true
	case !few && language != "en":
		return false
	}
	pairs, unusual, words, rare := 0, 0, 0, 0
	for _, s := range p.sentences {
		pairs, unusual = pairs+s.pairs, unusual+s.unusual
		for _, word := range s.words {
			if len(word.text) < 3 || len(word.spoken) > 0 || strings.Contains(word.text, "-") {
				continue
			}
			words++
			if !word.common && (w == nil || !w.stems[word.stem]) {
				rare++
			}
		}
	}
	most := manyRare
	if few {
		most = someRare
	}
	return unusual >= leastUnusual && unusual*100 >= pairs*manyUnusual || rare >= leastRare && rare*100 >= words*most
}

// manyBare is how many words no sentence has in a row without a small one between them.
const manyBare = 7

// badWords reports whether a sentence is gibberish in every language.
func (s sentence) badWords() bool {
	mashed := 0
	for _, w := range s.words {
		if w.mashed {
			mashed++
		}
	}
	return mashed > 0 && mashed*3 >= len(s.words) || s.bare >= manyBare
}

// randomHan reports whether Chinese characters are in a random order: a text about something
// returns to its subject, and therefore repeats pairs of characters.
func (p *prose) randomHan() bool {
	if p.han < leastHan {
		return false
	}
	seen := map[[2]rune]int{}
	pairs := 0
	for _, s := range p.sentences {
		for i := 0; i+2 <= len(s.han); i++ {
			seen[[2]rune{s.han[i], s.han[i+1]}]++
			pairs++
		}
	}
	again := 0
	for _, n := range seen {
		if n > 1 {
			again += n
		}
	}
	return again*100 < pairs*leastAgain
}

// leastAgain is the percentage of pairs that come back in every text of some length: 27
// in the shortest good document of the corpus, 10 in random characters.
const (
	leastAgain = 15
	leastHan   = 200
)

// hanRepeats counts, in words, the characters that only repeat what stands before them.
func hanRepeats(han []rune) float64 {
	n := 0
	for i := 0; i < len(han); {
		run := 0
		for size := 1; size <= 4 && run == 0; size++ {
			end := i + size
			for end+size <= len(han) && same(han[end:end+size], han[i:i+size]) {
				end += size
			}
			times := (end - i) / size
			if times >= 3 || times == 2 && size >= 2 && (size != 2 || han[i] != han[i+1]) {
				run = end - i
			}
		}
		n += run
		i += max(run, 1)
	}
	return wordsOf(n)
}

func same(a, b []rune) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
