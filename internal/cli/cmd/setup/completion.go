package setup

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// Completion returns the command that prints the script by which a shell completes commands.
func Completion(term *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script by which your shell completes commands",
		Long: `Prints the script by which your shell completes commands, names of runs and flags. Have your
shell read it when it starts.`,
		Example: `  source <(bmad-mcp completion bash)
  bmad-mcp completion zsh > "${fpath[1]}/_bmad-mcp"
  bmad-mcp completion fish | source
  bmad-mcp completion powershell | Out-String | Invoke-Expression`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(term.Raw, true)
			case "zsh":
				return root.GenZshCompletion(term.Raw)
			case "fish":
				return root.GenFishCompletion(term.Raw, true)
			}
			return root.GenPowerShellCompletionWithDesc(term.Raw)
		},
	}
}
