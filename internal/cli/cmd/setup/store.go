package setup

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/transfer"
)

// Store returns the commands of the store of a team.
func Store(u Upkeep) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after the database in which a team keeps its runs",
		Long: `A team keeps its runs in PostgreSQL: BMAD_STORE, or store in your own settings, names it.
Without it, runs are files below .bmad-task/.

Without a subcommand it shows the database, its schema, and the settings that keep changes
safe; with --check it checks all runs of the project there, with their texts.

migrate makes or updates its tables; nothing else does. export writes all runs of the
project to standard output, import reads them into the store of the project it stands
in, and move brings those that are files into the database.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if check {
				return checkStore(cmd.Context(), u)
			}
			return statusOfStore(cmd.Context(), u)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "check all runs of the project in the store, with their texts")
	to := ""
	move := terminal.Subcommand("move", "Move the runs of the project from its files into the database", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return moveStore(ctx, u, to) })
	move.Flags().StringVar(&to, "to", "", "address of the database, without a password (default: that of your settings)")
	cmd.AddCommand(
		terminal.Subcommand("migrate", "Make or update the tables", cobra.NoArgs,
			func(ctx context.Context, _ []string) error { return migrateStore(ctx, u) }),
		&cobra.Command{
			Use: "export", Short: "Write all runs of the project to standard output, as a tar file", Args: cobra.NoArgs,
			Example: "  bmad-mcp store export > runs.tar",
			RunE:    func(cmd *cobra.Command, _ []string) error { return exportStore(cmd.Context(), u) },
		},
		terminal.Subcommand("import [FILE]", "Bring the runs of an export into the store of the project", cobra.MaximumNArgs(1),
			func(ctx context.Context, args []string) error { return importStore(ctx, u, args) }),
		move,
	)
	return cmd
}

func migrateStore(ctx context.Context, u Upkeep) error {
	d, err := u.Databases.TeamStore()
	if err != nil {
		return err
	}
	before, after, err := d.Migrate(ctx)
	if err != nil {
		return err
	}
	return u.Term.Conclude(map[string]any{"address": d.String(), "before": before, "after": after}, "%s: schema %d, before %d.", d, after, before)
}

func statusOfStore(ctx context.Context, u Upkeep) error {
	d, err := u.Databases.TeamStore()
	if err != nil {
		return err
	}
	s, err := d.Status(ctx)
	if err != nil {
		return err
	}
	if err := u.Term.Conclude(s, "%s", s.Line()); err != nil || u.Term.JSON {
		return err
	}
	for _, w := range s.Warnings() {
		u.Term.Warnf("with %s the database can lose what it has acknowledged", w)
	}
	if s.Bypasses {
		u.Term.Warnf("this account sees the rows of all tenants: row-level security does not count for it")
	}
	return nil
}

// withCarrier opens the project of the command with its store.
func withCarrier(u Upkeep, do func(p *project.Project, sessions store.Carrier) error) error {
	folder, err := u.Tasks.Project()
	if err != nil {
		return err
	}
	p, err := u.Tasks.Engine().Projects().Open(folder)
	if err != nil {
		return err
	}
	defer p.Close()
	return do(p, p.Backend.(store.Carrier))
}

func checkStore(ctx context.Context, u Upkeep) error {
	return withCarrier(u, func(p *project.Project, sessions store.Carrier) error {
		checks, err := doctor.CheckSessions(ctx, u.Term.Lang, sessions)
		if err != nil {
			return err
		}
		report := doctor.Report{Cwd: p.Dir.Path()}
		report.Add(checks...)
		return printReport(u.Term, report)
	})
}

func exportStore(ctx context.Context, u Upkeep) error {
	return withCarrier(u, func(p *project.Project, sessions store.Carrier) error {
		if terminal.IsTerminal(u.Term.Raw) {
			return fault.New(fault.InvalidArgument, "an export is not for a terminal").WithHint("send it to a file: bmad-mcp store export > runs.tar")
		}
		_, err := transfer.Export(ctx, sessions, p.ID(), u.Tasks.Engine().Clock(), u.Term.Raw) // the terminal's own output would escape bytes
		return err
	})
}

func importStore(ctx context.Context, u Upkeep, args []string) error {
	const most = 1 << 31 // it is checked as a whole before anything is stored
	var data []byte
	var err error
	if len(args) == 1 {
		data, err = durable.ReadPath(args[0], most)
	} else {
		var in bytes.Buffer
		_, err = io.Copy(&in, io.LimitReader(u.Term.In, most))
		data = in.Bytes()
	}
	if err != nil {
		return fault.New(fault.NotFound, "the archive cannot be read: %w", err)
	}
	return withCarrier(u, func(p *project.Project, sessions store.Carrier) error {
		out, of, err := transfer.Import(ctx, data, sessions)
		if err != nil {
			return err
		}
		if of != p.ID() && out.New > 0 {
			u.Term.Warnf("the runs are of the project %q, and this one is %q: each counts as a copy until you accept it (bmad-mcp adopt RUN)", of, p.ID())
		}
		return printTransfer(u.Term, out)
	})
}

func printTransfer(term *terminal.Terminal, o transfer.Outcome) error {
	if n := o.Forked + o.Renamed; n > 0 {
		term.Warnf("%d have another name than the one that was signed: each counts once you accept it (bmad-mcp adopt RUN)", n)
	}
	return term.Conclude(map[string]int{"new": o.New, "longer": o.Longer, "forked": o.Forked, "renamed": o.Renamed, "same": o.Same},
		"%d new, %d continued, %d kept beside another that went on differently, %d under another name, %d unchanged.",
		o.New, o.Longer, o.Forked, o.Renamed, o.Same)
}

// moveStore copies the sessions once nothing changes them any more. From the beginning on, calls are refused that would
// use the files.
func moveStore(ctx context.Context, u Upkeep, to string) error {
	dir, err := openFolder(u.Tasks.Workspace)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	d, place, err := u.Databases.StoreFor(dir, to)
	if err != nil {
		return err
	}
	files := u.Parts().Summaries.Store(dir)
	undo, err := files.Leave(ctx, d.String())
	var out transfer.Outcome
	if err == nil {
		out, err = transfer.Copy(ctx, files, d.Store(place))
	}
	if err != nil {
		if undo != nil {
			err = errors.Join(err, undo()) // the files count as before
		}
		return err
	}
	return printTransfer(u.Term, out)
}
