package look

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
)

// readCode returns the code changed since the work of a run began. It is empty if nothing is known of it, or the
// repository cannot be read.
func readCode(cmd *cobra.Command, tasks *app.Tasks, args []string) (codediff.Changes, error) {
	at, err := tasks.Address(args)
	if err != nil {
		return codediff.Changes{}, err
	}
	code, err := tasks.Engine().Code(cmd.Context(), at)
	if fault.Is(err, fault.NotAllowed) {
		return codediff.Changes{}, nil
	}
	if err != nil || code == nil || code.IsHead { // other work may not be committed either
		return codediff.Changes{}, err
	}
	return code.Changes, nil
}
