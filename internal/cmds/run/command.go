// Package run has the command that takes an objective through all stages without a host, and shows how
// it goes. Others show a run, or serve it, by the same means.
package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/runner"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// runFlags are the flags of run that are not kept with the run.
type runFlags struct {
	runner.Flags
	engineFor, modelFor, docs []string
	budget                    string
	gates                     string
	yes, dryRun               bool
	answers, resume, events   string
	name                      string
}

var runExitHelp = terminal.WithExits("the budget or the time is spent", "the engine did not do the work; nothing was submitted")

// Command returns the command that runs all stages.
func Command(a *app.App) *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run OBJECTIVE… | run --resume TASK",
		Short: "Take an objective through all stages without a host, by Claude Code, Codex or an API",
		Long: `Take an objective through the stages of a workflow: each is briefed, worked on by Claude
Code or Codex as they are installed here, or by a model behind an API, and handed in. The
gates stay yours: at a terminal you are asked; elsewhere the run ends with exit code 6 and
the command that decides, and --resume goes on. It calls models, by your login or key, and
costs what they cost; --dry-run shows the plan, and bmad-mcp demo --run a run without any.

The engine cannot decide at a gate, and commits nothing. A project with changes that are
not committed is refused without --allow-dirty. A run that was killed goes on where it was.

` + runExitHelp,
		Example: `  bmad-mcp run "Add a --json flag to the list command"
  bmad-mcp run --workflow quick --engine claude --budget 2 "Fix the typo in the help"
  bmad-mcp run --resume add-a-json-flag --answers answers.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, a, f, strings.Join(args, " ")) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.resume, "resume", "", "go on with this task, of a run or of an assistant")
	flags.StringVar(&f.Workflow, "workflow", "", "the workflow to go through (bmad-mcp workflow list)")
	flags.StringVar(&f.name, "name", "", "the task's name (default: made from the objective)")
	flags.StringVar(&f.Stages, "stages", "", "the stages to work on, such as po..sm or dev,review (default: all)")
	flags.StringVar(&f.From, "from", "", "take the documents of the stages before from this task")
	flags.StringArrayVar(&f.docs, "doc", nil, "take the document of a stage before from a file, as STAGE=PATH")
	flags.StringVar(&f.Engine, "engine", "", "auto, claude, codex, api or openai (default: auto)")
	flags.StringArrayVar(&f.engineFor, "engine-for", nil, "the engine of one stage, as STAGE=ENGINE")
	flags.StringVar(&f.Model, "model", "", "the model to use (default: the engine's own choice)")
	flags.StringArrayVar(&f.modelFor, "model-for", nil, "the model of one stage, as STAGE=MODEL")
	flags.StringVar(&f.budget, "budget", "", "end before the call after this many US dollars, by our prices; none takes a budget back")
	flags.IntVar(&f.Minutes, "max-minutes", 0, "end after this many minutes")
	flags.StringVar(&f.gates, "gates", "", "ask, stop or yes (default: ask at a terminal, else stop)")
	flags.BoolVar(&f.yes, "yes", false, "say yes beforehand to every document that reaches its gate; never to failed work")
	flags.StringVar(&f.answers, "answers", "", `a JSON file of answers to questions, {"id": "text"}`)
	flags.StringArrayVar(&f.Commands, "allow-command", nil, "a command that the engine may run while it builds and tests, such as \"go test\"")
	OpenFlag(cmd, &f.Open)
	flags.BoolVar(&f.Dirty, "allow-dirty", false, "work in a project with uncommitted changes, or outside of git")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show stages, engines, gates and ceiling; start nothing")
	flags.StringVar(&f.events, "events", "", "write each event as a line of JSON to this file, or - for standard output")
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("workflow", a.CompleteWorkflow)
	_ = cmd.RegisterFlagCompletionFunc("resume", a.CompleteTasks)
	return cmd
}

func run(cmd *cobra.Command, a *app.App, f *runFlags, objective string) (err error) {
	if err := f.check(a, objective); err != nil {
		return err
	}
	if f.resume == "" {
		if err := a.StayHere(); err != nil {
			return err
		}
	}
	a.UseAudits()
	o, err := runOptions(cmd, a, f)
	if err != nil {
		return err
	}
	if objective != "" {
		a.Speak(objective)
	} else if s, _, err := a.Engine().Session(cmd.Context(), project.Address{Cwd: o.Folder, Session: f.resume}); err == nil {
		a.SpeakOf(s)
	}
	if f.dryRun {
		return dryRun(cmd, a, o, objective)
	}
	view, err := NewView(a, f.events)
	if err != nil {
		return err
	}
	defer view.Close()
	o.Tell = view.Tell
	if o.Person != nil {
		o.Person = view.Asking(o.Person)
	}
	var out *runner.Result
	if f.resume != "" {
		out, err = runner.New(o).Resume(cmd.Context(), f.resume)
	} else {
		out, err = runner.New(o).Start(cmd.Context(), objective, f.name)
	}
	view.Close()
	switch {
	case errors.Is(err, context.Canceled) && view.task != "":
		a.Warnf("interrupted; it goes on with: bmad-mcp run --resume %s", view.task)
		return terminal.ErrStopped
	case err != nil:
		return err
	}
	if err := view.End(out); err != nil {
		return err
	}
	return map[runner.Reason]error{runner.Person: terminal.ErrPending, runner.Spent: terminal.ErrSpent, runner.Failed: terminal.ErrEngine}[out.Reason]
}

// check refuses flags that contradict each other, and reads the others.
func (f *runFlags) check(a *app.App, objective string) (err error) {
	switch {
	case f.resume == "" && objective == "":
		return fault.New(fault.InvalidArgument, "run needs an objective, or --resume with a task").WithHint("say in one or two sentences what is to be built")
	case f.resume != "" && objective != "":
		return fault.New(fault.InvalidArgument, "a run that is resumed has its objective already").WithHint("leave out the words after the flags, or --resume")
	case f.resume != "" && f.Workflow != "":
		return fault.New(fault.InvalidArgument, "a run that is resumed has its workflow already").WithHint("leave out --workflow")
	case f.resume != "" && f.dryRun:
		return fault.New(fault.InvalidArgument, "--dry-run is for a new run").WithHint("bmad-mcp task status %s says where the session is", f.resume)
	case f.yes && f.gates != "" && f.gates != string(runner.Yes):
		return fault.New(fault.InvalidArgument, "--yes and --gates %s contradict each other", f.gates).WithHint("leave one out")
	case f.gates != "" && !slices.Contains(runner.AllGates(), runner.Gates(f.gates)):
		return fault.New(fault.InvalidArgument, "--gates %q is not one of ask, stop, yes", f.gates).WithHint("see bmad-mcp run --help")
	case f.events == "-" && a.JSON:
		return fault.New(fault.InvalidArgument, "--events - and --json both want standard output").WithHint("write the events to a file")
	case f.Minutes < 0:
		return fault.New(fault.InvalidArgument, "--max-minutes %d is not a time", f.Minutes).WithHint("name whole minutes, 1 or more")
	}
	if f.yes {
		f.gates = string(runner.Yes)
	}
	if err := CheckOpen(f.Open); err != nil {
		return err
	}
	return f.read()
}

// read reads the flags that are texts.
func (f *runFlags) read() (err error) {
	if f.NoBudget = f.budget == "none"; f.budget != "" && !f.NoBudget {
		if f.Budget, err = price.ParseMoney(f.budget); err != nil || f.Budget == 0 {
			return fault.New(fault.InvalidArgument, "--budget %q is not an amount in US dollars", f.budget).WithHint("write it as 2 or 0.50; or none, to take a budget back")
		}
	}
	for _, pairs := range []struct {
		flag string
		from []string
		to   *map[workflow.StageID]string
	}{{"--engine-for", f.engineFor, &f.EngineFor}, {"--model-for", f.modelFor, &f.ModelFor}, {"--doc", f.docs, &f.Docs}} {
		for _, text := range pairs.from {
			stage, value, ok := strings.Cut(text, "=")
			if !ok || stage == "" || value == "" {
				return fault.New(fault.InvalidArgument, "%s %q does not name a stage and a value", pairs.flag, text).WithHint("write it as STAGE=VALUE, such as dev=codex")
			}
			if *pairs.to == nil {
				*pairs.to = map[workflow.StageID]string{}
			}
			(*pairs.to)[workflow.StageID(stage)] = value
		}
	}
	return nil
}

// runOptions returns the options of a runner for the flags.
func runOptions(cmd *cobra.Command, a *app.App, f *runFlags) (o runner.Options, err error) {
	o = runner.Options{
		Engine: a.Engine(), Repository: gitRepository{}, Gates: runner.Gates(f.gates), Flags: f.Flags,
		Answers: map[string]string{}, By: "bmad-mcp run", Log: a.Log, Rights: runRights(a),
	}
	if o.Folder, err = a.Project(); err != nil {
		return o, err
	}
	if o.Prices, _, err = app.PriceTable(); err != nil {
		return o, err
	}
	if a.Unread != nil { // the limit of the costs may be in it
		return o, a.Unread
	}
	o.Workers = runWorkers(a, o.Prices)
	if f.answers != "" {
		if err := a.ReadAnswers(cmd.Context(), f.answers, o.Answers); err != nil {
			return o, err
		}
	}
	person, err := a.Person()
	switch {
	case err == nil:
		o.Person, o.Gates = person, cmp.Or(o.Gates, runner.Ask)
		if f.events == "-" {
			person.Out = a.Err
		}
	case o.Gates == runner.Ask && !f.dryRun:
		return o, err
	}
	o.Gates = cmp.Or(o.Gates, runner.Stop)
	return o, nil
}
