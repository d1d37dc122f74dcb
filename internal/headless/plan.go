package headless

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Plan describes a run before it begins.
type Plan struct {
	Workflow string      `json:"workflow"`
	Gates    Gates       `json:"gates"`
	Stages   []PlanStage `json:"stages"`
	Budget   price.Money `json:"budget_nano_usd,omitempty"`
	Minutes  int         `json:"max_minutes,omitempty"`
	Commands []string    `json:"allow_commands,omitempty"`
	Open     []string    `json:"allow_paths,omitempty"`
	// Refused is the reason why a run would not begin now, empty if it would.
	Refused string `json:"refused,omitempty"`

	refused error
}

// PlanStage is a stage of a plan.
type PlanStage struct {
	Stage workflow.StageID `json:"stage"`
	// Engine is empty for a stage outside of the run; Document is then the person's.
	Engine   string            `json:"engine,omitempty"`
	Why      string            `json:"why,omitempty"`
	Model    string            `json:"model,omitempty"`
	Gate     workflow.GateKind `json:"gate"`
	Policy   workflow.GateMode `json:"policy"`
	Score    *float64          `json:"gate_score,omitempty"`
	Scoring  string            `json:"scoring,omitempty"`
	Document string            `json:"document,omitempty"`
	// Writes is true if the engine may change the project: to build it, or to run the tests.
	Writes bool `json:"writes,omitempty"`
}

// Plan returns the plan of a run for an objective. It leaves nothing behind.
func (r *Runner) Plan(ctx context.Context, objective string) (*Plan, error) {
	p, err := r.Engine.Projects().At(project.Address{Cwd: r.Folder})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	w, err := p.Config.Find(cmp.Or(r.Flags.Workflow, p.Config.Workflow))
	if err != nil {
		return nil, err
	}
	l := p.Language(objective)
	plan, err := r.planFor(p.Config.Under(w.Definition), objective, l, 0)
	if err == nil {
		err = r.checkGiven(ctx, p, plan.Stages, nil)
	}
	if err != nil {
		return nil, err
	}
	if r.Flags.Worktree {
		if err := checkWorktree(ctx, p); err != nil {
			return nil, err
		}
	}
	if !r.Flags.Dirty && !r.Flags.Worktree && slices.ContainsFunc(plan.Stages, func(s PlanStage) bool { return s.Writes }) {
		tree, err := r.lookAtTree(ctx, p.Dir.Path())
		if plan.refused = cmp.Or(err, r.admitTree(tree, p.Dir.Path())); plan.refused != nil {
			plan.Refused = lang.Of(plan.refused).In(l)
		}
	}
	return plan, ctx.Err()
}

// CheckFlags refuses flags that no run of a workflow could have, whatever engines a machine has. A run that is begun has the
// documents before its stages already.
func CheckFlags(d *workflow.Definition, f Flags, g Gates, isBegun bool) error {
	from, to, err := parseSpan(d, f.Stages)
	if err != nil {
		return err
	}
	for _, name := range append(slices.Collect(maps.Values(f.EngineFor)), cmp.Or(f.Engine, Auto)) {
		if !slices.Contains(engineNames(), name) {
			return fault.New(fault.InvalidArgument, "no worker is called %q", name).WithHint("use one of: %s", strings.Join(engineNames(), ", "))
		}
	}
	for _, named := range []byStage{f.EngineFor, f.ModelFor, f.Docs} {
		for id := range named {
			if d.Index(id) < 0 {
				return unknownStage(d, string(id))
			}
		}
	}
	for i, st := range d.Stages[:to+1] {
		switch {
		case g == Yes && st.Policy().Gate == workflow.GateStrict && d.Gated(st):
			return strictGate(st)
		case i < from && f.Docs[st.ID] == "" && f.From == "" && !isBegun:
			return missingDocument(d.Stages[from], st)
		}
	}
	return nil
}

// engineNames returns the names that --engine takes.
func engineNames() []string {
	names := []string{Auto}
	for _, e := range engines {
		names = append(names, e.name)
	}
	return names
}

// strictGate refuses a yes beforehand at a strict gate.
func strictGate(st workflow.Stage) error {
	return fault.New(fault.NotAllowed, "the gate of stage %q is strict: only a person's own act opens it, and --yes is not", st.ID).
		WithHint("run it at a terminal, where you are asked; or with --gates stop, and decide with bmad-mcp decide")
}

