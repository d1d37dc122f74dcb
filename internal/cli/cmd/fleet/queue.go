// Package fleet has the commands of a team's queue of runs: the worker, and looking after the queue.
package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fleet"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// lost is the shown state of a run whose worker was lost at work.
const lost = "lost"

// queuedRun is an entry of the queue in JSON.
type queuedRun struct {
	SessionID string   `json:"session_id"`
	TaskName  string   `json:"task_name"`
	Project   string   `json:"project"`
	State     string   `json:"state"`
	Stage     string   `json:"stage,omitempty"`
	Labels    []string `json:"labels,omitempty"`
	By        string   `json:"by,omitempty"`
	QueuedAt  string   `json:"queued_at"`
	// Age is the time since it was queued, InState since it came into its state, both in seconds.
	Age         int64  `json:"age_seconds"`
	InState     int64  `json:"in_state_seconds"`
	Worker      string `json:"worker,omitempty"`
	Lease       int64  `json:"lease_no,omitempty"`
	LeaseLeft   int64  `json:"lease_left_seconds,omitempty"`
	Asking      int    `json:"asking,omitempty"`
	Calls       int    `json:"calls"`
	Repeated    int    `json:"repeated_calls"`
	WorkersLost int    `json:"workers_lost"`
	Spent       int64  `json:"spent_nano_usd"`
	Commit      string `json:"commit,omitempty"`
	Why         string `json:"why,omitempty"`
	// Note names a problem of the row in the database.
	Note string `json:"note,omitempty"`
}

func newQueuedRun(e queue.Entry) queuedRun {
	out := queuedRun{
		SessionID: e.SessionID, TaskName: e.TaskName, Project: e.Project, State: string(e.State), Stage: e.Stage, Labels: e.Labels, By: e.By,
		QueuedAt: e.QueuedAt.UTC().Format(time.RFC3339), Age: int64(e.Age.Seconds()), InState: int64(e.InState.Seconds()), Worker: e.Worker, Lease: e.LeaseNo,
		LeaseLeft: int64(e.LeaseLeft.Seconds()), Asking: e.Asking, Calls: e.Calls, Repeated: e.Repeated, WorkersLost: e.WorkersLost, Spent: e.Spent,
		Commit: e.Commit, Why: e.Why, Note: e.Note,
	}
	if e.Lost {
		out.State = lost
	}
	return out
}

// stateNames lists the states that can be asked for.
func stateNames() []string {
	out := []string{lost}
	for _, s := range queue.States() {
		out = append(out, string(s))
	}
	return out
}

// Program is the part of the program that the commands need.
type Program struct {
	Term      *terminal.Terminal
	Tasks     *app.Tasks
	Databases *app.Databases
	// For returns the program for another folder, with an engine that asks for a second opinion on the scores.
	For func(folder string) *app.App
}

func (p Program) queue() (*pgstore.Queue, error) { return p.Databases.Queue() }

// Queue returns the commands to look after the queue.
func Queue(p Program) *cobra.Command {
	var states []string
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "See the runs that are queued for the workers of a team",
		Long: `The queue has the runs of bmad-mcp run --queue, which workers (bmad-mcp worker) take. A run is
ready (for a worker), working, lost (its worker is gone; another one takes it), waiting (for
you, at a gate or with questions), spent (its budget or time is up), failed, cancelled or
done. A decision makes a waiting run ready again.`,
		Example: "  bmad-mcp queue\n  bmad-mcp queue --state waiting --state failed\n  bmad-mcp queue retry sign-in --budget 5",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.list(cmd.Context(), states)
		},
	}
	cmd.Flags().StringArrayVar(&states, "state", nil, "only runs in this state; can be repeated")
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp)) // the error is for a missing flag
	cmd.AddCommand(
		p.subcommand("show", "Show a run of the queue; the exit code is that of its state", p.show),
		p.subcommand("cancel", "Take a run from the queue, and stop its worker", p.cancel),
		p.retry(),
		terminal.Subcommand("workers", "List the workers, and what each does", cobra.NoArgs, func(ctx context.Context, _ []string) error { return p.workers(ctx) }),
		p.limits(),
	)
	return cmd
}

