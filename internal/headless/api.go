package headless

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// API is a worker that calls a model by its API, with the tools of package vfs.
type API struct {
	// Engine is the name of the worker: "api" or "openai".
	Engine string
	// Provider returns the provider of a model; "" names the person's usual model.
	Provider func(model string) (provider.Provider, error)
	Prices   *price.Table
	Clock    func() time.Time
	// Command runs a command line in a folder and keeps at most tail bytes of the end of the output.
	Command func(ctx context.Context, dir, line string, tail int) workflow.Evidence
	// Tools, if not nil, returns the tools for a job, of its tool servers and of allowed programs. end ends the connections.
	Tools func(ctx context.Context, job hostcli.Job) (tools []sdk.AnyTool, end func(), err error)
}

// Name implements Worker.
func (w *API) Name() string { return w.Engine }

// Check refuses a job whose model cannot be asked.
func (w *API) Check(job hostcli.Job) error {
	_, err := w.Provider(job.Model)
	return err
}

// ModelOf returns the model for a job, "" if it cannot be asked.
func (w *API) ModelOf(job hostcli.Job) string {
	p, err := w.Provider(job.Model)
	if err != nil {
		return ""
	}
	return p.Info().Model
}

// commandTail bounds the end of a command's output for the model, in bytes.
const commandTail = 16 << 10

// worker is the agent for the work of a stage; the prompt has the stage's role.
var worker = &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "stage", Name: "the role of the stage at hand"}, Persona: sdk.Persona{Role: "The one that the message gives you."}}

// instructions explains the agent's files and tools to it.
func instructions(job hostcli.Job) string {
	text := fmt.Sprintf("The project's folder, %s on the disk, is / in your tools: docs/a.md in a message is "+
		"/docs/a.md. Answer with the whole document that the message asks for, as text; do not write it to a file.", job.Dir)
	if job.Writes {
		text += " The changes of the project that it is about are made with your tools, before you answer."
	}
	return text
}

// Work implements Worker.
func (w *API) Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	p, err := w.Provider(job.Model)
	if err != nil {
		return nil, &hostcli.Failure{Engine: w.Engine, Why: err.Error(), Final: true}
	}
	files, err := vfs.OpenDir(job.Dir, vfs.DirOptions{ReadOnly: !job.Writes, Open: job.Open})
	if err != nil {
		return nil, err
	}
	defer func() { _ = files.Close() }()
	var tools []sdk.AnyTool
	if w.Tools != nil {
		var end func()
		tools, end, err = w.Tools(ctx, job)
		defer end()
		if err != nil {
			return nil, &hostcli.Failure{Engine: w.Engine, Why: err.Error(), Final: true}
		}
	}
	client, err := sdk.New(sdk.Options{Provider: p, Project: job.Dir, Prices: w.Prices, Clock: w.Clock})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	c, err := w.openConversation(ctx, client, files, job, tools)
	if err != nil {
		return nil, w.describeFailure(err)
	}
	before := c.Costs()
	job.Report(hostcli.Activity{Kind: hostcli.Began, Session: c.ID()})
	text, err := sendPrompt(ctx, c, job, before)
	out := &hostcli.Outcome{Text: text, Session: c.ID(), Usage: usageSince(c.Costs(), before)}
	if err != nil {
		return out, w.describeFailure(err)
	}
	return out, nil
}

// openConversation begins a conversation, or continues one.
func (w *API) openConversation(ctx context.Context, client *sdk.Client, files vfs.FS, job hostcli.Job, tools []sdk.AnyTool) (*sdk.Conversation, error) {
	run := func(ctx context.Context, command string) (string, bool) { return w.runCommand(ctx, job.Dir, command) }
	if job.Session != "" {
		c, err := client.OpenWith(ctx, job.Session, sdk.OpenOptions{
			FS: files, Run: run, CostLeft: job.Left, Commands: slices.Concat([]string{}, job.Allow), ReadOnly: !job.Writes, Tools: tools,
		})
		if err == nil && c.Status() != sdk.Idle { // it was cut off; the prompt is sent again
			c.Cancel()
		}
		return c, err
	}
	return client.StartConversation(ctx, "", sdk.ConversationOptions{PlainText: true, SessionOptions: sdk.SessionOptions{
		Agent: worker, Instructions: instructions(job), FS: files, ReadOnly: !job.Writes, NoQuestions: true, CostLimit: job.Left, Commands: job.Allow, Run: run,
		Tools: tools,
	}})
}

