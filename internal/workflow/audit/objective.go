package audit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

// leastCompared is how many words a document needs to be compared with an objective: a shorter one
// may speak of one part of it alone.
const leastCompared = 60

// How much a document of the subject has of the text that it is compared with. Of a text each unit
// counts from 0 to 1, by how often the document has it. The figures were chosen on the pairs of
// testdata/subjects/first.yaml.
const (
	// enough units make a document one of the subject, whatever the length of the objective; few do
	// not, whatever their share: one word once in a long document.
	enough, few = 1.8, 0.4
	// ofObjective is the percentage of the objective's units, unless the rubric has another.
	ofObjective = 15
	// ofEarlier is the percentage of the units of an earlier document, which a later stage says
	// again in other words.
	ofEarlier = 7
	// abroad is the percentage if both are in different languages, of the units in the lexicon;
	// leastKnown is how many there have to be.
	abroad, leastKnown = 12, 2
	// named is how many of the missing words a finding says.
	named = 3
	// said is how often an earlier document must have a unit for it to count, be it as a concept.
	said = 2 * 0.85
)

// findOffObjective finds a document that speaks of something else than the objective, the person's
// answers, and the earlier documents.
func findOffObjective(c check, s *document) *miss {
	s.wanted.Objective = subjectOf(s.wanted.Objective)
	if s.prose().size < leastCompared || s.wanted.Objective == "" {
		return nil
	}
	// Most documents speak of it plainly in their beginning, and without the concepts, which take long to read.
	if s.saysAtOnce() {
		return nil
	}
	if of := s.compareObjective(byWords, c.At); of.isComparable() && of.speaks {
		return nil
	}
	of := s.compareObjective(byConcepts, c.At)
	if of.speaks || !of.isComparable() {
		return nil
	}
	return &miss{line: -1, items: of.missing[:min(len(of.missing), named)], name: strconv.Itoa(of.units - len(of.missing)), want: strconv.Itoa(of.units)}
}

// pointer matches what stands for a subject in an objective: an issue, a file or an address.
var pointer = pattern.New(`(?i)https?://\S+|\w*#\d+|\b[A-Z][A-Z0-9]{1,9}-\d+\b|@?(?:[\w.-]+/)+[\w-]+\.\w{1,5}\b` +
	`|(?:^|\s)@?\.{0,2}/?(?:[\w.-]+/)+(?:\s|$)|@?\b[\w-]+\.(?:md|mdx|txt|rst|adoc|docx?|pdf|ya?ml|json|toml|go|py|tsx?|jsx|rs|java|kt|rb|php|cs|cpp|c|h|sql|html|css|vue)\b`)

// leastSubject is how many words an objective that points needs besides to say something of its own.
const leastSubject = 3

// subjectOf returns what an objective says about its subject; "" if it says nothing, as "fix it" or "continue with
// #42" do.
func subjectOf(objective string) string {
	bare := lists().unspaced.Replace(pointer.ReplaceAllString(objective, " "))
	pointed := bare != objective
	bare = strings.Join(slices.DeleteFunc(strings.Fields(bare), func(w string) bool {
		points := lists().pointing[strings.ToLower(strings.TrimFunc(w, unicode.IsPunct))]
		pointed = pointed || points
		return points
	}), " ")
	said := 0.0
	for _, u := range byWords.importantUnits(bare, byWords.generic()) {
		switch {
		case u.Chinese:
			said += wordsOf(1)
		case utf8.RuneCountInString(u.Text) > 1:
			said++
		}
	}
	if said == 0 || pointed && said < leastSubject {
		return ""
	}
	return bare
}

// beginning is how much of a document is looked at first, in bytes.
const beginning = 3 << 10

// saysAtOnce reports whether the beginning of a long document has enough of the objective for the whole. The rest
// counts as words of something else, as many as it could have.
func (s *document) saysAtOnce() bool {
	all := strings.Join(s.Lines, "\n") + "\n"
	end := min(beginning, len(all)-1)
	end += strings.IndexByte(all[end:], '\n')
	here := recall.Words.Count(all[:end])
	for ; end < len(all); end++ {
		c, before := all[end], all[max(end, 1)-1]
		apart := before == '_' || !markdown.IsWordByte(before)
		first := apart && c != '_' && markdown.IsWordByte(c)
		upper := 'A' <= c && c <= 'Z'
		if first || upper || c >= utf8.RuneSelf {
			here.Words++
		}
	}
	of := s.shareOf(here, s.wanted.Objective, byWords.importantUnits(s.wanted.Objective, byWords.generic()))
	return of.isComparable() && of.sum >= enough
}