// missingDocument refuses a run that begins at a stage, if one before it has no document.
func missingDocument(first, st workflow.Stage) error {
	return fault.New(fault.InvalidArgument, "the run begins at %q, and %q before it has no document", first.ID, st.ID).
		WithHint("name one with --doc %s=PATH, or a run that has them with --from RUN", st.ID)
}

// planFor makes the plan of a workflow, under the settings in force, for a session with some stages behind it.
func (o *Options) planFor(d *workflow.Definition, objective string, l lang.Language, passed int) (*Plan, error) {
	f := o.Flags
	from, to, err := parseSpan(d, f.Stages)
	if err != nil {
		return nil, err
	}
	for _, named := range []byStage{f.EngineFor, f.ModelFor, f.Docs} {
		for id := range named {
			if d.Index(id) < 0 {
				return nil, unknownStage(d, string(id))
			}
		}
	}
	plan := &Plan{
		Workflow: d.Name, Gates: o.Gates, Budget: f.Budget, Minutes: f.Minutes, Commands: f.Commands, Open: f.Open,
	}
	builder := byStage{}
	for i, st := range d.Stages[:to+1] {
		policy := st.Policy()
		s := PlanStage{
			Stage: st.ID, Gate: st.Gate, Policy: policy.Gate, Score: policy.GateScore, Scoring: string(policy.Scoring),
		}
		if o.Gates == Yes && policy.Gate == workflow.GateStrict && d.Gated(st) {
			return nil, strictGate(st)
		}
		if i < from {
			if s.Document = f.Docs[st.ID]; s.Document == "" && f.From == "" && i >= passed {
				return nil, missingDocument(d.Stages[from], st)
			}
			plan.Stages = append(plan.Stages, s)
			continue
		}
		name, why, err := chooseEngine(st, objective, f, o.workerNames(), builder[st.SendsBackTo])
		if err != nil {
			return nil, err
		}
		builder[st.ID] = name
		s.Engine, s.Why, s.Model = name, why.In(l), cmp.Or(f.ModelFor[st.ID], f.Model)
		s.Writes = st.Kind == workflow.KindBuild || st.Kind == workflow.KindVerdict && st.Verify
		job := hostcli.Job{Model: s.Model, Allow: f.Commands, ToolServers: f.ToolServers}
		if i >= passed {
			err = o.admitModel(name, st.ID, job)
		}
		if err := cmp.Or(err, o.admitJob(name, job)); err != nil {
			return nil, err
		}
		plan.Stages = append(plan.Stages, s)
	}
	return plan, nil
}

// admitModel refuses the model of a job if it has no price, and there is a budget.
func (o *Options) admitModel(engine string, stage workflow.StageID, job hostcli.Job) error {
	model := job.Model
	if w, ok := o.workerOf(engine).(interface{ ModelOf(hostcli.Job) string }); ok && o.Flags.Budget > 0 {
		model = w.ModelOf(job)
	}
	if model == "" {
		return nil
	}
	if err := price.NewBudget(o.Prices, o.Flags.Budget).Admit(model, o.Engine.Clock()); err != nil {
		return fault.New(fault.InvalidArgument, "%s would use a model for %s that cannot be used: %w", engine, stage, err).
			WithHint("name one of bmad-mcp run --prices with --model, add its price to your prices.json, or pass --budget none")
	}
	return nil
}

// admitJob refuses a job that the engine would refuse.
func (o *Options) admitJob(engine string, job hostcli.Job) error {
	worker := o.workerOf(engine)
	if _, calls := worker.(*API); !calls && len(job.ToolServers) > 0 {
		return fault.New(fault.InvalidArgument, "%s has tool servers of its own, so that --tool-server does not count for it", engine).
			WithHint("choose --engine api or openai, or name the server in the settings of %s", engine)
	}
	w, ok := worker.(interface{ Check(hostcli.Job) error })
	if !ok {
		return nil
	}
	err := w.Check(job)
	if failure, ok := errors.AsType[*hostcli.Failure](err); ok {
		return fault.New(fault.InvalidArgument, "%s", failure.Why).WithHint("see bmad-mcp run --help")
	}
	return err
}

// checkGiven refuses unreadable documents of the person, except submitted ones.
func (o *Options) checkGiven(
	ctx context.Context, p *project.Project, stages []PlanStage, given map[workflow.StageID]bool,
) error {
	for _, s := range stages {
		if s.Engine != "" || given[s.Stage] {
			continue
		}
		if _, err := o.givenText(ctx, p, s.Stage); err != nil {
			return err
		}
	}
	return nil
}

