package cli

import (
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/runner"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// runLine is an event as a line for people; "" for one that says nothing to them.
func runLine(l lang.Language, e runner.Event) string {
	switch e.Type {
	case runner.RunStarted:
		return l.Say("%s is at %s (%s)", e.TaskName, e.Stage, e.State)
	case runner.StageStarted:
		text := l.Say("%s, round %d: %s works (%s)", e.Stage, e.Round, e.Engine, e.Why)
		if e.Model != "" {
			text = l.Say("%s, round %d: %s works with %s (%s)", e.Stage, e.Round, e.Engine, e.Model, e.Why)
		}
		return text
	case runner.Retry:
		return l.Say("%s: once more, because %s", e.Stage, e.Why)
	case runner.Submitted:
		return l.Say("%s: submitted%s", e.Stage, resultWords(l, e.Score, e.Audit, e.Verdict))
	case runner.Rework:
		return l.Say("%s: back to work: %s", e.Stage, e.Text)
	case runner.GateReached:
		switch e.Decision {
		case "":
		case workflow.DecisionAnswer:
			return l.Say("%s: the questions are answered (%s)", e.Stage, e.Channel)
		default:
			return l.Say("%s: %s (%s)", e.Stage, e.Decision, e.Channel)
		}
	case runner.Cost:
		text := l.Say("  %d tokens, %s so far", e.Tokens, e.Spent.Short())
		if e.Percent > 0 {
			text += l.Say(": %d %% of the budget are spent", e.Percent)
		}
		return text
	}
	return ""
}

// resultWords are the scores and the verdict of a submission.
func resultWords(l lang.Language, score, audit *float64, verdict workflow.Verdict) string {
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
	return text
}
