package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Workflow returns the commands of workflows.
func Workflow(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "List, show and check workflows",
		Long: `A workflow is the list of stages that a run goes through. Four are built in; your
own are YAML files in the folder workflows beside your config.yaml, or in
.claude/bmad-workflows/ of a project. One that a project brings counts once you
have allowed it (bmad-mcp allow), because it could leave gates out.

(The workflows of an installed BMAD method are another thing: bmad-mcp method list workflows.)`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(workflowList(term, tasks), workflowShow(term, tasks), workflowCheck(term, tasks))
	return cmd
}

// workflowRow is a workflow in the JSON of workflow list.
type workflowRow struct {
	Name        string   `json:"name"`
	From        string   `json:"from"`
	Stages      []string `json:"stages,omitempty"`
	Description string   `json:"description,omitempty"`
	When        string   `json:"when,omitempty"`
	Path        string   `json:"path,omitempty"`
	Hash        string   `json:"hash,omitempty"`
	Default     bool     `json:"default,omitempty"`
	// Usable is true if a run can be started with the workflow; if not, Problem is the reason.
	Usable  bool   `json:"usable"`
	Problem string `json:"problem,omitempty"`
}

func rowOf(l lang.Language, w engine.Workflow) workflowRow {
	row := workflowRow{Name: w.Name, From: "built-in", Path: w.Path, Default: w.Default, Usable: w.Allowed}
	switch w.By {
	case workflow.SetByPerson:
		row.From = "yours"
	case workflow.SetByProject:
		row.From = "project"
	}
	if w.Definition == nil {
		row.Problem = lang.Of(w.Err()).In(l)
		return row
	}
	row.Stages, row.Description, row.When, row.Hash = w.Definition.IDs(), l.Word(w.Definition.Description), l.Word(w.Definition.When), w.Definition.Hash
	row.Problem = waitsFor(l, w)
	return row
}

// waitsFor names the act of the person that has to allow a workflow, "" if there is none.
func waitsFor(l lang.Language, w engine.Workflow) string {
	if w.Definition == nil || w.Allowed {
		return ""
	}
	return l.Say("you have not allowed it as it is: read it, then type bmad-mcp allow")
}

func workflowList(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return terminal.Subcommand("list", "List the workflows that a run can be started with", cobra.NoArgs, func(_ context.Context, _ []string) error {
		views, err := tasks.WorkflowViews()
		if err != nil {
			return err
		}
		rows, table := []workflowRow{}, [][]string{term.Header("NAME\tFROM\tSTAGES\tWHEN")}
		for _, w := range views {
			row := rowOf(term.Lang, w)
			rows = append(rows, row)
			name, when := row.Name, row.When
			if row.Default {
				name += term.Lang.Say(" (default)")
			}
			if row.Problem != "" {
				when = term.Lang.Say("cannot be used: %s", row.Problem)
			}
			table = append(table, []string{name, term.Lang.Word(row.From), drawPipeline(w.Definition), visible.Line(when)})
		}
		if term.JSON {
			return term.PrintJSON(rows)
		}
		return term.Columns(table[0], table[1:])
	})
}

// drawPipeline draws the stages of a definition in a line.
func drawPipeline(d *workflow.Definition) string {
	if d == nil {
		return ""
	}
	labels := make([]string, len(d.Stages))
	for i, st := range d.Stages {
		labels[i] = st.Label
	}
	return visible.Line(strings.Join(labels, " → "))
}

// showOptions are the flags of workflow show.
type showOptions struct{ graph, schema bool }