// stageOf returns a stage of the plan; ok is false if the run does not come to it.
func (p *Plan) stageOf(id workflow.StageID) (PlanStage, bool) {
	i := slices.IndexFunc(p.Stages, func(s PlanStage) bool { return s.Stage == id })
	if i < 0 {
		return PlanStage{}, false
	}
	return p.Stages[i], true
}

// parseSpan reads a list or range of stages; empty takes all. The numbers count from 0.
func parseSpan(d *workflow.Definition, text string) (from, to int, err error) {
	first, last, isRange := strings.Cut(cmp.Or(text, ".."), "..")
	names := strings.Split(text, ",")
	if isRange {
		names = []string{cmp.Or(first, d.IDs()[0]), cmp.Or(last, d.IDs()[len(d.Stages)-1])}
	}
	var at []int
	for _, name := range names {
		i := d.Index(workflow.StageID(strings.TrimSpace(name)))
		if i < 0 {
			return 0, 0, unknownStage(d, name)
		}
		at = append(at, i)
	}
	from, to = slices.Min(at), slices.Max(at)
	inRow := at[0] == from
	if !isRange {
		slices.Sort(at)
		inRow = len(slices.Compact(at)) == to-from+1
	}
	if !inRow {
		return 0, 0, fault.New(fault.InvalidArgument, "--stages %s names no stages in a row", text).
			WithHint("the stages of %s, in order: %s", d.Name, strings.Join(d.IDs(), ", "))
	}
	return from, to, nil
}

func unknownStage(d *workflow.Definition, name string) error {
	return fault.New(fault.InvalidArgument, "the workflow %s has no stage %q", d.Name, name).
		WithHint("use one of: %s", strings.Join(d.IDs(), ", ")).Suggest(name, d.IDs())
}

// Auto lets the run choose the engine of each stage.
const Auto = "auto"

// chooseEngine returns the engine for a stage, and the reason. available is ordered, the likeliest first;
// builder is the engine whose work st judges, "" if there is none or it is not known.
func chooseEngine(
	st workflow.Stage, objective string, f Flags, available []string, builder string,
) (engine string, why lang.Text, err error) {
	if name := cmp.Or(f.EngineFor[st.ID], f.Engine, Auto); name != Auto {
		if !slices.Contains(available, name) {
			return "", why, notHere(name, available)
		}
		if f.EngineFor[st.ID] != "" {
			return name, lang.T("--engine-for asks for it"), nil
		}
		return name, lang.T("--engine asks for it"), nil
	}
	if len(available) == 0 {
		return "", why, fault.New(fault.InvalidArgument, "there is no worker: neither claude nor codex is on the PATH, and no API key is set").
			WithHint("install Claude Code (https://claude.com/claude-code) and log in; or install Codex and log in; or set ANTHROPIC_API_KEY, or OPENAI_API_KEY, for --engine api or openai")
	}
	var named []string
	for _, e := range st.EnginesFor(objective) {
		named = append(named, string(e))
	}
	missing := func(name string) bool { return !slices.Contains(available, name) }
	here := slices.DeleteFunc(slices.Concat(named, available), missing)
	if i := slices.IndexFunc(here, func(name string) bool { return name != builder }); builder != "" && i >= 0 {
		return here[i], lang.T("the work that it judges is by %s", builder), nil
	}
	if slices.Contains(named, here[0]) {
		return here[0], lang.T("the workflow names it for this stage"), nil
	}
	return here[0], lang.T("the workflow names %s, which is not here", strings.Join(named, ", ")), nil
}

// engines lists the possible engines of a run, and how to get each.
var engines = []struct {
	name string
	get  lang.Text
}{
	{"claude", lang.T("install Claude Code")}, {"codex", lang.T("install Codex")}, {"api", lang.T("set ANTHROPIC_API_KEY")},
	{"openai", lang.T("set OPENAI_API_KEY, or name a server of your own with the setting base_url")},
}

// notHere returns the refusal of a missing engine.
func notHere(name string, available []string) error {
	names, list := append([]string{Auto}, available...), []lang.Text{}
	for _, known := range names {
		list = append(list, lang.T("%s", known))
	}
	why := lang.T("there is none of this name")
	for _, e := range engines {
		if slices.Contains(available, e.name) {
			continue
		}
		names, list = append(names, e.name), append(list, lang.T("%s (not here: %s)", e.name, e.get))
		if e.name == name {
			why = lang.T("it is not here")
		}
	}
	err := fault.New(fault.InvalidArgument, "the worker %q cannot be used: %s", name, why).WithHint("the workers are: %s", lang.Join(list, ", "))
	if slices.Contains(names, name) {
		return err
	}
	return err.Suggest(name, names)
}