// subcommand returns a command about one run.
func (p Program) subcommand(use, short string, do func(ctx context.Context, q *pgstore.Queue, e queue.Entry) error) *cobra.Command {
	cmd := terminal.Subcommand(use+" RUN", short, cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		q, err := p.queue()
		if err != nil {
			return err
		}
		e, err := q.Get(ctx, args[0])
		if err != nil {
			return err
		}
		return do(ctx, q, e)
	})
	cmd.ValidArgsFunction = p.Tasks.CompleteTasks
	return cmd
}

func (p Program) list(ctx context.Context, states []string) error {
	for _, s := range states {
		if !slices.Contains(stateNames(), s) {
			return fault.New(fault.InvalidArgument, "--state %q is not one of %s", s, strings.Join(stateNames(), ", ")).WithHint("leave it out for all runs")
		}
	}
	q, err := p.queue()
	if err != nil {
		return err
	}
	entries, err := q.List(ctx, nil)
	if err != nil {
		return err
	}
	runs, rows := []queuedRun{}, [][]string{}
	for _, e := range entries {
		r := newQueuedRun(e)
		if len(states) > 0 && !slices.Contains(states, r.State) {
			continue
		}
		runs = append(runs, r)
		rows = append(rows, []string{
			r.TaskName, r.State, r.Stage, sayAge(e.InState), cmp.Or(r.Worker, "–"), cmp.Or(terminal.JoinWords(r.Labels), "–"),
			price.Money(r.Spent).Short(), cmp.Or(r.Note, r.Why),
		})
	}
	return p.Term.List(p.Term.JSON, map[string]any{"runs": runs}, lang.T("The queue is empty. bmad-mcp run --queue \"what is to be built\" puts a run into it."),
		p.Term.Header("RUN\tSTATE\tSTAGE\tFOR\tWORKER\tLABELS\tCOST\tWHY"), rows)
}

