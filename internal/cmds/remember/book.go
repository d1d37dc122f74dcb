package remember

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// options are the flags of all commands of the memory, which choose notes or describe a new one.
type options struct {
	*app.App
	kind, agent string
}

func (o *options) filter() memory.Filter {
	return memory.Filter{Type: notes.Type(o.kind), Agent: o.agent}
}

// onBook runs a subcommand with the notes of the project.
func (o *options) onBook(do func(ctx context.Context, b *memory.Book, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return o.WithBook(func(b *memory.Book) error { return do(cmd.Context(), b, args) })
	}
}

// sayProblems names lines and files that cannot be used.
func (o *options) sayProblems(problems []notes.Problem) {
	for _, p := range problems {
		fmt.Fprintln(o.Err, o.Lang.Say("cannot be used: %s", p.In(o.Lang)))
	}
}
