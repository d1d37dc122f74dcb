package intake

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Draft is one of two submissions for a stage, with the score of the draft's audit.
type Draft struct {
	Assessment
	Audited float64
}

// comparedScore returns the score by which a draft is compared: the one that has to reach the gate.
func (d Draft) comparedScore(scoring workflow.ScoringMode) float64 {
	if scoring == workflow.ScoringAudited {
		return min(d.Score(), d.Audited)
	}
	return d.Score()
}

// Choose compares two documents for a stage. It reports whether to take the second, and the reason
// for the one taken: the higher score; of equal scores the higher audit.
func Choose(scoring workflow.ScoringMode, a, b Draft) (second bool, why lang.Text) {
	switch one, other := a.comparedScore(scoring), b.comparedScore(scoring); {
	case one == other:
	case scoring == workflow.ScoringAudited:
		return other > one, lang.T("the lower of its two scores is higher")
	default:
		return other > one, lang.T("its score is higher")
	}
	if a.Audited != b.Audited {
		return b.Audited > a.Audited, lang.T("the scores are equal, and our check of it gives more")
	}
	return false, lang.T("both are equal and it is the first")
}
