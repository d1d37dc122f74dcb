// Package run has the command to take an objective through all stages without a host, and to show the
// progress. Other packages show or serve a run by the same functions.
package run

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// options are the flags of run.
type options struct {
	kept                      headless.Flags // with the run
	engineFor, modelFor, docs []string
	budget                    string
	gates                     string
	yes, dryRun               bool
	answers, resume, events   string
	name                      string
	apart                     apart
}

// Command returns the command that runs all stages.
func Command(term *terminal.Terminal, tasks *app.Tasks, program Program) *cobra.Command {
	var o options
	prices := false
	cmd := &cobra.Command{
		Use:   "run OBJECTIVE… | run --resume RUN | run --prices [MODEL]",
		Short: "Run all stages without a host, by Claude Code, Codex or an API",
		Long: `Take an objective through the stages of a workflow: each is briefed, worked on by Claude
Code or Codex as they are installed here, or by a model behind an API, and handed in. The
gates stay yours: at a terminal you are asked; elsewhere the run ends with exit code 6 and
the command that decides, and --resume goes on. It calls models, by your login or key, and
costs what they cost; --dry-run shows the plan, and --prices what models cost, in US dollars
for a million tokens: the built-in prices, and before them those of prices.json in the folder
of your settings, {"prices": [{"model": "my-model", "input": 0.5, "output": 2}]}.

The worker cannot decide at a gate. A project with changes that are not committed is refused
without --allow-dirty, and nothing is committed there; with --worktree the run works beside
it, and commits to a branch of its own. A run that was killed goes on where it was.`,
		Example: `  bmad-mcp run "Add a --json flag to the list command"
  bmad-mcp run --workflow quick --budget 2 "Fix a typo in the help"
  bmad-mcp run --resume add-a-json-flag --answers answers.json
  bmad-mcp run --worktree --pr "Add a --json flag to the list command"
  bmad-mcp run --queue "Add a --json flag to the list command"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if prices {
				return showPrices(term, strings.Join(args, " "))
			}
			if len(args) > 1 && isBool(args[0]) { // of a flag before it
				return fault.New(fault.InvalidArgument, "%q stands alone before the objective", args[0]).
					WithHint("write the value of a flag with =, such as --yes=false, and the objective in quotation marks")
			}
			if o.resume == onlyRun && len(args) == 1 {
				o.resume, args = args[0], nil
			}
			return o.startOrResume(cmd.Context(), term, tasks, program, strings.Join(args, " "))
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if o.resume != onlyRun {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return tasks.CompleteTasks(cmd, args, prefix)
	}
	flags := cmd.Flags()
	flags.StringVar(&o.resume, "resume", "", "go on with this run, also one of an assistant")
	flags.Lookup("resume").NoOptDefVal = onlyRun
	flags.StringVar(&o.kept.Workflow, "workflow", "", "the workflow to go through (bmad-mcp workflow list)")
	flags.StringVar(&o.name, "name", "", "the name of the run (default: made from the objective)")
	flags.StringVar(&o.kept.Stages, "stages", "", "the stages to work on, such as po..sm or dev,review (default: all)")
	flags.StringVar(&o.kept.From, "from", "", "take the documents of the stages before from this run")
	flags.StringArrayVar(&o.docs, "doc", nil, "take the document of a stage before from a file, as STAGE=PATH")
	flags.StringVar(&o.kept.Engine, "engine", "", "auto, claude, codex, api or openai (default: auto)")
	flags.StringArrayVar(&o.engineFor, "engine-for", nil, "the worker of one stage, as STAGE=WORKER")
	flags.StringVar(&o.kept.Model, "model", "", "the model to use (default: the worker's own choice)")
	flags.StringArrayVar(&o.modelFor, "model-for", nil, "the model of one stage, as STAGE=MODEL")
	flags.StringVar(&o.budget, "budget", "", "end before the call after this many US dollars, by our prices; none takes a budget back")
	flags.IntVar(&o.kept.Minutes, "max-minutes", 0, "end after this many minutes")
	flags.StringVar(&o.gates, "gates", "", "ask, stop or yes (default: ask at a terminal, else stop)")
	flags.BoolVar(&o.yes, "yes", false, "say yes beforehand to every document that reaches its gate; never to failed work")
	flags.StringVar(&o.answers, "answers", "", `a JSON file of answers to questions, {"id": "text"}`)
	flags.StringArrayVar(&o.kept.Commands, "allow-command", nil, "a command that the worker may run while it builds and tests, such as \"go test\"")
	o.apart.addFlags(cmd, &o)
	OpenFlag(cmd, &o.kept.Open)
	ToolFlag(cmd, &o.kept.ToolServers)
	flags.BoolVar(&o.kept.Dirty, "allow-dirty", false, "work in a project with uncommitted changes, or outside of git")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show stages, workers, gates and ceiling; start nothing")
	flags.BoolVar(&prices, "prices", false, "show what models cost; start nothing")
	flags.StringVar(&o.events, "events", "", "write each event as a line of JSON to this file, or - for standard output")
	tasks.CompleteWorkflows(cmd)
	_ = cmd.RegisterFlagCompletionFunc("resume", tasks.CompleteTasks) // the error is for a missing flag
	return cmd
}

func isBool(word string) bool {
	_, err := strconv.ParseBool(word)
	return err == nil
}

// onlyRun is the value of --resume without a name. No run has such a name.
const onlyRun = "the only one"

// onlyTask returns the run of the project that is meant without a name.
func onlyTask(ctx context.Context, tasks *app.Tasks) (string, error) {
	folder, err := tasks.Project()
	if err != nil {
		return "", err
	}
	s, _, err := tasks.Engine().Session(ctx, project.Address{Cwd: folder})
	if err != nil {
		return "", err
	}
	return s.TaskName, nil
}

// startOrResume starts or resumes a run, and shows the progress.
func (o *options) startOrResume(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, program Program, objective string) (err error) {
	if o.apart.clean {
		if err := o.apart.checkClean(o, objective); err != nil {
			return err
		}
		return cleanWorktrees(ctx, term, tasks)
	}
	if err := o.checkFlags(term.JSON, tasks.Config.ToolServers, objective); err != nil {
		return err
	}
	if err := o.nameRun(ctx, tasks); err != nil {
		return err
	}
	if o.apart.queue {
		return o.enqueue(ctx, term, tasks, program, objective)
	}
	if err := o.leaveQueue(ctx, tasks, program); err != nil {
		return err
	}
	program.UseAudits()
	opts, err := o.runnerOptions(ctx, term, tasks)
	if err != nil {
		return err
	}
	if objective != "" {
		term.Speak(objective)
	} else if s, _, err := tasks.Engine().Session(ctx, project.Address{Cwd: opts.Folder, Session: o.resume}); err == nil {
		term.SpeakOf(s)
	}
	switch {
	case o.dryRun:
		return dryRun(ctx, term, opts, objective)
	case o.apart.eachSprint:
		return o.buildSprints(ctx, term, opts)
	}
	out, task, err := Show(term, opts, o.events, func(r *headless.Runner) (*headless.Result, error) {
		if o.resume != "" {
			return r.Resume(ctx, o.resume)
		}
		return r.Start(ctx, objective, o.name)
	})
	switch {
	case errors.Is(err, context.Canceled) && task != "":
		term.Warnf("interrupted; it goes on with: bmad-mcp run --resume %s", task)
		return terminal.ErrStopped
	case err != nil:
		return err
	}
	if o.apart.publish && out.Reason == headless.Done {
		publishRun(ctx, term, opts.Folder, out)
	}
	return exitFor(out.Reason)
}

// nameRun finds the name of the run to resume, if there is one.
func (o *options) nameRun(ctx context.Context, tasks *app.Tasks) (err error) {
	switch o.resume {
	case "":
	case onlyRun:
		o.resume, err = onlyTask(ctx, tasks)
	default:
		o.resume, err = tasks.Named(ctx, o.resume)
	}
	return err
}

// exitFor returns the end of the command for the end of a run.
func exitFor(why headless.Reason) error {
	switch why {
	case headless.Person:
		return terminal.ErrPending
	case headless.Spent:
		return terminal.ErrSpent
	case headless.Failed:
		return terminal.ErrEngine
	default:
		return nil
	}
}

// checkFlags refuses contradictory flags, and parses the others.
func (o *options) checkFlags(inJSON bool, servers []config.ToolServer, objective string) (err error) {
	switch {
	case o.resume == "" && objective == "" && !o.apart.eachSprint:
		return fault.New(fault.InvalidArgument, "run needs an objective, or --resume with a run").WithHint("say in one or two sentences what is to be built")
	case o.resume != "":
		if err := o.checkResume(objective); err != nil {
			return err
		}
	}
	switch {
	case o.yes && o.gates != "" && o.gates != string(headless.Yes):
		return fault.New(fault.InvalidArgument, "--yes and --gates %s contradict each other", o.gates).WithHint("leave one out")
	case o.gates != "" && !slices.Contains([]headless.Gates{headless.Ask, headless.Stop, headless.Yes}, headless.Gates(o.gates)):
		return fault.New(fault.InvalidArgument, "--gates %q is not one of ask, stop, yes", o.gates).WithHint("see bmad-mcp run --help")
	case o.events == "-" && inJSON:
		return fault.New(fault.InvalidArgument, "--events - and --json both want standard output").WithHint("write the events to a file")
	case o.kept.Minutes < 0:
		return fault.New(fault.InvalidArgument, "--max-minutes %d is not a time", o.kept.Minutes).WithHint("name whole minutes, 1 or more")
	}
	if err := o.apart.checkFlags(o, objective); err != nil {
		return err
	}
	if o.yes {
		o.gates = string(headless.Yes)
	}
	if err := CheckOpen(o.kept.Open); err != nil {
		return err
	}
	if _, err := toolServers(servers, o.kept.ToolServers); err != nil {
		return err
	}
	return o.readTexts()
}

// checkResume refuses flags that do not go with --resume.
func (o *options) checkResume(objective string) error {
	switch {
	case objective != "":
		return fault.New(fault.InvalidArgument, "a run that is resumed has its objective already").WithHint("leave out the words after the flags, or --resume")
	case o.kept.Workflow != "":
		return fault.New(fault.InvalidArgument, "a run that is resumed has its workflow already").WithHint("leave out --workflow")
	case o.dryRun:
		return fault.New(fault.InvalidArgument, "--dry-run is for a new run").WithHint("bmad-mcp task status %s says where the run is", o.resume)
	}
	return nil
}

// readTexts parses the flags given as texts.
func (o *options) readTexts() (err error) {
	if o.kept.NoBudget = o.budget == "none"; o.budget != "" && !o.kept.NoBudget {
		if o.kept.Budget, err = price.ParseMoney(o.budget); err != nil || o.kept.Budget == 0 {
			return fault.New(fault.InvalidArgument, "--budget %q is not an amount in US dollars", o.budget).WithHint("write it as 2 or 0.50; or none, to take a budget back")
		}
	}
	for _, pairs := range []struct {
		flag string
		from []string
		to   *map[workflow.StageID]string
	}{{"--engine-for", o.engineFor, &o.kept.EngineFor}, {"--model-for", o.modelFor, &o.kept.ModelFor}, {"--doc", o.docs, &o.kept.Docs}} {
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

// runnerOptions returns the options of a runner for the flags.
func (o *options) runnerOptions(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks) (headless.Options, error) {
	out := headless.Options{
		Engine: tasks.Engine(), Look: lookByGit, Log: tasks.Log, By: "bmad-mcp run",
		Gates: headless.Gates(o.gates), Flags: o.kept, Answers: map[string]string{},
		Rights: Rights,
	}
	var err error
	if out.Folder, err = tasks.Project(); err != nil {
		return out, err
	}
	out.Own = append(memory.OwnFolders(), eventsInside(out.Folder, o.events)...)
	if out.Prices, _, err = app.PriceTable(); err != nil {
		return out, err
	}
	out.Workers = runWorkers(term, tasks, out.Prices)
	if tasks.Unread != nil { // the unread part may have the limit of the costs
		return out, tasks.Unread
	}
	if o.answers != "" {
		if err := term.ReadAnswers(ctx, o.answers, out.Answers); err != nil {
			return out, err
		}
	}
	person, err := term.Person()
	switch {
	case err == nil:
		out.Person, out.Gates = person, cmp.Or(out.Gates, headless.Ask)
		if o.events == "-" {
			person.Out = term.Err
		}
	case out.Gates == headless.Ask && !o.dryRun:
		return out, err
	}
	return out, nil
}

// Rights returns this machine's records of the runs of a project.
func Rights(project string) sdk.Rights { return app.Trust().Rights("runs", project, headless.RunFile) }

// eventsInside returns the path of the file of events from the project's folder, none if the file lies outside.
func eventsInside(folder, events string) []string {
	at, err := filepath.Abs(events)
	if events == "" || events == "-" || err != nil {
		return nil
	}
	real := app.Rules().Real
	if rel, err := filepath.Rel(real(folder), real(at)); err == nil && filepath.IsLocal(rel) {
		return []string{filepath.ToSlash(rel)}
	}
	return nil
}

// OpenFlag adds the flag for files otherwise closed to agents.
func OpenFlag(cmd *cobra.Command, open *[]string) {
	cmd.Flags().StringArrayVar(open, "allow-path", nil, "a file that other programs obey and that may be written all the same, such as .github/workflows")
}

// CheckOpen returns an error for a name that opens nothing.
func CheckOpen(open []string) error {
	if _, unknown := obeyed.Closed(open...); len(unknown) > 0 {
		return fault.New(fault.InvalidArgument, "--allow-path %q opens nothing", unknown[0]).
			WithHint("name a file or folder as the refusal names it, such as .github/workflows or .npmrc; .git, HEAD and .bmad-task stay closed, and other files need no permission")
	}
	return nil
}

// runWorkers returns the engines on this machine, the likeliest first: programs bring a login, permissions
// and a sandbox.
func runWorkers(term *terminal.Terminal, tasks *app.Tasks, prices *price.Table) []headless.Worker {
	var out []headless.Worker
	if path, err := exec.LookPath("claude"); err == nil {
		out = append(out, &hostcli.Claude{Path: path})
	}
	if path, err := exec.LookPath("codex"); err == nil {
		out = append(out, &hostcli.Codex{Path: path})
	}
	set := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" })
	}
	if set("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN") {
		out = append(out, apiWorker(term, tasks, prices, "api", app.ProviderAnthropic))
	}
	if set("OPENAI_API_KEY", "OPENAI_BASE_URL") || tasks.Config.Model.BaseURL != "" {
		out = append(out, apiWorker(term, tasks, prices, "openai", app.ProviderOpenAI))
	}
	return out
}

// apiWorker returns the worker of an API. The model in the settings counts only if the settings are for this
// API.
func apiWorker(term *terminal.Terminal, tasks *app.Tasks, prices *price.Table, engine, name string) headless.Worker {
	silent := &silentServers{}
	tools := func(ctx context.Context, job hostcli.Job) ([]sdk.AnyTool, func(), error) {
		tools, end, err := connectTools(ctx, term, tasks.Config.ToolServers, job.ToolServers, silent)
		if job.Writes {
			tools = append(tools, programTools(tasks)...)
		}
		return tools, end, err
	}
	command := func(ctx context.Context, dir, line string, tail int) workflow.Evidence {
		return verify.Run(ctx, dir, line, tasks.Engine().Clock, verify.Limits{Tail: tail, Language: lang.English})
	}
	return &headless.API{Engine: engine, Prices: prices, Clock: tasks.Engine().Clock, Command: command, Tools: tools, Provider: func(model string) (provider.Provider, error) {
		m := app.Model{Model: tasks.Config.Model}
		if m.API() != name {
			m = app.Model{}
		}
		m.Provider, m.Name = name, cmp.Or(model, m.Name)
		return app.NewProvider(m, prices, term.Now())
	}}
}

// lookByGit describes a project's repository by git.
func lookByGit(ctx context.Context, folder string) (*headless.Tree, error) {
	tree, err := git.Look(ctx, folder)
	return (*headless.Tree)(tree), err
}
