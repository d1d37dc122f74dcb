package audit

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// check is one rule of a rubric. The kind decides which of the parameters it may have.
type check struct {
	ID, Kind, Severity string
	// Points are for the miss as a whole; Each for every item, up to Cap.
	Points, Each, Cap float64
	Problem, Fix      string
	// Name and Also are the names of a section, Names both of them normalized.
	Name  string
	Also  []string
	Names []string
	// FiguresIn are the names of sections whose figures do as well.
	FiguresIn []string
	Words     []string
	IDs       []string
	What      string
	From      string
	Only      string
	// Through are ids that may stand for the traced ones.
	Through []string
	Alone   float64
	Min, At int
	// Full is the percentage at which a share costs all points.
	Full int
	// UnlessTitle exempts documents whose title has one of the words.
	UnlessTitle []string
}

// needsWords reports whether the check goes by words, which have to be of a known language.
func (c check) needsWords() bool {
	return kinds[c.Kind].worded || c.Kind == "has" && slices.Contains([]string{"priorities", "results", "findings"}, c.What)
}

func (c check) appliesTo(s *document) bool {
	if len(c.UnlessTitle) == 0 || len(s.Heads) == 0 {
		return true
	}
	return !markdown.MatchesName(s.Heads[0].Name, c.UnlessTitle)
}
