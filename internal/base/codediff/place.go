package codediff

import "strings"

// Quote returns the lines from a first to a last one, counted from 1, as a comment on them keeps them. ok is false if
// the file does not have them.
func (f File) Quote(from, to int) (text string, ok bool) {
	lines := f.Lines()
	if from < 1 || to < from || to > len(lines) {
		return "", false
	}
	return strings.Join(lines[from-1:to], "\n"), true
}

// Place finds the lines of a quote, possibly cut off at its end, near to their former number. ok is false if they are
// gone.
func (f File) Place(quote string, from int) (line int, ok bool) {
	want, lines := trimLines(strings.Split(quote, "\n")), trimLines(f.Lines())
	for i := range lines {
		isNearer := !ok || distance(i+1, from) < distance(line, from)
		if !isNearer || !startsWith(lines[i:], want) {
			continue
		}
		line, ok = i+1, true
	}
	return line, ok
}

// trimLines removes the white space around lines, once for all comparisons.
func trimLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimSpace(line)
	}
	return out
}

func distance(a, b int) int { return max(a-b, b-a) }

// startsWith reports whether lines begin with the lines of a quote, of which the last one may be cut off. They are trimmed.
func startsWith(lines, quote []string) bool {
	if len(quote) > len(lines) {
		return false
	}
	for i, want := range quote {
		if lines[i] == want {
			continue
		}
		cut, isCut := strings.CutSuffix(want, "…")
		if i+1 < len(quote) || !isCut || !strings.HasPrefix(lines[i], strings.TrimSpace(cut)) {
			return false
		}
	}
	return true
}