// sayAge returns a time in the largest fitting unit.
func sayAge(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// exits are the ends of a command about a run, by its state.
var exits = map[string]error{
	string(queue.Ready): terminal.ErrQueued, string(queue.Working): terminal.ErrQueued, lost: terminal.ErrLost, string(queue.Waiting): terminal.ErrPending,
	string(queue.Spent): terminal.ErrSpent, string(queue.Failed): terminal.ErrEngine, string(queue.Cancelled): terminal.ErrCancelled,
}

func (p Program) show(ctx context.Context, q *pgstore.Queue, e queue.Entry) error {
	r := newQueuedRun(e)
	if p.Term.JSON {
		if err := p.Term.PrintJSON(r); err != nil {
			return err
		}
		return exits[r.State]
	}
	p.Term.Say("%s: %s for %s", r.TaskName, r.State, sayAge(e.InState))
	p.Term.Say("  queued:  %s, by %s, from commit %s", p.Term.When(e.QueuedAt, time.DateTime), cmp.Or(r.By, "–"), cmp.Or(r.Commit[:min(9, len(r.Commit))], "–"))
	if r.Stage != "" {
		p.Term.Say("  stage:   %s (%s)", r.Stage, e.SessionState)
	}
	if len(r.Labels) > 0 {
		p.Term.Say("  labels:  %s", terminal.JoinWords(r.Labels))
	}
	if r.Worker != "" {
		p.Term.Say("  worker:  %s, lease %d", r.Worker, r.Lease)
	}
	p.Term.Say("  calls:   %d; made again: %d; workers lost: %d", r.Calls, r.Repeated, r.WorkersLost)
	p.Term.Say("  cost:    %s", price.Money(r.Spent).Short())
	for _, why := range []string{r.Why, r.Note} {
		if why != "" {
			p.Term.Say("  why:     %s", terminal.OneLine(why))
		}
	}
	p.sayNext(ctx, q, e)
	return exits[r.State]
}

// sayNext names the person's next command for a run.
func (p Program) sayNext(ctx context.Context, q *pgstore.Queue, e queue.Entry) {
	switch e.State {
	case queue.Waiting, queue.Spent, queue.Failed, queue.Cancelled:
		p.Term.Say("  next:    %s", fleet.NextCommand(e))
	case queue.Ready, queue.Working:
		if e.State == queue.Working && !e.Lost {
			return
		}
		why := p.whyNobody(ctx, q, e)
		if why == "" && e.Lost {
			why = p.Term.Lang.Say("its worker has given no sign; the next worker that is free takes the run")
		}
		if why != "" {
			p.Term.Say("  note:    %s", why)
		}
	}
}

// whyNobody says why no worker at hand can take a run; "" if one can.
func (p Program) whyNobody(ctx context.Context, q *pgstore.Queue, e queue.Entry) string {
	workers, err := q.Workers(ctx)
	if err != nil {
		return ""
	}
	switch queue.FindLack(&e, workers) {
	case queue.LacksProject:
		return p.Term.Lang.Say("no worker with a clone of %s was seen lately: bmad-mcp worker", e.Project)
	case queue.LacksLabels:
		return p.Term.Lang.Say("no worker with these labels was seen lately: bmad-mcp worker --label %s", strings.Join(e.Labels, " --label "))
	case queue.LacksNothing:
	}
	return p.whyHeld(ctx, q)
}

// whyHeld says which limit of the team keeps runs from workers; "" if none does.
func (p Program) whyHeld(ctx context.Context, q *pgstore.Queue) string {
	l, err := q.Limits(ctx)
	if err != nil {
		return ""
	}
	counts, err := q.Counts(ctx)
	if err != nil {
		return ""
	}
	workers, cost := counts.Reached(l)
	switch {
	case cost:
		return p.Term.Lang.Say("the costs of this day have reached the limit of the team: bmad-mcp queue limits")
	case workers:
		return p.Term.Lang.Say("as many runs are at work as the limit of the team allows: bmad-mcp queue limits")
	}
	return ""
}

func (p Program) cancel(ctx context.Context, q *pgstore.Queue, e queue.Entry) error {
	if err := q.Cancel(ctx, e.SessionID); err != nil {
		return err
	}
	return p.Term.Conclude(map[string]any{"session_id": e.SessionID, "task_name": e.TaskName, "state": queue.Cancelled},
		"%s is out of the queue; a worker that has it stops. The run stays as it is: bmad-mcp queue retry %s, bmad-mcp run --resume %s, or bmad-mcp cancel %s to end it for good.",
		e.TaskName, e.TaskName, e.TaskName, e.TaskName)
}

func (p Program) retry() *cobra.Command {
	budget := ""
	cmd := p.subcommand("retry", "Put a run that has stopped, failed or was cancelled back into the queue", func(ctx context.Context, q *pgstore.Queue, e queue.Entry) error {
		run, err := p.withBudget(ctx, q, e, budget)
		if err != nil {
			return err
		}
		if err := q.Retry(ctx, e.SessionID, run); err != nil {
			return err
		}
		return p.Term.Conclude(map[string]any{"session_id": e.SessionID, "task_name": e.TaskName, "state": queue.Ready}, "%s is in the queue again.", e.TaskName)
	})
	cmd.Flags().StringVar(&budget, "budget", "", "end before the call after this many US dollars, earlier ones counted; none takes a budget back")
	return cmd
}

// withBudget returns the order of a run with another budget, signed by this machine; nil without one.
func (p Program) withBudget(ctx context.Context, q *pgstore.Queue, e queue.Entry, budget string) ([]byte, error) {
	if budget == "" {
		return nil, nil
	}
	whole, err := q.GetWhole(ctx, e.SessionID)
	if err != nil {
		return nil, err
	}
	signer, err := app.Trust().Signer(ctx)
	if err != nil {
		return nil, err
	}
	order, by, err := fleet.ReadCountedOrder(e.SessionID, whole.Run, func(key signature.Key) (engine.Voucher, error) {
		if key == signer.Public() { // in any folder
			return engine.Voucher{Counts: true}, nil
		}
		return p.vouchFor(ctx, e.SessionID, key)
	})
	if err != nil {
		return nil, err
	}
	if order.Flags.NoBudget = budget == "none"; !order.Flags.NoBudget {
		if order.Flags.Budget, err = price.ParseMoney(budget); err != nil || order.Flags.Budget == 0 {
			return nil, fault.New(fault.InvalidArgument, "--budget %q is not an amount in US dollars", budget).WithHint("write it as 2 or 0.50; or none, to take a budget back")
		}
	}
	if by != signer.Public() { // this person signs the whole order
		data, err := json.Marshal(order)
		if err == nil && !p.Term.JSON {
			p.Term.Warnf("the order was another person's, and is yours now: %s", data)
		}
	}
	return order.Encode(e.SessionID, signer)
}

// vouchFor returns the say of a key in a run of the project of this folder: none in a run of another one, or outside of a repository.
func (p Program) vouchFor(ctx context.Context, sessionID string, key signature.Key) (engine.Voucher, error) {
	folder, err := p.Tasks.Project()
	if err != nil {
		return engine.Voucher{}, err
	}
	if commit, err := git.Head(folder); commit == "" || err != nil { // to open it would make it a project
		return engine.Voucher{}, err
	}
	v, err := p.Tasks.Engine().Vouch(ctx, project.Address{Cwd: folder, Session: sessionID}, key)
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	return v, err
}

func (p Program) limits() *cobra.Command {
	workers, cost := -1, ""
	var cmd *cobra.Command
	cmd = terminal.Subcommand("limits", "Show or set the limits of the team", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if workers < 0 && cmd.Flags().Changed("max-workers") {
			return fault.New(fault.InvalidArgument, "--max-workers %d is not a number of runs", workers).WithHint("name 1 or more; or 0, for no limit")
		}
		q, err := p.queue()
		if err != nil {
			return err
		}
		l, err := q.Limits(ctx)
		if err != nil {
			return err
		}
		if workers >= 0 {
			l.MaxWorkers = workers
		}
		if cost != "" {
			sum := price.Money(0)
			if cost != "none" {
				if sum, err = price.ParseMoney(cost); err != nil || sum == 0 {
					return fault.New(fault.InvalidArgument, "--max-cost-per-day %q is not an amount in US dollars", cost).WithHint("write it as 20 or 2.50; or none, for no limit")
				}
			}
			l.MaxCostPerDay = int64(sum)
		}
		if workers >= 0 || cost != "" {
			if err := q.SetLimits(ctx, l); err != nil {
				return err
			}
		}
		spent, err := q.SpentToday(ctx)
		if err != nil {
			return err
		}
		return p.Term.Conclude(map[string]any{"max_workers": l.MaxWorkers, "max_cost_per_day_nano_usd": l.MaxCostPerDay, "spent_today_nano_usd": spent},
			"Runs at work at a time: %s. Costs of a day (UTC): %s; today: %s.", sayWorkers(l.MaxWorkers), sayCost(l.MaxCostPerDay), price.Money(spent).Short())
	})
	cmd.Flags().IntVar(&workers, "max-workers", -1, "the largest number of runs at work at a time; 0 for no limit")
	cmd.Flags().StringVar(&cost, "max-cost-per-day", "", "begin no run once this many US dollars are spent on a day; none for no limit")
	return cmd
}

