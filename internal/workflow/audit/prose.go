package audit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// sentence is a sentence, or a cell of a table, as somebody wrote it to be read.
type sentence struct {
	line int // the first line
	// raw is the sentence as it is written, without code.
	raw string
	// words are the words of alphabets, in lower case, without ids, figures, paths and the words
	// from the form of a story or a criterion.
	words []*word
	// han are the Chinese characters in one piece, without words of such a form.
	han []rune
}

// wordsOf returns how many English words a number of Chinese characters is worth: three say
// two words do, in translations of whole documents.
func wordsOf(han int) float64 { return float64(han) * 2 / 3 }

// size returns the length of a sentence in words.
func (s sentence) size() float64 { return float64(len(s.words)) + wordsOf(len(s.han)) }

// prose is the text of a document outside code and headings, read once.
type prose struct {
	sentences []sentence
	size      float64 // of all sentences, in words
	words     int     // of alphabets
	han       int     // Chinese characters
	known     vocabulary
}

func readProse(d *markdown.Document) *prose {
	r := proseReader{d: d, out: &prose{known: newVocabulary()}, skip: map[int]bool{}}
	for _, h := range d.Heads {
		// A bold line before text is read for that text.
		r.skip[h.Line] = h.Rest == ""
	}
	for _, t := range d.Tables {
		r.skip[t.Line] = true
	}
	for i := range d.Said {
		r.readLine(i)
	}
	r.flush()
	return r.out
}

// proseReader joins the lines of a paragraph, so that a sentence may go over their ends.
type proseReader struct {
	d    *markdown.Document
	out  *prose
	skip map[int]bool
	// buf is the paragraph so far, starts has the offset of each line.
	buf    strings.Builder
	starts []lineStart
}

type lineStart struct{ offset, line int }

func (r *proseReader) readLine(i int) {
	l := r.d.Said[i]
	if row, ok := r.d.Rows[i]; ok {
		r.flush()
		for _, c := range row.Cells {
			if strings.Contains(c, "`") {
				c = markdown.WithoutCode(c)
			}
			r.addText(i, c)
			r.flush()
		}
		return
	}
	ruleOfTable := strings.HasPrefix(l, "|") && markdown.IsTableRule(l)
	rule := ruleOfTable || markdown.IsUnderline(l)
	if rule || r.d.Code[i] || r.skip[i] || strings.TrimSpace(l) == "" {
		r.flush()
		return
	}
	if _, body, ok := markdown.Item(l); ok {
		r.flush()
		l = body
	}
	r.addText(i, l)
}

func (r *proseReader) addText(line int, l string) {
	r.starts = append(r.starts, lineStart{r.buf.Len(), line})
	if rest, ok := criteria.CutID(l); ok {
		l = rest
	}
	r.buf.WriteString(strings.TrimSpace(strings.ReplaceAll(l, "`", " ")))
	r.buf.WriteByte(' ')
}

// flush cuts the paragraph into sentences.
func (r *proseReader) flush() {
	text, starts := r.buf.String(), r.starts
	r.buf.Reset()
	r.starts = nil
	from, at := 0, 0
	end := func(to int) {
		for at+1 < len(starts) && starts[at+1].offset <= from {
			at++
		}
		if s, ok := r.out.known.readSentence(starts[at].line, text[from:to]); ok {
			r.out.sentences = append(r.out.sentences, s)
			r.out.size += s.size()
			r.out.words += len(s.words)
			for _, w := range s.words {
				w.times++
			}
			r.out.han += len(s.han)
		}
		from = to
	}
	for i, c := range text {
		switch c {
		case '.', '!', '?':
			if i+1 < len(text) && text[i+1] == ' ' {
				end(i + 1)
			}
		case '。', '！', '？', '；':
			end(i + len("。"))
		}
	}
	if from < len(text) {
		end(len(text))
	}
}

// readSentence reads the words of a sentence; ok is false if there are none.
func (v vocabulary) readSentence(line int, raw string) (sentence, bool) {
	s := sentence{line: line, raw: strings.TrimSpace(raw)}
	text := s.raw
	if strings.ContainsAny(text, "0123456789") {
		text = blankIDs(text)
	}
	eachRun(text, func(run string, han bool) {
		if !han {
			s.words = append(s.words, v.wordsOfRun(run)...)
			return
		}
		for _, c := range run {
			s.han = append(s.han, c)
		}
	})
	s.words = withoutSteps(s.words)
	if len(s.han) > 0 {
		s.han = []rune(lists().chineseSteps.Replace(string(s.han)))
	}
	return s, len(s.words) > 0 || len(s.han) > 0
}

// runBytes are the ASCII characters of runs.
var runBytes = func() (is [utf8.RuneSelf]bool) {
	for c := range is {
		is[c] = markdown.IsWordByte(byte(c)) || strings.IndexByte("./:@'-", byte(c)) >= 0
	}
	return is
}()

