package score

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

var markdownFence = pattern.New("^(```+|~~~+)(?:markdown|md)[ \\t]*\\n")

// unfenced removes one Markdown fence around a whole document.
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
		mark, _, ok := markdown.Fence(strings.TrimRight(line, "\r\n"))
		switch {
		case ok && fence == "":
			fence = mark
		case ok && strings.HasPrefix(mark, fence):
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
