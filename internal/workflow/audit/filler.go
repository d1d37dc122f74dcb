package audit

import (
	"math"
	"slices"
)

// shareMiss returns the miss of a check that goes by a share of the document: from "at" percent on
// it costs a third of the points, and at "full" percent all of them.
func shareMiss(c check, share float64, line int, name string) *miss {
	percent := int(math.Round(100 * share))
	if percent < c.At {
		return nil
	}
	rise := 1.0
	if c.Full > c.At {
		rise = min(1, float64(percent-c.At)/float64(c.Full-c.At))
	}
	return &miss{line: line, n: percent, name: clip(name, 60), share: (1 + 2*rise) / 3}
}

// leastProse is how many words a document needs before a share of them says anything.
const leastProse = 20

// findFiller measures how much of the document stands in a list of filler.
func findFiller(c check, s *document) *miss {
	p := s.prose()
	if p.size < leastProse {
		return nil
	}
	class := lists().filler[c.What]
	total, first, most := 0.0, -1, 0.0
	name := ""
	for _, sentence := range p.sentences {
		found := class.countIn(sentence)
		if c.What == "announced" && found > 0 {
			found = sentence.size()
		}
		if found > most {
			most, name = found, sentence.raw
		}
		if found > 0 && first < 0 {
			first = sentence.line
		}
		total += found
	}
	return shareMiss(c, total/p.size, first, name)
}

// countIn returns how many words of the sentence are filler.
func (f fillerClass) countIn(s sentence) float64 {
	sure, weak, plain := 0, 0, 0
	for i := 0; i < len(s.words); {
		is := f.entryOf(s.words[i])
		n := longestPhrase(is.phrases, s.words[i:])
		switch {
		case n > 0:
			sure += n
		case is.sure:
			sure++
		case is.weak:
			weak++
		default:
			plain++
		}
		i += max(n, 1)
	}
	// A weak word is filler in the company of filler.
	if sure > 0 && 2*sure >= plain {
		sure += weak
	}
	return float64(sure) + wordsOf(f.hanIn(s.han))
}

// entryOf returns the entry of a word in the class.
func (f fillerClass) entryOf(w *word) fillerWord {
	for _, is := range w.filler {
		if is.class == f.name {
			return is
		}
	}
	return fillerWord{}
}

// hanIn counts the characters of Chinese phrases.
func (f fillerClass) hanIn(han []rune) int {
	count := 0
	for i := 0; i < len(han); {
		n := 0
		for _, p := range f.han[han[i]] {
			if len(p) > n && len(p) <= len(han)-i && slices.Equal(han[i:i+len(p)], p) {
				n = len(p)
			}
		}
		count += n
		i += max(n, 1)
	}
	return count
}