// eachRun calls f for each run of Chinese characters and for each run of the characters of words of
// alphabets, numbers and paths are made of.
func eachRun(text string, f func(run string, han bool)) {
	const none, inHan, inWord = 0, 1, 2
	kind, from := none, 0
	for i, c := range text {
		k := none
		switch {
		case c < utf8.RuneSelf:
			if runBytes[c] {
				k = inWord
			}
		case isHan(c):
			k = inHan
		case unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c) || c == '’':
			k = inWord
		}
		if k != kind {
			if kind != none {
				f(text[from:i], kind == inHan)
			}
			kind, from = k, i
		}
	}
	if kind != none {
		f(text[from:], kind == inHan)
	}
}

// wordsOfRun returns the words of a run: none for a path, a name of a program or a figure.
func (v vocabulary) wordsOfRun(written string) []*word {
	words, known := v.runs[written]
	if !known {
		words = v.wordsOf(written)
		v.runs[written] = words
	}
	return words
}

func (v vocabulary) wordsOf(run string) (words []*word) {
	run = strings.Trim(run, "_./:@'’-")
	if run == "" || len(run) > 60 || strings.ContainsAny(run, "0123456789_.:@") {
		return words
	}
	if strings.Count(run, "/") > 1 {
		return words
	}
	for part := range strings.SplitSeq(run, "/") {
		if part != "" {
			words = append(words, v.lookUpWord(part))
		}
	}
	return words
}

// withoutSteps removes the words of the form: "as a …, I want …, so that …" and "given …, when …,
// then …".
func withoutSteps(words []*word) []*word {
	if len(words) == 0 {
		return words
	}
	steps := lists().Criterion
	switch words[0].text {
	case "as":
		steps = lists().Story
	case "given", "when", "then":
	default:
		return words
	}
	out := make([]*word, 0, len(words))
	for i := 0; i < len(words); {
		n := longestPhrase(steps, words[i:])
		if n == 0 {
			out = append(out, words[i])
			n = 1
		}
		i += n
	}
	return out
}

// countSmallWords returns how often the text has small words of each language.
func (p *prose) countSmallWords() map[string]int {
	counts := map[string]int{}
	for _, w := range p.known.words {
		for _, language := range w.spoken {
			counts[language] += w.times
		}
	}
	return counts
}

// mainLanguage returns the language whose small words are most; "" if there are none.
func (p *prose) mainLanguage() (name string) {
	counts := p.countSmallWords()
	for _, language := range lists().languages {
		if counts[language] > counts[name] {
			name = language
		}
	}
	return name
}

// leastSmall is how many small words, or letters of another script, tell a language.
const leastSmall = 4

// enoughText is how much of a document shows its script, in bytes.
const enoughText = 8 << 10

// isForeign reports whether a document is in a language that the rules do not know: neither English nor Chinese.
func (d *text) isForeign() bool {
	latin, han, kana, other := 0, 0, 0, 0
	read := 0
	for _, l := range d.Said {
		if read += len(l); read > enoughText {
			break
		}
		for _, r := range l {
			switch {
			case r < utf8.RuneSelf:
				if isLetter(r) {
					latin++
				}
			case isHan(r):
				han++
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				kana++
			case unicode.Is(unicode.Latin, r):
				latin++
			case unicode.IsLetter(r):
				other++
			}
		}
	}
	// A sign of another script says as much as two or three letters.
	if kana > han/5 && 2*(kana+han) > latin || 2*other > latin+2*han {
		return kana+other > leastSmall
	}
	p := d.prose()
	small := p.countSmallWords()
	main := p.mainLanguage()
	return 3*p.words > 2*p.han && main != "" && main != "en" && small[main] >= leastSmall && small[main] > small["en"]+1
}

// word is a word of alphabets with the facts for checks, found once for a document that may have it
// a hundred times.
type word struct {
	text string // in lower case
	// spoken are the languages in which it is a small word.
	spoken []string
	// times is the number of the word's places in the document.
	times int
	// filler are the word's entries in the classes of filler.
	filler []fillerWord
}

// vocabulary has the words of a document, and the words of each run by the spelling.
type vocabulary struct {
	words map[string]*word
	runs  map[string][]*word
}

func newVocabulary() vocabulary {
	return vocabulary{words: map[string]*word{}, runs: map[string][]*word{}}
}

// lookUpWord returns the word of a spelling.
func (v vocabulary) lookUpWord(written string) *word {
	text := strings.ReplaceAll(strings.ToLower(written), "’", "'")
	w := v.words[text]
	if w == nil {
		l := lists()
		w = &word{text: text, spoken: l.spoken[text], filler: l.fillerOf[text]}
		v.words[text] = w
	}
	return w
}

// longestPhrase returns the length of the longest phrase at the beginning of words.
func longestPhrase(phrases [][]string, words []*word) (n int) {
	for _, p := range phrases {
		if len(p) > n && beginWithPhrase(words, p) {
			n = len(p)
		}
	}
	return n
}

// beginWithPhrase reports whether words begin with a phrase.
func beginWithPhrase(words []*word, phrase []string) bool {
	for i, text := range phrase {
		if i == len(words) || words[i].text != text {
			return false
		}
	}
	return true
}