// workerNames lists the workers.
func (o *Options) workerNames() []string {
	var out []string
	for _, w := range o.Workers {
		out = append(out, w.Name())
	}
	return out
}

// workerOf returns the worker of a name, nil if it is not here.
func (o *Options) workerOf(name string) Worker {
	i := slices.Index(o.workerNames(), name)
	if i < 0 {
		return nil
	}
	return o.Workers[i]
}

// admitTree refuses a project whose state before the work could not be told from the work.
func (o *Options) admitTree(tree *Tree, folder string) error {
	switch {
	case o.Flags.Dirty:
	case tree == nil:
		return fault.New(fault.NotAllowed, "%s is not in a git repository, so that nothing could show or undo what the worker changes", folder).
			WithHint("git init and commit the files; or pass --allow-dirty")
	case len(tree.Changed) > 0:
		return fault.New(fault.NotAllowed, "the project has changes that are not committed, such as %s; they could not be told from the worker's", fileOf(tree.Changed[0])).
			WithHint("commit or stash them; or pass --allow-dirty")
	}
	return nil
}

// lookAtTree returns the repository without the files of this program, nil if there is none.
func (o *Options) lookAtTree(ctx context.Context, folder string) (*Tree, error) {
	if o.Look == nil {
		return nil, nil
	}
	tree, err := o.Look(ctx, folder)
	if o.Flags.Dirty && fault.Is(err, fault.NotAllowed) {
		return nil, nil // the person has said to do without it
	}
	if err != nil || tree == nil {
		return nil, err
	}
	tree.Changed = ChangedByOthers(tree, o.Own)
	return tree, nil
}

// ChangedByOthers returns the lines about changed files of a tree, without the files that this program writes by itself; own
// names such files and folders besides the ones of each project.
func ChangedByOthers(tree *Tree, own []string) []string {
	o := Options{Own: own}
	return slices.DeleteFunc(slices.Clone(tree.Changed), func(line string) bool { return o.isOwn(fileOf(line)) })
}

// isOwn reports whether this program writes a file of the project by itself.
func (o *Options) isOwn(name string) bool {
	return containsPath(slices.Concat(o.Own, []string{".bmad-task/", ".claude/specs/"}), name)
}

// containsPath reports whether paths have a name, or a folder of it, which has a slash at its end.
func containsPath(paths []string, name string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		isBelow := strings.HasSuffix(path, "/") && strings.HasPrefix(name, path)
		return isBelow || name == path
	})
}

// checkWorktree refuses a project in which no worktree for a run can be made.
func checkWorktree(ctx context.Context, p *project.Project) error {
	folder := p.Dir.Path()
	head, err := git.Head(folder)
	switch {
	case err != nil:
		return err
	case head == "":
		return fault.New(fault.NotAllowed, "%s has no commit of git, from which a worktree could be made", folder).
			WithHint("git init, and commit the files")
	case git.MainTree(folder) != "":
		refusal := fault.New(fault.NotAllowed, "%s is a linked worktree itself", folder)
		if main := git.WorktreeOf(folder); main != "" {
			return refusal.WithHint("start the run in the main tree, %s; or leave out --worktree", main)
		}
		return refusal.WithHint("leave out --worktree, or start the run in a clone of %s", git.MainTree(folder))
	}
	if err := git.CheckWorktree(ctx, folder, workflow.BranchFor("TASK"), head); err != nil {
		return err
	}
	_, top := p.Worktree("any")
	all := filepath.Dir(top)
	info, err := os.Lstat(all)
	if err == nil && !info.IsDir() {
		return fault.New(fault.NotAllowed, "%s, where the worktrees of runs are, is a link or a file", all).
			WithHint("look where it leads, and move it away")
	}
	above, name := all, "run-"
	if errors.Is(err, fs.ErrNotExist) {
		above, name = filepath.Split(all)
	}
	probe, err := os.MkdirTemp(above, name) // rights alone do not tell: the disk can be read-only
	if err == nil {
		err = os.Remove(probe)
	}
	if err != nil {
		return fault.New(fault.NotAllowed, "no folder can be made in %s, where the worktrees of runs are: %w", filepath.Clean(above), err).
			WithHint("give your account the right to write there, or move the repository below a folder of yours; or leave out --worktree")
	}
	return nil
}