func workflowShow(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Print a workflow's YAML, to be read or copied",
		Long: `Prints the YAML of a workflow, without NAME that of runs that name none. With --graph it draws
the stages as mermaid, with --schema it prints the JSON Schema of a workflow file, for editors.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: tasks.CompleteWorkflow,
		RunE:              func(_ *cobra.Command, args []string) error { return o.show(term, tasks, args) },
	}
	cmd.Flags().BoolVar(&o.graph, "graph", false, "draw the stages, as mermaid")
	cmd.Flags().BoolVar(&o.schema, "schema", false, "print the JSON Schema of a workflow file")
	cmd.MarkFlagsMutuallyExclusive("graph", "schema")
	return cmd
}

func (o *showOptions) show(term *terminal.Terminal, tasks *app.Tasks, args []string) error {
	if o.schema {
		_, err := fmt.Fprint(term.Out, workflow.Schema())
		return err
	}
	w, err := workflowNamed(tasks, app.TaskName(args))
	if err == nil && (o.graph || term.JSON) {
		err = w.Err()
	}
	if err != nil {
		return err
	}
	text := w.Text
	switch {
	case o.graph:
		text = w.Definition.Graph()
	case term.JSON:
		return term.PrintJSON(w.Definition)
	case w.By == "":
		text = workflow.BuiltinText(w.Name)
	}
	_, err = fmt.Fprint(term.Out, text)
	return err
}

// workflowReport is the result of workflow check, as JSON.
type workflowReport struct {
	File     string             `json:"file"`
	OK       bool               `json:"ok"`
	Problems []workflow.Problem `json:"problems"`
	// Waits names the act of the person that a file without mistakes waits for.
	Waits string `json:"waits,omitempty"`
	// Notes are not mistakes: they name the replacement of a prompt or rubric that is missing.
	Notes []string `json:"notes,omitempty"`
}

func workflowCheck(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check workflow files, line by line",
		Long: `Check workflow files: unknown keys, stages that nothing leads to, a build without a
gate before it, a verdict that sends back to nothing, and the like. Without FILE:
those of the project and your own. Notes name prompts and rubrics that are not
there; the ones for the stage's kind serve in their place.

The exit code is 2 where a file has mistakes, else 0.`,
		RunE: func(cmd *cobra.Command, files []string) error {
			reports, err := checkWorkflows(cmd.Context(), term, tasks, files)
			if err != nil {
				return err
			}
			if term.JSON {
				err = term.PrintJSON(reports)
			} else {
				printChecks(term, reports)
			}
			bad := slices.DeleteFunc(slices.Clone(reports), func(r workflowReport) bool { return r.OK })
			if err == nil && len(bad) > 0 {
				return fault.New(fault.InvalidArgument, "%d of %d workflow files cannot be used", len(bad), len(reports)).
					WithHint("correct the lines named above; bmad-mcp workflow show bmad prints a file without mistakes")
			}
			return err
		},
	}
}

func checkWorkflows(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, files []string) ([]workflowReport, error) {
	reports := []workflowReport{}
	known, err := tasks.WorkflowViews()
	if len(files) == 0 {
		if err != nil {
			return nil, err
		}
		for _, w := range known {
			if w.By != "" {
				r := checkedWorkflow(term.Lang, tasks, w.Path, w.Definition, w.Problems)
				r.Waits = waitsFor(term.Lang, w)
				reports = append(reports, r)
			}
		}
		return reports, nil
	}
	for _, file := range files {
		data, err := term.ReadNamed(ctx, file, workflow.MaxDefinition+1)
		if err != nil {
			return nil, terminal.NoSuchFile(lang.T("file"), file, err)
		}
		d, problems := workflow.Read(strings.TrimSuffix(filepath.Base(file), ".yaml"), data)
		r := checkedWorkflow(term.Lang, tasks, file, d, problems)
		for _, w := range known { // none outside of a project
			if w.By == workflow.SetByProject && d != nil && w.Definition != nil && w.Definition.Hash == d.Hash {
				r.Waits = waitsFor(term.Lang, w)
			}
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// checkedWorkflow returns the report on a file, with the prompts and rubrics that its stages lack.
func checkedWorkflow(l lang.Language, tasks *app.Tasks, file string, d *workflow.Definition, problems []workflow.Problem) workflowReport {
	r := workflowReport{File: filepath.ToSlash(file), OK: d != nil, Problems: []workflow.Problem{}}
	for _, p := range problems {
		r.Problems = append(r.Problems, p.Translated(l))
	}
	if d == nil {
		return r
	}
	dir, err := tasks.Project()
	if err != nil {
		return r
	}
	p, err := tasks.Engine().Projects().At(project.Address{Cwd: dir})
	if err != nil {
		return r // the settings, which doctor checks
	}
	defer p.Close()
	for _, st := range d.Stages {
		switch {
		case st.Gate != workflow.GateVerdict:
		case st.Owed() == workflow.OwesCriteria:
			r.Notes = append(r.Notes, l.Say("stage %s: its report needs a row for each criterion of the requirements in scope (owes: criteria)", st.ID))
		default:
			r.Notes = append(r.Notes, l.Say("stage %s: its report needs its findings and the commands that were run (owes: findings)", st.ID))
		}
	}
	byPrompt, byRubric := p.Generic(d)
	for _, st := range byPrompt {
		r.Notes = append(r.Notes, l.Say("stage %s: there is no prompt %s.md; the one for every stage of kind %s serves", st.ID, st.PromptName(), st.Kind))
	}
	for _, st := range d.Stages {
		if st.Rubric != "" && !st.Audited() {
			r.Notes = append(r.Notes, l.Say("stage %s: the rubric %s is not used; the report of a verdict is judged by its rows", st.ID, st.Rubric))
		}
	}
	for _, st := range byRubric {
		r.Notes = append(r.Notes, l.Say("stage %s: there is no rubric %s.yaml; the one for every stage of kind %s serves", st.ID, st.RubricName(), st.Kind))
	}
	return r
}

func printChecks(term *terminal.Terminal, reports []workflowReport) {
	if len(reports) == 0 {
		term.Say("There is no workflow of your own here, and none of the project.")
	}
	for _, r := range reports {
		switch {
		case r.Waits != "":
			term.Say("%s: no mistakes, but it cannot be used: %s", r.File, r.Waits)
		case r.OK:
			term.Say("%s: can be used", r.File)
		}
		for _, p := range r.Problems {
			term.Printf("%s:%d: %s\n", r.File, p.Line, p.Text)
		}
		for _, note := range r.Notes {
			term.Say("%s: note: %s", r.File, note)
		}
	}
}

// workflowNamed returns the workflow of a name, the default one for "".
func workflowNamed(tasks *app.Tasks, name string) (config.Workflow, error) {
	views, err := tasks.WorkflowViews()
	if err != nil {
		return config.Workflow{}, err
	}
	var names []string
	for _, w := range views {
		if w.Name == name || name == "" && w.Default {
			return w.Workflow, nil
		}
		names = append(names, w.Name)
	}
	return config.Workflow{}, fault.New(fault.NotFound, "there is no workflow %q", name).
		WithHint("the workflows here are: %s", strings.Join(names, ", ")).Suggest(name, names)
}
