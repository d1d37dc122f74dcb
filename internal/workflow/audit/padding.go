package audit

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// wordCount counts the words outside code, and those of different sentences: a sentence, an item or a row that comes
// again, under whatever id and with whatever figures, adds nothing.
func (d *text) wordCount() (written, different int) {
	all, once := 0.0, 0.0
	seen := map[string]bool{}
	for i, l := range d.Lines {
		if d.Code[i] {
			continue
		}
		sentences := []string{l}
		if containsAny(l, ". ", "! ", "? ", "。", "！", "？", "；") {
			sentences = sentenceEnd.Split(l, -1)
		}
		for _, s := range sentences {
			n := countWords(s)
			all += n
			key := lettersOf(blankIDs(s))
			if !seen[key] || key == "" {
				once += n
			}
			seen[key] = true
		}
	}
	return int(math.Ceil(all)), int(math.Ceil(once))
}

// lettersOf returns the letters of a sentence in lower case.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// countWords counts the words of a text.
func countWords(l string) float64 {
	words, han, inWord := 0, 0, false
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
	return float64(words) + wordsOf(han)
}

// findShort finds a document too short for the stage.
func findShort(c check, s *document) *miss {
	written, n := s.wordCount()
	if n >= c.Min {
		return nil
	}
	out := miss{line: -1, n: n, share: 1, want: strconv.Itoa(c.Min)}
	if 3*n >= 2*c.Min {
		out.share = 0.5
	}
	if written >= c.Min {
		out.problem = "without its repetitions it has {n} {word|words}; a document of this stage needs {want} or more"
	}
	return &out
}