// sendPrompt hands the prompt over, and returns the answer. before are the costs of the conversation until now.
func sendPrompt(ctx context.Context, c *sdk.Conversation, job hostcli.Job, before price.Report) (string, error) {
	text := ""
	for e, err := range c.Stream(ctx, job.Prompt) {
		if err != nil {
			if ctx.Err() != nil {
				c.Cancel()
				_, _ = c.Wait(context.WithoutCancel(ctx)) // the costs are known then
			}
			return "", cmp.Or(ctx.Err(), err)
		}
		if job.Raw != nil {
			if line, err := json.Marshal(e); err == nil && e.Type != sdk.EventTextDelta {
				_, _ = job.Raw.Write(append(line, '\n'))
			}
		}
		if a, ok := activityOf(e); ok {
			job.Report(a)
		} else if e.Type == sdk.EventCost {
			job.Report(hostcli.Activity{Kind: hostcli.Counted, Usage: usageSince(c.Costs(), before)})
		}
		if e.Type == sdk.EventTurnCompleted {
			text = e.Text
		}
	}
	return text, nil
}

// activityOf returns an event as people see it; ok is false if they do not.
func activityOf(e sdk.Event) (hostcli.Activity, bool) {
	switch e.Type {
	case sdk.EventTextDelta:
		return hostcli.Activity{Kind: hostcli.Says, Text: e.Text}, true
	case sdk.EventToolStarted:
		var in struct {
			FilePath string `json:"file_path"`
			Path     string `json:"path"`
			Pattern  string `json:"pattern"`
			Command  string `json:"command"`
		}
		_ = json.Unmarshal([]byte(e.Tool.Input), &in) // a long input is cut, and has no object then
		return hostcli.Activity{Kind: hostcli.UsesTool, Text: strings.TrimSpace(e.Tool.Name + " " + in.FilePath + in.Command + in.Pattern + in.Path)}, true
	case sdk.EventRetry:
		return hostcli.Activity{Kind: hostcli.Retries, Text: e.Text}, true
	}
	return hostcli.Activity{}, false
}

// usageSince returns the usage since an earlier report, by model.
func usageSince(now, before price.Report) map[string]provider.Usage {
	used := map[string]provider.Usage{}
	for _, line := range now.Models {
		used[line.Model] = line.Usage
	}
	for _, line := range before.Models {
		used[line.Model] = used[line.Model].Minus(line.Usage)
	}
	return used
}

// describeFailure describes an error of the work, and whether another try can succeed.
func (w *API) describeFailure(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var refused *sdk.ProviderError
	var limit *sdk.CostLimitError
	f := &hostcli.Failure{Engine: w.Engine, Why: err.Error(), Spent: errors.As(err, &limit)}
	var unknown *sdk.PriceUnknownError
	var retired *sdk.ModelRetiredError
	switch {
	case f.Spent, errors.As(err, &unknown), errors.As(err, &retired):
		f.Final = true
	case errors.As(err, &refused):
		f.Final, f.After = refused.Status >= 400 && refused.Status < 500 && !refused.Retryable, refused.After
	}
	return f
}

// runCommand runs a command line allowed by the person, in the project.
func (w *API) runCommand(ctx context.Context, dir, command string) (output string, failed bool) {
	e := w.Command(ctx, dir, command, commandTail)
	switch {
	case e.NotRun != "":
		return "not run: " + e.NotRun, true
	case e.TimedOut:
		return e.Tail + "\n[it took too long and was ended]", true
	}
	return fmt.Sprintf("%s\n[exit code %d]", e.Tail, e.ExitCode), e.ExitCode != 0
}
