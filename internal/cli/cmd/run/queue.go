package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/fleet"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Program is the part of the program that run needs besides the tasks.
type Program struct {
	// UseAudits has the engine ask for a second opinion on the scores.
	UseAudits func()
	// UseQueue has the engine put each new session into the queue.
	UseQueue func(app.NewOrder)
	// Queue returns the queue of the team.
	Queue func() (*pgstore.Queue, error)
}

// WorkerOptions returns the options of a runner for an order in the folder of tasks.
func WorkerOptions(term *terminal.Terminal, tasks *app.Tasks, order fleet.Order) (headless.Options, error) {
	out := headless.Options{
		Engine: tasks.Engine(), Look: lookByGit, Log: tasks.Log, By: "bmad-mcp worker",
		Gates: order.Gates, Flags: order.Flags, Answers: order.Answers, Own: memory.OwnFolders(),
	}
	var err error
	if out.Prices, _, err = app.PriceTable(); err != nil {
		return out, err
	}
	out.Workers = runWorkers(term, tasks, out.Prices)
	return out, tasks.Unread
}

// queued is the result of queueing a run.
type queued struct {
	SessionID string      `json:"session_id"`
	TaskName  string      `json:"task_name"`
	State     queue.State `json:"state"`
	Labels    []string    `json:"labels,omitempty"`
	Commit    string      `json:"commit"`
}

// enqueue leaves a run to the workers of the team.
func (o *options) enqueue(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, program Program, objective string) error {
	q, err := program.Queue()
	if err != nil {
		return err
	}
	folder, err := tasks.Project()
	if err != nil {
		return err
	}
	o.kept.Worktree = true
	order := fleet.Order{Flags: o.kept, Gates: headless.Gates(o.gates), Answers: map[string]string{}, Publish: o.apart.publish}
	if o.answers != "" {
		if err := term.ReadAnswers(ctx, o.answers, order.Answers); err != nil {
			return err
		}
	}
	out := queued{State: queue.Ready, Labels: o.apart.labels}
	place, err := o.placeOf(ctx, term, tasks, q, folder)
	if err != nil {
		return err
	}
	out.Commit, order.Commit = place.Commit, place.Commit
	signer, err := app.Trust().Signer(ctx)
	if err != nil {
		return err
	}
	newOrder := func(sessionID string) (queue.Order, error) {
		all := place
		all.Run, err = order.Encode(sessionID, signer)
		return all, err
	}
	if o.resume != "" {
		if out.SessionID, out.TaskName, err = requeue(ctx, tasks, q, folder, o.resume, newOrder); err != nil {
			return err
		}
	} else {
		program.UseQueue(newOrder)
		begun, err := tasks.Engine().Do(ctx, request.Request{
			Action:  workflow.ActionStart,
			Start:   request.Start{Objective: objective, Workflow: o.kept.Workflow, TaskName: o.name, Apart: true},
			Address: project.Address{Cwd: folder},
			Caller:  request.Caller{By: "bmad-mcp run"},
		})
		if err != nil {
			return err
		}
		out.SessionID, out.TaskName = begun.SessionID, begun.Standing.Session.TaskName
	}
	return term.Conclude(out, "%s is in the queue. bmad-mcp queue shows it; at a gate it waits for: bmad-mcp decide %s", out.TaskName, out.TaskName)
}

// leaveQueue prepares to go on here with a run that was in the queue: it brings in the commits of its workers. It refuses a run
// that the queue has for a worker: both would work on it, and be paid.
func (o *options) leaveQueue(ctx context.Context, tasks *app.Tasks, program Program) error {
	if o.resume == "" {
		return nil
	}
	folder, err := tasks.Project()
	if err != nil {
		return err
	}
	s, _, err := tasks.Engine().Session(ctx, project.Address{Cwd: folder, Session: o.resume})
	if err != nil {
		return err
	}
	q, err := program.Queue()
	if err != nil {
		return nil //nolint:nilerr // the runs are files, and no queue has them
	}
	e, err := q.Get(ctx, s.SessionID)
	if err != nil {
		return nil //nolint:nilerr // the queue lacks it, or the database is older than queues
	}
	if slices.Contains([]queue.State{queue.Ready, queue.Working, queue.Waiting, queue.Spent}, e.State) { // Spent is Ready at the next step
		return fault.New(fault.NotAllowed, "the run %s is in the queue, from which a worker takes it", s.TaskName).
			WithHint("go on there: %s; or take it out of the queue first: bmad-mcp queue cancel %s", fleet.NextCommand(e), s.TaskName)
	}
	left, err := q.GetWhole(ctx, s.SessionID)
	if err != nil {
		return err
	}
	return fleet.BringWork(ctx, folder, s, left, vouchIn(ctx, tasks, folder, s))
}

