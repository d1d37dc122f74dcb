package run

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/obeyed"
)

// OpenFlag is the flag for files that are closed to agents.
func OpenFlag(cmd *cobra.Command, open *[]string) {
	cmd.Flags().StringArrayVar(open, "allow-path", nil, "a file that other programs obey and that may be written all the same, such as .github/workflows")
}

// CheckOpen refuses names that open nothing.
func CheckOpen(open []string) error {
	if _, unknown := obeyed.Closed(open...); len(unknown) > 0 {
		return fault.New(fault.InvalidArgument, "--allow-path %q opens nothing", unknown[0]).
			WithHint("name a file or folder as the refusal names it, such as .github/workflows or .npmrc; .git, HEAD and .bmad-task stay closed, and other files need no permission")
	}
	return nil
}
