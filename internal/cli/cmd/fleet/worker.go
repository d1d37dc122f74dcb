package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fleet"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// options are the flags of worker.
type options struct {
	labels, roots, allow []string
	once, onlyAllowed    bool
	lease                time.Duration
	name                 string
}

const (
	defaultLease = 30 * time.Second
	// shortestLease leaves time to end an engine before the end of the lease.
	shortestLease = time.Second
)

// Worker returns the command that takes runs from the queue.
func Worker(p Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Take runs from the queue of a team, and work on them",
		Long: `Take the oldest run whose labels this worker has, and whose project it has a clone of; make a
worktree beside the clone, and work there as bmad-mcp run does. At a gate the run waits for its
person, without a worker. Each answer that was paid for is kept in the store first, so that
another worker goes on after this one.

The first Ctrl+C or SIGTERM ends it after the call under way, the second at once.`,
		Example: "  bmad-mcp worker\n  bmad-mcp worker --root ~/clones --label gpu\n  bmad-mcp worker --once",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.work(cmd.Context(), p) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.labels, "label", nil, "a label that this worker has; can be repeated")
	flags.StringArrayVar(&o.roots, "root", nil, "a clone, or a folder with clones; can be repeated (default: the project of this folder)")
	flags.BoolVar(&o.once, "once", false, "take one run at most, and end with its exit code")
	flags.BoolVar(&o.onlyAllowed, "only-allowed", false, "follow only people and workers whose keys you have allowed here (bmad-mcp allow)")
	flags.DurationVar(&o.lease, "lease", defaultLease, "after how long without a sign of this worker another one takes its run")
	flags.StringVar(&o.name, "name", "", "the name of this worker (default: the machine's, and a number)")
	flags.StringArrayVar(&o.allow, "allow-command", nil, "a command that every run may ask for here, of anybody")
	return cmd
}

// work takes runs until it is ended.
func (o *options) work(ctx context.Context, p Program) error {
	if o.lease < shortestLease || o.lease > time.Hour {
		return fault.New(fault.InvalidArgument, "--lease %s is not between %s and an hour", o.lease, shortestLease).WithHint("leave it out for %s", defaultLease)
	}
	q, err := p.queue()
	if err != nil {
		return err
	}
	w := &fleet.Worker{Lease: o.lease, Allow: o.allow, OnlyAllowed: o.onlyAllowed, As: o.describe()}
	if w.Clones, err = o.findClones(p); err != nil {
		return err
	}
	for _, c := range w.Clones {
		w.As.Projects = append(w.As.Projects, c.Key)
	}
	database, err := p.Databases.TeamStore()
	if err != nil {
		return err
	}
	_ = os.Unsetenv("PGPASSWORD") // the database has read it, and no engine is to
	w.Queue = leases{q, database}
	w.Limits = queue.Limits{MaxWorkers: p.Tasks.Config.MaxWorkers, MaxCostPerDay: int64(p.Tasks.Config.MaxCostPerDay)}
	w.Open = func(_ context.Context, folder string, order fleet.Order) (headless.Options, func(), error) {
		a := p.For(folder)
		opts, err := run.WorkerOptions(a.Terminal, a.Tasks, order)
		opts.Tell = func(e headless.Event) { o.tellEvent(p.Term, e) }
		return opts, func() {}, err
	}
	if w.Signer, err = app.Trust().Signer(ctx); err != nil {
		return err
	}
	w.Vouch = func(ctx context.Context, folder, sessionID string, by signature.Key) (engine.Voucher, error) {
		return p.For(folder).Engine().Vouch(ctx, project.Address{Cwd: folder, Session: sessionID}, by)
	}
	w.Publish = func(ctx context.Context, folder string, s *workflow.Session) lang.Text {
		head, _ := fleet.HeadOf(folder)
		return run.Propose(ctx, fleet.Proposal{Folder: folder, Branch: workflow.BranchFor(s.TaskName), Commit: head, Title: s.Objective}, s)
	}
	w.Tell = func(task string, what lang.Text) {
		fmt.Fprintln(p.Term.Err, terminal.OneLine(strings.TrimSpace(task+"  "+what.In(p.Term.Lang))))
	}
	working, yield := context.WithCancel(context.WithoutCancel(ctx))
	defer yield()
	w.Yield = ctx.Done() // the first signal; the second one ends the process
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = q.RemoveWorker(ctx, w.As.ID) // else it is shown as gone
	}()
	w.Tell("", lang.T("worker %s, with the projects %s", w.As.ID, strings.Join(w.As.Projects, ", ")))
	out, err := w.Work(working, o.once)
	if err != nil || out == nil {
		return err
	}
	if p.Term.JSON {
		if err := p.Term.PrintJSON(map[string]any{"task_name": out.Task, "state": stateOf(out), "why": out.Why}); err != nil {
			return err
		}
	}
	return exitOf(out)
}

