// Package hostcli has coding assistants that people have installed, such as Claude Code and Codex,
// do one piece of work without a person in front of them.
//
// A [Job] is the work, an [Outcome] its result. An engine brings its own login, permissions and
// sandbox; on top of these, it cannot reach a gate, the state of a run or its own settings, and
// without [Job.Writes] it changes no file. A program that ends well has not always worked: an
// engine checks what the program says of itself, and returns a [*Failure] otherwise.
//
// Neither engine reads the project's settings, nor most of the person's: their rules, hooks,
// plugins and servers are made for sessions that a person watches, and a rule that allows Write
// or names another folder would let a job write there. Kept are the login, the model and its
// server, and what the person denies. Instructions for assistants in the project, such as
// CLAUDE.md, are not read by Claude Code either: the prompt has to name them.
//
// What holds differs. Codex runs every command in the system's sandbox: no network, and no writes
// outside the project and a temporary folder. Claude Code judges each command by its words and refuses what it does not
// understand, but a command of Job.Allow then runs with the person's own rights, with any
// arguments that follow, and so does the code that it tests.
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
	// Prompt is everything that the engine is told.
	Prompt string
	// Session is the engine's own conversation to continue; "" begins a new one.
	Session string
	// Writes is true where the work changes files of the project.
	Writes bool
	// Model overrides the engine's own choice.
	Model string
	// Left is what the work may cost; 0 sets no limit.
	Left price.Money
	// Allow are commands that the engine may run besides reading, as the person wrote them.
	Allow []string
	// Open are files that other programs obey and that the engine may write all the same, by their
	// names in the list of package obeyed.
	Open []string
	// Timeout bounds the work; 0 does not.
	Timeout time.Duration
	// Raw, if not nil, is given the engine's own output, line by line.
	Raw io.Writer
	// Tell, if not nil, is called with what the engine does, in order.
	Tell func(Activity)
}

// Activity is something that an engine does, for people to see.
type Activity struct {
	// Kind is one of the constants.
	Kind Kind `json:"kind"`
	// Text is a piece of the answer, the tool with its object, or the reason of a retry.
	Text string `json:"text,omitempty"`
	// Session is the engine's name for its conversation, once it is known.
	Session string `json:"session,omitempty"`
	// Usage is what was used so far, where the engine says so under way.
	Usage *provider.Usage `json:"usage,omitempty"`
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
	// Reported is what the engine itself says that it cost, in dollars; nil where it does not.
	Reported *float64
	// Denied lists what the engine wanted to do and was not allowed to.
	Denied []string
}

// Failure is work that did not succeed, whatever the program's exit code says.
type Failure struct {
	Engine string
	// Why is what the program says of it, in one line.
	Why string
	// Final is true where a second try cannot succeed, such as without a login.
	Final bool
}

// Error names the engine.
func (f *Failure) Error() string { return f.Engine + " failed: " + f.Why }
