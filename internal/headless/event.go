package headless

import (
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Type is the kind of an event.
type Type string

// The kinds of events. Each run begins with RunStarted and ends with Stopped or Completed.
const (
	RunStarted   Type = "run_started"
	StageStarted Type = "stage_started"
	EngineEvent  Type = "engine_event"
	Submitted    Type = "submitted"
	GateReached  Type = "gate"
	Questioned   Type = "question"
	Cost         Type = "cost"
	Rework       Type = "rework"
	Retry        Type = "retry"
	Noticed      Type = "notice"
	Committed    Type = "committed"
	Stopped      Type = "stopped"
	Completed    Type = "completed"
)

// Reason tells why a run has ended.
type Reason string

// The reasons.
const (
	// Done: the workflow, or each stage asked for, is complete.
	Done Reason = "completed"
	// Person: a person has to decide, to answer or to let it go on.
	Person Reason = "person"
	// Spent: the budget or the time.
	Spent Reason = "spent"
	// Failed: the engine did not do the work.
	Failed Reason = "engine_failed"
	// Yielded: the program that runs it ends; the run goes on elsewhere.
	Yielded Reason = "yielded"
)

// Event is something that happened in a run. The JSON form is a contract: keys are added, never changed.
type Event struct {
	// Seq counts the events of a session, earlier invocations included.
	Seq  int       `json:"seq"`
	At   time.Time `json:"at"`
	Type Type      `json:"type"`

	SessionID string           `json:"session_id,omitempty"`
	TaskName  string           `json:"task_name,omitempty"`
	Stage     workflow.StageID `json:"stage,omitempty"`
	// Stages are the stages of the run, Budget is the limit of the costs.
	Stages []workflow.StageID `json:"stages,omitempty"`
	Budget price.Money        `json:"budget_nano_usd,omitempty"`
	// Round counts the submissions of the stage, the coming one included.
	Round int            `json:"round,omitempty"`
	State workflow.State `json:"state,omitempty"`

	Engine string `json:"engine,omitempty"`
	Model  string `json:"model,omitempty"`
	// Activity is the kind of an engine's act, for example "says"; Text is a piece of it.
	Activity hostcli.Kind `json:"activity,omitempty"`
	Text     string       `json:"text,omitempty"`
	// Why is the reason, for people: of a choice, a retry, a decision or the end.
	Why string `json:"why,omitempty"`

	Score   *float64         `json:"score,omitempty"`
	Audit   *float64         `json:"audit,omitempty"`
	Verdict workflow.Verdict `json:"verdict,omitempty"`
	// Rows counts the rows of a report in words; Returned are the reasons why it was returned.
	Rows     string   `json:"rows,omitempty"`
	Returned []string `json:"returned,omitempty"`
	Draft    string   `json:"draft,omitempty"`
	// Decision was taken at a gate, by Channel.
	Decision  workflow.Decision   `json:"decision,omitempty"`
	Channel   workflow.Channel    `json:"channel,omitempty"`
	Questions []workflow.Question `json:"questions,omitempty"`

	// Spent is the cost of the run so far, by our prices; Percent the part of the budget reached for the first
	// time; Reported the cost by the engines' own count.
	Spent    *price.Money `json:"spent_nano_usd,omitempty"`
	Percent  int          `json:"percent,omitempty"`
	Reported *float64     `json:"reported_usd,omitempty"`
	// Tokens counts the tokens of prompts and answers so far.
	Tokens int64 `json:"tokens,omitempty"`
	// Unpriced is true if the price of a model in use is not known.
	Unpriced bool `json:"unpriced,omitempty"`
	// Reason is the reason of the end.
	Reason Reason `json:"reason,omitempty"`
	// Command is the command to decide with, if the run waits for a person.
	Command string `json:"command,omitempty"`
	// Commit is the commit with work of the run.
	Commit string `json:"commit,omitempty"`
}

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
	case Committed:
		return l.Say("%s: committed as %s", e.Stage, (&Tree{Head: e.Commit}).commitName())
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
		case workflow.DecisionApprove:
			return l.Say("%s: approve (%s)", e.Stage, e.Channel)
		case workflow.DecisionChanges:
			return l.Say("%s: request_changes (%s)", e.Stage, e.Channel)
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

// Stated describes the dollars of an engine's own account.
func Stated(dollars float64) string { return price.Money(dollars * float64(price.Dollar)).Short() }

// Outcome names the scores, the verdict and the rows of a submission, each after a comma.
func Outcome(l lang.Language, score, audit *float64, verdict workflow.Verdict, rows string) string {
	text := ""
	if score != nil {
		text += l.Say(", score %g", *score)
	}
	if audit != nil {
		text += l.Say(", form %g", *audit)
	}
	if verdict != "" {
		text += l.Say(", %s", verdict)
	}
	if rows != "" {
		text += l.Say(", %s", rows)
	}
	return text
}

// clipLine returns the beginning of a text, on one line.
func clipLine(text string, columns int) string {
	return visible.Cut(strings.Join(strings.Fields(text), " "), columns, "…")
}
