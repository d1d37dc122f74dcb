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
func (t *Tasks) CompleteTasks(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || t.setUp() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := t.Project()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known, others, err := t.Engine().Known(cmd.Context(), project.Address{Cwd: dir})
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

// CompleteStages completes the values of --stage, a stage of any workflow usable in the project.
func (t *Tasks) CompleteStages(cmd *cobra.Command) {
	// The error is for a missing flag.
	_ = cmd.RegisterFlagCompletionFunc("stage", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return t.StageIDs(), cobra.ShellCompDirectiveNoFileComp
	})
}

// CompleteWorkflow completes the name of a workflow.
func (t *Tasks) CompleteWorkflow(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, w := range t.Workflows() {
		names = append(names, w.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteWorkflows completes the values of --workflow.
func (t *Tasks) CompleteWorkflows(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("workflow", t.CompleteWorkflow) // the error is for a missing flag
}

// WorkflowViews returns the workflows of the project with their origins.
func (t *Tasks) WorkflowViews() ([]engine.Workflow, error) {
	at, err := t.Address(nil)
	if err != nil {
		return nil, err
	}
	return t.Engine().Workflows(at)
}

// StageIDs returns the stages of the usable workflows of the project.
func (t *Tasks) StageIDs() []string {
	var definitions []*workflow.Definition
	for _, w := range t.Workflows() {
		definitions = append(definitions, w.Definition)
	}
	return workflow.IDsOf(workflow.StagesOf(definitions...))
}

// Workflows returns the usable workflows of the project, or else the built-in ones.
func (t *Tasks) Workflows() []config.Workflow {
	views, err := t.WorkflowViews()
	if err != nil {
		c := config.Default()
		return c.Workflows()
	}
	var out []config.Workflow
	for _, w := range views {
		if w.Definition != nil {
			out = append(out, w.Workflow)
		}
	}
	return out
}