// comparer is one way to compare texts: by their words, or also by their meanings.
type comparer struct {
	lexicon func() *recall.Lexicon
	// generic are the units that tie a text to nothing: words of objectives and of the rubrics,
	// which the documents of all subjects have.
	generic, ofStages func() map[string]bool
}

var (
	byWords    = newComparer(func() *recall.Lexicon { return recall.Words })
	byConcepts = newComparer(recall.Bilingual)
)

func newComparer(lexicon func() *recall.Lexicon) comparer {
	names := func(texts func() string) func() map[string]bool {
		return sync.OnceValue(func() map[string]bool {
			out := map[string]bool{}
			for _, u := range lexicon().Units(texts()) {
				out[u.Name] = true
			}
			return out
		})
	}
	return comparer{lexicon, names(func() string { return lists().generic }), names(rubricTexts)}
}

// importantUnits returns the units of a text that say something about the subject.
func (by comparer) importantUnits(text string, generic map[string]bool) []recall.Unit {
	return slices.DeleteFunc(by.lexicon().Units(readablePart(text)), func(u recall.Unit) bool { return u.Weak || generic[u.Name] })
}

// share is how much of the units of a text a document has.
type share struct {
	units, known int         // that the document could have; the ones of another language
	sum          float64     // of the weights
	missing      []lang.Text // that the document hardly has
	speaks       bool        // of the same subject
}

// isComparable reports whether there is enough to compare.
func (s share) isComparable() bool { return s.units > s.known || s.known >= leastKnown }

func (s share) percent() float64 { return 100 * s.sum / float64(max(s.units, 1)) }

// compareObjective compares the document with the objective. The same subject in the answers or an
// earlier document is enough.
func (s *document) compareObjective(by comparer, at int) share {
	here := by.lexicon().Count(strings.Join(s.Lines, "\n"))
	wants := func(text string) share {
		of := s.shareOf(here, text, by.importantUnits(text, by.generic()))
		least := float64(cmp.Or(at, ofObjective))
		if of.units == of.known {
			least = abroad
		}
		large := of.sum >= few && of.percent() >= least
		of.speaks = of.isComparable() && (large || of.sum >= enough)
		return of
	}
	of := wants(s.wanted.Objective)
	of.speaks = of.speaks || slices.ContainsFunc(s.wanted.Answers, func(answer string) bool { return wants(answer).speaks })
	for _, text := range s.wanted.Earlier {
		if of.speaks || !of.isComparable() {
			break
		}
		there := by.lexicon().Count(readablePart(text))
		units := slices.DeleteFunc(by.importantUnits(text, by.ofStages()), func(u recall.Unit) bool { return there.Of(u) < said })
		both := s.shareOf(here, text, units)
		of.speaks = both.isComparable() && both.percent() >= ofEarlier
	}
	return of
}

// shareOf counts the units of a text that the document could have: of a language that it is in, or
// known to the lexicon.
func (s *document) shareOf(here *recall.Counts, text string, units []recall.Unit) (out share) {
	words, chinese := s.hasLanguageOf(text)
	for _, u := range units {
		native := words
		if u.Chinese {
			native = chinese
		}
		comparable := native || u.Known() && (words || chinese)
		n := here.Of(u)
		if n == 0 && !comparable {
			continue
		}
		counts := n / (n + 1 + float64(here.Words)/500)
		if counts < few {
			out.missing = append(out.missing, plainText(u.Text))
		}
		out.units++
		if !native {
			out.known++
		}
		out.sum += counts
	}
	return out
}

// hasLanguageOf reports whether the document has words of a text's language, and Chinese.
func (s *document) hasLanguageOf(text string) (words, chinese bool) {
	p := s.prose()
	here, small := p.mainLanguage(), readText(readablePart(text), nil).prose().countSmallWords()
	foreign := here != "" && slices.ContainsFunc(slices.Collect(maps.Values(small)), func(n int) bool { return n > small[here] })
	return 3*p.words > p.han/2 && !foreign, p.han > 3*p.words
}
