package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
)

// memoryFlags choose notes, or describe a new one.
type memoryFlags struct{ kind, agent string }

func (f memoryFlags) filter() memory.Filter {
	return memory.Filter{Type: notes.Type(f.kind), Agent: f.agent}
}

// withBook opens the notes of the project.
func withBook(a *app, do func(b *memory.Book) error) error {
	dir, err := a.project()
	if err != nil {
		return err
	}
	p, err := a.engine.Projects().Open(dir)
	if err != nil {
		return err
	}
	defer p.Close()
	return do(a.memory.Of(p))
}

// onBook runs a subcommand with the notes of the project.
func onBook(a *app, do func(ctx context.Context, b *memory.Book, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return withBook(a, func(b *memory.Book) error { return do(cmd.Context(), b, args) })
	}
}

// withQueue opens the tasks of the project that wait for an agent.
func withQueue(a *app, do func(q *queue.Queue) error) error {
	return withBook(a, func(b *memory.Book) error {
		q, err := b.Queue()
		if err != nil {
			return err
		}
		return do(q)
	})
}

// sayProblems names lines and files that cannot be used.
func sayProblems(a *app, problems []notes.Problem) {
	for _, p := range problems {
		fmt.Fprintln(a.Err, a.Lang.Say("cannot be used: %s", p.In(a.Lang)))
	}
}

// checkMemory checks the notes of the project, for doctor; most projects have none.
func checkMemory(ctx context.Context, a *app) []doctor.Check {
	c := doctor.Check{Group: doctor.OfProject, Name: "memory", Status: doctor.OK}
	err := withBook(a, func(b *memory.Book) error {
		stats, err := b.Stats(ctx, memory.Filter{})
		if err != nil {
			return err
		}
		problems, err := b.Check(ctx)
		for _, p := range problems[:min(len(problems), maxLeftOut)] {
			c.Items = append(c.Items, doctor.Defect{Path: p.Path, What: p.In(a.Lang)})
		}
		if stats.Notes+stats.Foreign+stats.Files+len(problems) > 0 {
			c.Detail = a.Lang.Say("%d notes, and %d in files of other tools", stats.Notes, stats.Foreign)
		}
		if len(problems) > 0 {
			c.Status, c.Remedy = doctor.Warning, a.Lang.Say("bmad-mcp memory check names all of them: correct the lines, or remove them; the other notes are not affected")
		}
		return err
	})
	if fault.Is(err, fault.Storage) {
		f := fault.From(err).Translated(a.Lang)
		c.Status, c.Detail, c.Remedy = doctor.Problem, f.Message, f.Hint
	}
	if c.Detail == "" {
		return nil
	}
	return []doctor.Check{c}
}

// staleNotes returns the number of lines of notes that no longer count.
func staleNotes(ctx context.Context, a *app) (lines int) {
	_ = withBook(a, func(b *memory.Book) error { // who has no memory has none to clear out
		c, err := b.Collect(ctx, false)
		lines = c.Lines()
		return err
	})
	return lines
}