func sayWorkers(n int) lang.Text {
	if n == 0 {
		return lang.T("no limit")
	}
	return lang.T("at most %d", n)
}

func sayCost(nano int64) lang.Text {
	if nano == 0 {
		return lang.T("no limit")
	}
	return lang.T("at most %s", price.Money(nano).Short())
}

func (p Program) workers(ctx context.Context) error {
	q, err := p.queue()
	if err != nil {
		return err
	}
	all, err := q.Workers(ctx)
	if err != nil {
		return err
	}
	out, rows := []map[string]any{}, [][]string{}
	for _, w := range all {
		does := cmp.Or(w.TaskName, p.Term.Lang.Say("idle"))
		if w.IsGone() {
			does = p.Term.Lang.Say("not seen for %s", sayAge(w.SeenAgo))
		}
		out = append(out, map[string]any{"id": w.ID, "host": w.Host, "labels": append([]string{}, w.Labels...), "projects": append([]string{}, w.Projects...),
			"version": w.Version, "seen_seconds_ago": int64(w.SeenAgo.Seconds()), "session_id": w.SessionID, "task_name": w.TaskName})
		rows = append(rows, []string{w.ID, does, cmp.Or(terminal.JoinWords(w.Labels), "–"), strings.Join(w.Projects, ", "), w.Version})
	}
	none := lang.T("No worker has asked for runs yet: bmad-mcp worker starts one.")
	return p.Term.List(p.Term.JSON, map[string]any{"workers": out}, none, p.Term.Header("WORKER\tDOES\tLABELS\tPROJECTS\tVERSION"), rows)
}
