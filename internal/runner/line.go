package runner

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Line returns the event as a line for people, "" if it is not for them.
func (e Event) Line(l lang.Language) string {
	switch e.Type {
	case RunStarted:
		return l.Say("%s is at %s (%s)", e.TaskName, e.Stage, e.State)
	case StageStarted:
		text := l.Say("%s, round %d: %s works (%s)", e.Stage, e.Round, e.Engine, e.Why)
		if e.Model != "" {
			text = l.Say("%s, round %d: %s works with %s (%s)", e.Stage, e.Round, e.Engine, e.Model, e.Why)
		}
		return text
	case Noticed:
		return l.Say("Note: %s.", e.Why)
	case Retry:
		return l.Say("%s: once more, because %s", e.Stage, e.Why)
	case Submitted:
		if len(e.Returned) > 0 {
			return l.Say("%s: returned, because %s", e.Stage, strings.Join(e.Returned, "; "))
		}
		return l.Say("%s: submitted%s", e.Stage, Outcome(l, e.Score, e.Audit, e.Verdict, e.Rows))
	case Rework:
		return l.Say("%s: back to work: %s", e.Stage, e.Text)
	case GateReached:
		switch e.Decision {
		case "":
		case workflow.DecisionAnswer:
			return l.Say("%s: the questions are answered (%s)", e.Stage, e.Channel)
		default:
			return l.Say("%s: %s (%s)", e.Stage, e.Decision, e.Channel)
		}
	case Cost:
		text := l.Say("  %d tokens, %s so far", e.Tokens, Spending(l, *e.Spent, e.Unpriced))
		if e.Unpriced && *e.Spent == 0 {
			text = l.Say("  %d tokens so far, price not known", e.Tokens)
		}
		if e.Percent > 0 {
			text += l.Say(": %d %% of the budget are spent", e.Percent)
		}
		return text
	}
	return ""
}

// Spending describes a sum; unpriced is true if models without a price were used besides.
func Spending(l lang.Language, spent price.Money, unpriced bool) string {
	switch {
	case unpriced && spent == 0:
		return l.Say("price not known")
	case unpriced:
		return l.Say("%s and calls without a known price", spent.Short())
	}
	return spent.Short()
}

// Outcome names the scores, the verdict and the rows of a submission, each after a comma.
func Outcome(l lang.Language, score, audit *float64, verdict workflow.Verdict, rows string) string {
	text := ""
	if score != nil {
		text += l.Say(", score %g", *score)
	}
	if audit != nil {
		text += l.Say(", audit %g", *audit)
	}
	if verdict != "" {
		text += l.Say(", %s", verdict)
	}
	if rows != "" {
		text += l.Say(", %s", rows)
	}
	return text
}
