package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// describeChanges says how the current document differs from that of an earlier round.
func describeChanges(s *standing.Standing) string {
	c := s.Draft.Changes
	switch {
	case c == nil:
		return ""
	case c.Added+c.Removed == 0:
		return s.Say("Changed since round %d: nothing, word for word.", c.Round)
	case len(c.Sections) == 0:
		return s.Say("Changed since round %d: %s added, %d removed.", c.Round, s.Count(c.Added, "line"), c.Removed)
	}
	const most = 3
	names, more := make([]string, min(len(c.Sections), most)), ""
	for i := range names {
		names[i] = "“" + visible.Cut(plainMarks.Replace(visible.Line(c.Sections[i])), 32, "…") + "”"
	}
	if n := len(c.Sections) - most; n > 0 {
		more = s.Say(" and %d more", n)
	}
	return s.Say("Changed since round %d: %s added, %d removed, in %s.", c.Round, s.Count(c.Added, "line"), c.Removed, strings.Join(names, s.Say(", "))+more)
}
