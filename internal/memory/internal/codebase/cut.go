package codebase

import "strings"

// The bounds of a chunk, in lines; overlap is how many of them the next chunk repeats if the cut is inside a block.
const (
	leastLines, mostLines, overlap = 20, 50, 8
)

// chunk is a part of a file, by the numbers of lines from 0; to is the line after the last.
type chunk struct{ from, to int }

// splitLines returns the lines of a text; one at the end without a character is none.
func splitLines(data []byte) []string {
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// cutLines cuts a text at empty lines and headings, the ones before the least indented lines first, because a
// declaration or section begins there.
func cutLines(lines []string) (out []chunk) {
	for from := 0; from < len(lines); {
		if len(lines)-from <= mostLines {
			return append(out, chunk{from, len(lines)})
		}
		at, depth := from+mostLines, 1<<20
		for i := from + leastLines; i <= from+mostLines; i++ {
			begins := strings.TrimSpace(lines[i-1]) == "" || strings.HasPrefix(lines[i], "#")
			if d := indentation(lines[i]); begins && d < depth {
				at, depth = i, d
			}
		}
		out = append(out, chunk{from, at})
		if from = at; depth > 0 {
			from -= overlap
		}
	}
	return out
}

// indentation returns how far a line is indented; an empty line begins nothing.
func indentation(line string) int {
	rest := strings.TrimLeft(line, " \t")
	if rest == "" {
		return 1 << 20
	}
	return len(line) - len(rest)
}
