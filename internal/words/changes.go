package words

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// changed says how the current document differs from that of an earlier round.
func changed(c *standing.Changes) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("Changed since round %d: %s.", c.Round, changesText(*c))
}

func changesText(c standing.Changes) string {
	switch {
	case c.Added+c.Removed == 0 && c.Same:
		return "nothing, word for word"
	case c.Added+c.Removed == 0:
		return "only the order of its lines"
	}
	text := fmt.Sprintf("%s added, %d removed", Count(c.Added, "line"), c.Removed)
	if len(c.Sections) == 0 {
		return text
	}
	const most = 3
	names, more := make([]string, min(len(c.Sections), most)), ""
	for i := range names {
		names[i] = "“" + visible.Cut(plainMarks.Replace(visible.Line(c.Sections[i])), 32, "…") + "”"
	}
	if n := len(c.Sections) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return text + ", in " + strings.Join(names, ", ") + more
}
