package audit

import (
	"math"
	"strconv"
	"unicode"
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

// findShort finds a document too short for the stage.
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
