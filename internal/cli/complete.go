package cli

import (
	"github.com/spf13/cobra"
)

// completeStage completes the name of a stage, of any workflow that the project can use.
func (a *app) completeStage(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return stageIDs(a), cobra.ShellCompDirectiveNoFileComp
}

// completeStages completes the values of --stage.
func (a *app) completeStages(cmd *cobra.Command) {
	// The error is for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("stage", a.completeStage)
}
