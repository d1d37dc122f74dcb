package intake

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Draft is one of two submissions for a stage, with the score of its audit.
type Draft struct {
	Assessment
	Audited float64
}

// comparedScore returns the score that a draft is compared by: the one that has to reach the gate.
func (d Draft) comparedScore(scoring workflow.ScoringMode) float64 {
	if scoring == workflow.ScoringAudited {
		return min(d.Score(), d.Audited)
	}
	return d.Score()
}

// Choose compares two documents for a stage. It reports whether the second is to be taken, and why
// the one that is: the one with the higher score; of equal ones that with the higher audit.
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
