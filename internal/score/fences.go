package score

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

var markdownFence = pattern.New("^(```+|~~~+)(?:markdown|md)[ \\t]*\\n")

// trimFence removes one Markdown fence around a whole document.
func trimFence(text string) string {
	m := markdownFence.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	if body, closed := strings.CutSuffix(text[len(m[0]):], "\n"+m[1]); closed {
		return strings.TrimSpace(body)
	}
	return text
}
