package audit

import (
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// findShort finds a document that is too short for its stage.
func findShort(c check, s *document) *miss {
	n := s.wordCount()
	if n >= c.Min {
		return nil
	}
	share := 0.5
	if 3*n < 2*c.Min {
		share = 1
	}
	return &miss{line: -1, n: n, share: share, want: strconv.Itoa(c.Min)}
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
