package score

import (
	"regexp"
	"strings"
)

var (
	fenceLine     = regexp.MustCompile("^\\s{0,3}(```+|~~~+)")
	markdownFence = regexp.MustCompile("^(```+|~~~+)(?:markdown|md)[ \\t]*\\n")
)

// unfenced takes off one Markdown fence around a whole document.
func unfenced(text string) string {
	m := markdownFence.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	if body, closed := strings.CutSuffix(text[len(m[0]):], "\n"+m[1]); closed {
		return strings.TrimSpace(body)
	}
	return text
}

// withoutFences returns a text without its code blocks, which are quoted and not said.
func withoutFences(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		m := fenceLine.FindStringSubmatch(line)
		switch {
		case m != nil && fence == "":
			fence = m[1]
		case m != nil && strings.HasPrefix(m[1], fence):
			fence = ""
		case fence == "":
			b.WriteString(line)
		}
	}
	if fence != "" {
		return text // never closed
	}
	return b.String()
}
