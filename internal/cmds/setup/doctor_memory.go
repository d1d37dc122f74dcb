package setup

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
)

// checkMemory checks the notes of the project, for doctor; most projects have none.
func checkMemory(ctx context.Context, a *app.App) []doctor.Check {
	c := doctor.Check{Group: doctor.OfProject, Name: "memory", Status: doctor.OK}
	err := a.WithBook(func(b *memory.Book) error {
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
func staleNotes(ctx context.Context, a *app.App) (lines int) {
	_ = a.WithBook(func(b *memory.Book) error { // who has no memory has none to clear out
		c, err := b.Collect(ctx, false)
		lines = c.Lines()
		return err
	})
	return lines
}
