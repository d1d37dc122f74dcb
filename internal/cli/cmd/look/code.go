package look

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
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

// readChanges returns the sentences about documents and code that have changed since they were approved, and the same in
// JSON.
func readChanges(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, args []string, s *workflow.Session, isReport bool) ([]string, []engine.SinceView, error) {
	at, err := tasks.Address(args)
	if err != nil {
		return nil, nil, err
	}
	return tasks.Engine().ReadChanges(cmd.Context(), at, term.Lang, s.Definition(), isReport)
}
