package runner

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
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

	definition *workflow.Definition
	refused    error
}

// PlanStage is a stage of a plan.
type PlanStage struct {
	Stage workflow.StageID `json:"stage"`
	// Engine is empty for a stage that the run does not work on; Document is then the person's.
	Engine   string            `json:"engine,omitempty"`
	Why      string            `json:"why,omitempty"`
	Model    string            `json:"model,omitempty"`
	Gate     workflow.GateKind `json:"gate"`
	Policy   workflow.GateMode `json:"policy"`
	Score    *float64          `json:"gate_score,omitempty"`
	Scoring  string            `json:"scoring,omitempty"`
	Document string            `json:"document,omitempty"`
	// Writes is true if the engine may change the project.
	Writes bool `json:"writes,omitempty"`

	why lang.Text
}

// Plan returns the plan of a run for an objective. It changes nothing.
func (r *Runner) Plan(ctx context.Context, objective string) (*Plan, error) {
	p, err := r.o.Engine.Projects().At(project.Address{Cwd: r.o.Folder})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	name := cmp.Or(r.o.Flags.Workflow, p.Config.Workflow)
	w, err := p.Config.Find(name)
	if err != nil {
		return nil, err
	}
	if w.Definition == nil {
		return nil, fault.New(fault.InvalidArgument, "the workflow %q cannot be used", name).WithHint("see bmad-mcp workflow check")
	}
	plan, err := planOf(p.Config.Under(w.Definition), objective, r.o, r.o.Engine.Clock(), 0)
	if err != nil {
		return nil, err
	}
	for i := range plan.Stages {
		plan.Stages[i].Why = plan.Stages[i].why.In(p.Language(objective))
	}
	if plan.refused = r.o.admitTree(ctx, p.Dir.Path(), plan); plan.refused != nil {
		plan.Refused = lang.Of(plan.refused).In(p.Language(objective))
	}
	return plan, ctx.Err()
}

// planOf makes the plan of a workflow, under the settings in force, for a session that has passed
// some stages.
func planOf(d *workflow.Definition, objective string, o Options, now time.Time, passed int) (*Plan, error) {
	f := o.Flags
	from, to, err := span(d, f.Stages)
	if err != nil {
		return nil, err
	}
	for _, named := range []map[workflow.StageID]string{f.EngineFor, f.ModelFor, f.Docs} {
		for id := range named {
			if d.Index(id) < 0 {
				return nil, unknownStage(d, string(id))
			}
		}
	}
	plan := &Plan{Workflow: d.Name, Gates: o.Gates, Budget: f.Budget, Minutes: f.Minutes, Commands: f.Commands, Open: f.Open, definition: d}
	builder := map[workflow.StageID]string{}
	for i, st := range d.Stages {
		policy := st.Policy()
		s := PlanStage{Stage: st.ID, Gate: st.Gate, Policy: policy.Gate, Score: policy.GateScore, Scoring: string(policy.Scoring), Document: f.Docs[st.ID]}
		if i > to {
			break
		}
		if o.Gates == Yes && policy.Gate == workflow.GateStrict && d.Gated(st) {
			return nil, fault.New(fault.NotAllowed, "the gate of stage %q is strict: only a person's own act opens it, and --yes is not", st.ID).
				WithHint("run it at a terminal, where you are asked; or with --gates stop, and decide with bmad-mcp confirm or approve")
		}
		if i < from {
			if s.Document == "" && f.From == "" && i >= passed {
				return nil, fault.New(fault.InvalidArgument, "the run begins at %q, and %q before it has no document", d.Stages[from].ID, st.ID).
					WithHint("name one with --doc %s=PATH, or a task that has them with --from TASK", st.ID)
			}
			plan.Stages = append(plan.Stages, s)
			continue
		}
		s.Document = ""
		c, err := choose(st, objective, f, o.names(), builder[st.SendsBackTo])
		if err != nil {
			return nil, err
		}
		s.Engine, s.why, s.Model, s.Writes = c.Engine, c.Why, f.model(st.ID), writes(st)
		builder[st.ID] = s.Engine
		if s.Model != "" {
			if err := price.NewBudget(o.Prices, f.Budget).Admit(s.Model, now); err != nil {
				return nil, fault.New(fault.InvalidArgument, "%w", err).
					WithHint("take a model of bmad-mcp prices, add its price to your prices.json, or leave the budget out")
			}
		}
		plan.Stages = append(plan.Stages, s)
	}
	return plan, nil
}

// model returns the model that the person wants for a stage; "" leaves the choice to the engine.
func (f Flags) model(id workflow.StageID) string { return cmp.Or(f.ModelFor[id], f.Model) }

// stage returns a stage of the plan; ok is false if the run does not come to it.
func (p *Plan) stage(id workflow.StageID) (PlanStage, bool) {
	i := slices.IndexFunc(p.Stages, func(s PlanStage) bool { return s.Stage == id })
	if i < 0 {
		return PlanStage{}, false
	}
	return p.Stages[i], true
}

// writes reports whether the engine of a stage may change the project: to build it, or to run its
// tests.
func writes(st workflow.Stage) bool {
	return st.Kind == workflow.KindBuild || st.Kind == workflow.KindVerdict && st.Verify
}

// span reads a list or range of stages; empty takes all. The numbers count from 0.
func span(d *workflow.Definition, text string) (from, to int, err error) {
	if text == "" {
		return 0, len(d.Stages) - 1, nil
	}
	first, last, isRange := strings.Cut(text, "..")
	names := strings.Split(text, ",")
	if isRange {
		if first == "" {
			first = string(d.First().ID)
		}
		if last == "" {
			last = string(d.Stages[len(d.Stages)-1].ID)
		}
		names = []string{first, last}
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
	slices.Sort(at)
	inRow := len(slices.Compact(at)) == to-from+1
	if isRange {
		inRow = at[0] == d.Index(workflow.StageID(names[0]))
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

// admitTree refuses a project whose state before the work could not be told from the work.
func (o *Options) admitTree(ctx context.Context, folder string, plan *Plan) error {
	builds := slices.ContainsFunc(plan.Stages, func(s PlanStage) bool { return s.Engine != "" && s.Writes })
	if !builds || o.Flags.Dirty {
		return nil
	}
	tree, err := o.look(ctx, folder)
	switch {
	case err != nil:
		return err
	case tree == nil:
		return fault.New(fault.NotAllowed, "%s is not in a git repository, so that nothing could show or undo what the engine changes", folder).
			WithHint("git init and commit the files; or pass --allow-dirty")
	case len(tree.Changed) > 0:
		return fault.New(fault.NotAllowed, "the project has changes that are not committed, such as %s; they could not be told from the engine's", fileOf(tree.Changed[0])).
			WithHint("commit or stash them; or pass --allow-dirty")
	}
	return nil
}

// look returns the repository without the files that runs write themselves, nil if there is none.
func (o *Options) look(ctx context.Context, folder string) (*Tree, error) {
	if o.Repository == nil {
		return nil, nil
	}
	tree, err := o.Repository.Look(ctx, folder)
	if err != nil || tree == nil {
		return nil, err
	}
	tree.Changed = slices.DeleteFunc(slices.Clone(tree.Changed), func(line string) bool {
		name := fileOf(line)
		return strings.HasPrefix(name, ".bmad-task/") || strings.HasPrefix(name, ".claude/specs/")
	})
	return tree, nil
}
