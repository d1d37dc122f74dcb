package markdown

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Escape makes a foreign text safe inside a line or a cell of Markdown: it is one line of at most so many bytes, nothing in
// it is a mark, a link or a comment, and hidden characters are visible.
func Escape(text string, most int) string {
	text = visible.Line(visible.Fit(strings.Join(strings.Fields(text), " "), most))
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>|~&#$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return unlinked.Replace(b.String())
}

// unlinked keeps addresses from becoming links.
var unlinked = strings.NewReplacer("://", `\://`, "www.", `www\.`)
