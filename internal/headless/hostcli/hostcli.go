// Package hostcli has an installed coding assistant, Claude Code or Codex, do one piece of work without a
// person in front of it.
//
// A [Job] is the work, an [Outcome] the result. An engine brings login, permissions and sandbox. In addition it
// cannot reach a gate, the state of a run or its own settings, and without [Job.Writes] it changes no file. A
// program may end well without having done the work, so an engine reads the program's own report, and returns a
// [*Failure] if it is bad.
//
// Neither engine reads the project's settings, nor most of the person's: the rules, hooks, plugins and servers
// in them are made for sessions with a person watching, and a rule that allows Write or names another folder
// would let a job write there. A job keeps the login, the model and its server, and the person's denials.
// Claude Code does not read the project's instructions for assistants either, for example CLAUDE.md: the prompt
// has to name them.
//
// The engines differ in their protection. Codex runs every command in the system's sandbox: no network, and no
// writes outside the project and a temporary folder. Claude Code judges each command by its words and refuses
// the ones it does not understand. A command in Job.Allow runs with the person's own rights and with any
// arguments behind it, and so does the code under test.
package hostcli

import (
	"io"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Job is one piece of work.
type Job struct {
	// Dir is the project's folder, absolute.
	Dir string
	// Prompt is the whole text for the engine.
	Prompt string
	// Session is the engine's own conversation to continue; "" begins a new one.
	Session string
	// Writes is true if the work changes files of the project.
	Writes bool
	// Model overrides the engine's own choice.
	Model string
	// Left is the greatest cost of the work; 0 sets no limit.
	Left price.Money
	// Allow has the engine's commands besides reading, as the person wrote them.
	Allow []string
	// Open has the files that the engine may write although other programs obey them, by their names in the
	// list of package obeyed.
	Open []string
	// ToolServers are the names of MCP servers whose tools an engine of this program may use.
	ToolServers []string
	// Grace is the time of a program to end once it is asked to; 0 stands for 5 seconds.
	Grace time.Duration
	// Raw, if not nil, gets the engine's own output, line by line.
	Raw io.Writer
	// Tell, if not nil, is called with the engine's activities, in order.
	Tell func(Activity)
}

// Report passes on an activity, if anyone listens.
func (j *Job) Report(a Activity) {
	if j.Tell != nil {
		j.Tell(a)
	}
}

// Activity is an act of an engine, for people to see.
type Activity struct {
	// Kind is one of the constants.
	Kind Kind `json:"kind"`
	// Text is a piece of the answer, the tool with its object, or the reason of a retry.
	Text string `json:"text,omitempty"`
	// Session is the engine's name for the conversation, once it is known.
	Session string `json:"session,omitempty"`
	// Usage is the usage so far by model, if the engine reports it during the work.
	Usage map[string]provider.Usage `json:"usage,omitempty"`
}

// Kind is the kind of an activity.
type Kind string

// The kinds of activities.
const (
	Began    Kind = "began"
	Says     Kind = "says"
	UsesTool Kind = "uses_tool"
	Denied   Kind = "denied"
	Retries  Kind = "retries"
	Counted  Kind = "counted"
)

// Outcome is the result of a job.
type Outcome struct {
	// Text is the engine's final answer.
	Text string
	// Session continues the engine's conversation in another job.
	Session string
	// Usage counts the tokens by model. It is set for failed work, too.
	Usage map[string]provider.Usage
	// Reported is the cost in dollars by the engine's own account, or nil if it gives none.
	Reported *float64
	// Denied lists the refused actions of the engine.
	Denied []string
}

// Failure is work without success, whatever the program's exit code says.
type Failure struct {
	Engine string
	// Why is the program's own reason, in one line.
	Why string
	// Final is true if a second try cannot succeed, for example without a login.
	Final bool
	// Spent is true if [Job.Left] has ended the work.
	Spent bool
	// After is the time that the model's server wants to pass before a second try; 0 names none.
	After time.Duration
}

// Error returns the reason with the engine's name.
func (f *Failure) Error() string { return f.Engine + " failed: " + f.Why }
