package app

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// CompleteTasks completes the task names of the project in a shell.
func (a *App) CompleteTasks(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || a.SetUp() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := a.Project()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known, others, err := a.Engine().Known(cmd.Context(), project.Address{Cwd: dir})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known = slices.Clone(known)
	store.SortByAge(known)
	var names []cobra.Completion
	for _, s := range known {
		names = append(names, cobra.CompletionWithDesc(s.TaskName, string(s.CurrentStage)+", "+string(s.CurrentState)))
	}
	return append(names, others...), cobra.ShellCompDirectiveNoFileComp
}

// CompleteStages completes the values of --stage, a stage of any workflow that the project can use.
func (a *App) CompleteStages(cmd *cobra.Command) {
	// The error is for a missing flag.
	_ = cmd.RegisterFlagCompletionFunc("stage", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.StageIDs(), cobra.ShellCompDirectiveNoFileComp
	})
}

// CompleteWorkflow completes the name of a workflow.
func (a *App) CompleteWorkflow(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, w := range a.Workflows() {
		names = append(names, w.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteWorkflows completes the values of --workflow.
func (a *App) CompleteWorkflows(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("workflow", a.CompleteWorkflow) // the error is for a missing flag
}

// WorkflowViews lists the workflows of the project with their origin.
func (a *App) WorkflowViews() ([]engine.Workflow, error) {
	at, err := a.Address(nil)
	if err != nil {
		return nil, err
	}
	return a.Engine().Workflows(at)
}

// StageIDs lists the stages of the workflows that the project can use.
func (a *App) StageIDs() []string {
	var definitions []*workflow.Definition
	for _, w := range a.Workflows() {
		definitions = append(definitions, w.Definition)
	}
	return workflow.IDsOf(workflow.StagesOf(definitions...))
}

// Workflows returns the usable workflows of the project, else the built-in ones.
func (a *App) Workflows() []config.Workflow {
	views, err := a.WorkflowViews()
	if err != nil {
		return config.Default("").Workflows
	}
	var out []config.Workflow
	for _, w := range views {
		if w.Definition != nil {
			out = append(out, w.Workflow)
		}
	}
	return out
}