// placeOf checks that other machines can do the run, and returns the order without the flags.
func (o *options) placeOf(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, q *pgstore.Queue, folder string) (queue.Order, error) {
	out := queue.Order{Labels: o.apart.labels}
	p, err := tasks.Engine().Projects().Open(folder)
	if err != nil {
		return out, err
	}
	defer p.Close()
	if p.IsLocal() {
		term.Warnf("%s has no remote of git on another machine, by which other clones are known as the same project: only workers in this clone can take the run", folder)
	}
	name := o.kept.Workflow
	if name == "" {
		name = p.Config.Workflow
	}
	w, err := p.Config.Find(name)
	if err != nil {
		return out, err
	}
	if err := headless.CheckFlags(p.Config.Under(w.Definition), o.kept, headless.Gates(o.gates), o.resume != ""); err != nil {
		return out, err
	}
	if out.Commit, err = o.baseOf(ctx, tasks, q, folder); err != nil {
		return out, err
	}
	if out.Commit == "" {
		return out, fault.New(fault.NotAllowed, "%s has no commit of git, from which a worker could begin", folder).WithHint("git init, and commit and push the files")
	}
	origin, err := git.OriginOf(ctx, folder)
	if err != nil {
		return out, err
	}
	out.Remote = project.RemoteKey(origin.Address, ".") // an address may have a password
	if there, err := git.IsOnRemote(ctx, folder, out.Commit); err == nil && !there {
		term.Warnf("the commit %s is on no branch of the remote, as far as this clone knows: only workers on this machine have it; git push brings it to the others",
			out.Commit[:9])
	}
	if tree, err := lookByGit(ctx, folder); err == nil && tree != nil && len(headless.ChangedByOthers(tree, memory.OwnFolders())) > 0 {
		term.Warnf("the workers begin from the commit %s, without the changes here that are not committed", out.Commit[:9])
	}
	who, err := tasks.Engine().Person(folder)
	out.By = cmp.Or(who.Name, who.Subject)
	return out, err
}

// baseOf returns the commit from which workers begin the run.
func (o *options) baseOf(ctx context.Context, tasks *app.Tasks, q *pgstore.Queue, folder string) (string, error) {
	if o.resume == "" {
		return fleet.BaseOf(ctx, folder, nil, queue.Claim{}, nil)
	}
	s, _, err := tasks.Engine().Session(ctx, project.Address{Cwd: folder, Session: o.resume})
	if err != nil {
		return "", err
	}
	left, err := q.GetWhole(ctx, s.SessionID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	return fleet.BaseOf(ctx, folder, s, left, vouchIn(ctx, tasks, folder, s))
}

// vouchIn returns a function for the say of a key in a run of the project in a folder.
func vouchIn(ctx context.Context, tasks *app.Tasks, folder string, s *workflow.Session) func(signature.Key) (engine.Voucher, error) {
	return func(by signature.Key) (engine.Voucher, error) {
		return tasks.Engine().Vouch(ctx, project.Address{Cwd: folder, Session: s.SessionID}, by)
	}
}

// requeue puts a run that exists into the queue.
func requeue(ctx context.Context, tasks *app.Tasks, q *pgstore.Queue, folder, task string, order app.NewOrder) (id, name string, err error) {
	s, _, err := tasks.Engine().Session(ctx, project.Address{Cwd: folder, Session: task})
	if err != nil {
		return "", "", err
	}
	p, err := tasks.Engine().Projects().Open(folder)
	if err != nil {
		return "", "", err
	}
	defer p.Close()
	place, err := order(s.SessionID)
	if err == nil {
		err = q.Add(ctx, p.ID(), s.SessionID, place)
	}
	return s.SessionID, s.TaskName, err
}