// stateOf returns the state of a run as lists show it.
func stateOf(out *fleet.Outcome) string {
	if out.Lost {
		return lost
	}
	return string(out.State)
}

// exitOf returns the end of the command for the outcome of its run; a run that was given back is in order.
func exitOf(out *fleet.Outcome) error {
	if out.State == queue.Ready && !out.Lost {
		return nil
	}
	return exits[stateOf(out)]
}

// leases are a queue whose database carries the numbers of leases.
type leases struct {
	*pgstore.Queue
	database *pgstore.Database
}

// FenceWrites implements [fleet.Queue].
func (l leases) FenceWrites(sessionID string, no int64) { l.database.Hold(sessionID, no) }

// describe describes the worker to the queue.
func (o *options) describe() queue.Worker {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	w := queue.Worker{ID: o.name, Host: host, Labels: o.labels, Version: app.Version()}
	if w.ID == "" {
		w.ID = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	return w
}

// findClones returns the clones in which the worker works.
func (o *options) findClones(p Program) ([]fleet.Clone, error) {
	folders, err := o.folders(p)
	if err != nil {
		return nil, err
	}
	var out []fleet.Clone
	var first error
	for _, folder := range folders {
		key, err := p.keyOf(folder)
		if err != nil {
			if first = errors.Join(first, err); len(folders) > 1 {
				p.Term.Warnf("%s: %v", folder, err)
			}
			continue
		}
		if i := slices.IndexFunc(out, func(c fleet.Clone) bool { return c.Key == key }); i >= 0 {
			p.Term.Warnf("%s and %s are clones of one project: the first is used", out[i].Folder, folder)
			continue
		}
		out = append(out, fleet.Clone{Folder: folder, Key: key})
	}
	switch {
	case len(out) > 0:
		return out, nil
	case first != nil:
		return nil, first
	}
	return nil, fault.New(fault.NotFound, "there is no clone in %s", strings.Join(o.roots, ", ")).
		WithHint("clone the projects of the team there, or name their folder with --root")
}

// keyOf returns the name of the project of a clone in the store.
func (p Program) keyOf(folder string) (string, error) {
	open, err := p.For(folder).Engine().Projects().Open(folder)
	if err != nil {
		return "", err
	}
	defer open.Close()
	return open.ID(), nil
}

// folders returns the folders of clones: the roots that are repositories, and the repositories right below the others.
func (o *options) folders(p Program) ([]string, error) {
	if len(o.roots) == 0 {
		folder, err := p.Tasks.Project()
		return []string{folder}, err
	}
	var out []string
	for _, root := range o.roots {
		root, err := filepath.Abs(root)
		if err != nil {
			return nil, err
		}
		if isRepository(root) {
			out = append(out, root)
			continue
		}
		var entries []os.DirEntry
		dir, err := durable.OpenDir(root)
		if err == nil {
			entries, err = dir.ReadDir(".")
			_ = dir.Close() // nothing was written
		}
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "--root %q cannot be read: %w", root, err).WithHint("name a clone, or a folder with clones")
		}
		for _, e := range entries {
			if below := filepath.Join(root, e.Name()); e.IsDir() && isRepository(below) {
				out = append(out, below)
			}
		}
	}
	return out, nil
}

// isRepository reports whether a folder is a main tree of git.
func isRepository(folder string) bool {
	info, err := os.Lstat(filepath.Join(folder, ".git"))
	return err == nil && info.IsDir()
}

// tellEvent prints an event of a run.
func (o *options) tellEvent(term *terminal.Terminal, e headless.Event) {
	if text := e.Line(term.Lang); text != "" {
		fmt.Fprintln(term.Err, "  "+terminal.OneLine(text))
	}
}
