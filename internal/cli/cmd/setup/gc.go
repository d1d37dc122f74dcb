package setup

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	projects "github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// gcOptions are the flags of gc.
type gcOptions struct {
	age   string
	apply bool
}

// GC returns the command that removes what nothing refers to.
func GC(u Upkeep) *cobra.Command {
	var o gcOptions
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "List, and with --apply remove, texts of finished sessions that nothing refers to",
		Long: `List what finished sessions no longer need: texts of the store, or below .bmad-task/temp/, that no stage,
no history entry and no other session refers to, what the workers of runs printed, and
what doctor put into the trash, where these are older than --older-than; and, of any
project, what this machine recorded of sessions that are gone. Every submission that log and diff show stays,
as do sessions and artifacts. Nothing is removed without --apply.

` + terminal.ExitHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.removeUnused(cmd.Context(), u) },
	}
	cmd.Flags().StringVar(&o.age, "older-than", "30d", "how long ago the session was finished, such as 30d, 12h, 0d")
	cmd.Flags().BoolVar(&o.apply, "apply", false, "remove what is listed")
	return cmd
}

func (o *gcOptions) removeUnused(ctx context.Context, u Upkeep) error {
	old, err := parseAge(o.age)
	if err != nil {
		return err
	}
	dir, err := openFolder(u.Tasks.Workspace)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	project := doctor.New(dir, u.Parts().Summaries.Store(dir))
	project.Language = u.Term.Lang
	var files []doctor.Trimmed
	if before := u.Term.Now().Add(-old); u.Tasks.Config.Store.Address == "" {
		files, err = project.Trim(ctx, before, o.apply)
	} else {
		err = withCarrier(u, func(_ *projects.Project, sessions store.Carrier) (err error) {
			files, err = project.TrimShared(ctx, sessions.(store.Trimmer), before, o.apply)
			return err
		})
	}
	if err != nil {
		if o.apply && !u.Term.JSON && len(files) > 0 {
			u.Term.Say("Removed %d files before this went wrong.", len(files))
		}
		return err
	}
	forgotten, err := o.forgetGone(ctx, u, old)
	files = append(files, forgotten...)
	if err != nil {
		return err
	}
	bytes := int64(0)
	for _, f := range files {
		bytes += f.Size
	}
	notes := staleNotes(ctx, u)
	if u.Term.JSON {
		out := map[string]any{"cwd": dir.Path(), "older_than": o.age, "applied": o.apply, "files": append([]doctor.Trimmed{}, files...), "bytes": bytes}
		if notes > 0 {
			out["memory_lines"] = notes
		}
		return u.Term.PrintJSON(out)
	}
	for _, f := range files {
		u.Term.Printf("%8d  %s  (%s)\n", f.Size, f.Path, f.Why)
	}
	switch {
	case len(files) == 0:
		u.Term.Say("Nothing to remove: no finished session of %s has texts older than %s that nothing refers to.", dir.Path(), o.age)
	case o.apply:
		u.Term.Say("Removed %d files, %d bytes.", len(files), bytes)
	default:
		u.Term.Say("%d files, %d bytes. Nothing was removed; bmad-mcp gc --older-than %s --apply does it.", len(files), bytes, o.age)
	}
	if notes > 0 {
		u.Term.Say("%d lines of notes no longer count: bmad-mcp memory gc lists them.", notes)
	}
	return nil
}

// forgetGone removes the records of rights whose run is gone. Records of sessions stay: a session can come back in an
// older form, which only its record shows.
func (o *gcOptions) forgetGone(ctx context.Context, u Upkeep, old time.Duration) ([]doctor.Trimmed, error) {
	forgotten, err := app.Trust().ForgetRights(ctx, u.Term.Now().Add(-old), o.apply)
	var out []doctor.Trimmed
	for _, f := range forgotten {
		out = append(out, doctor.Trimmed{Path: f.Path, Size: f.Size, Why: u.Term.Lang.Word(f.Why)})
	}
	return out, err
}

// parseAge reads a duration that may be in days.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fault.New(fault.InvalidArgument, "%q is not an age", text).WithHint("use days or hours, such as 30d or 12h")
}

// openFolder opens the folder of the project to look after.
func openFolder(workspace *app.Workspace) (*durable.Dir, error) {
	cwd, err := workspace.Project()
	if err != nil {
		return nil, err
	}
	dir, err := durable.OpenDir(cwd)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the folder %s cannot be opened: %w", cwd, err).WithHint("pass --cwd with the project folder")
	}
	return dir, nil
}

// staleNotes returns the number of lines of notes that no longer count.
func staleNotes(ctx context.Context, u Upkeep) (lines int) {
	_ = u.WithBook(func(b *memory.Book) error { // who has no memory has none to clear out
		c, err := b.Collect(ctx, false)
		lines = c.Lines()
		return err
	})
	return lines
}
