package remember

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// memoryFlags choose notes, or describe a new one.
type memoryFlags struct{ kind, agent string }

func (f memoryFlags) filter() memory.Filter {
	return memory.Filter{Type: notes.Type(f.kind), Agent: f.agent}
}

// onBook runs a subcommand with the notes of the project.
func onBook(a *app.App, do func(ctx context.Context, b *memory.Book, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.WithBook(func(b *memory.Book) error { return do(cmd.Context(), b, args) })
	}
}

// sayProblems names lines and files that cannot be used.
func sayProblems(a *app.App, problems []notes.Problem) {
	for _, p := range problems {
		fmt.Fprintln(a.Err, a.Lang.Say("cannot be used: %s", p.In(a.Lang)))
	}
}
