package headless

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// run is one invocation for one session.
type run struct {
	Options
	project  *project.Project
	files    *files
	state    *state
	plan     *Plan
	budget   *price.Budget
	language lang.Language
	started  time.Time

	// record keeps the rights, and is nil if they are not kept; recorded are the rights in it. notice describes
	// how run.json differs from them. unproven is true if run.json alone has a limit of the costs, or none.
	record   sdk.Rights
	recorded string
	notice   lang.Text
	unproven bool

	// session and now describe the session as it is; each step reads them anew.
	session *workflow.Session
	now     engine.Outcome
	worked  int
	told    int      // worked when the person last got a notice
	others  []string // the ids of the other runs at work that were told
	begun   point    // the latest stage and round whose begin was told

	mu  sync.Mutex // of seq and files.pending
	seq int
}

// Result describes the end of a run.
type Result struct {
	Reason Reason `json:"reason"`
	// Why says it for people.
	Why string `json:"why"`
	// Command is the command to decide with, if a person has to; Resume the one to go on with.
	Command string `json:"command,omitempty"`
	Resume  string `json:"resume,omitempty"`
	// Unused has the ids of answers without a question.
	Unused []string     `json:"unused_answers,omitempty"`
	Cost   price.Report `json:"cost"`
	// Reported is the sum by the engines' own count, in dollars.
	Reported *float64 `json:"reported_usd,omitempty"`
	// Before and After are the repository before the first change and at the end.
	Before *Tree `json:"tree_before,omitempty"`
	After  *Tree `json:"tree_after,omitempty"`
	// Moved says how the repository differs besides in its files; Committed are the files that differ between the
	// commits of Before and After.
	Moved     string   `json:"moved,omitempty"`
	Committed []string `json:"committed,omitempty"`
	// Branch is the run's own branch of git, "" for a run in the main tree; Commit its newest commit with work, Worktree the
	// folder of the worktree.
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Worktree string `json:"worktree,omitempty"`
	// Session describes the session.
	Session *engine.Outcome `json:"session,omitempty"`
}

func (r *run) close() error {
	defer r.project.Close()
	return r.files.unlock()
}

func (r *run) currentPoint() point { return point{r.session.CurrentStage, r.session.Revision} }

// newRequest returns a request for the session of the run.
func (r *run) newRequest(action workflow.Action) request.Request {
	return request.Request{
		Action:  action,
		Address: project.Address{Session: r.state.SessionID, Cwd: r.project.Dir.Path()},
		Caller:  request.Caller{By: r.By, Notifies: true},
	}
}

// readSession reads the session as it is now.
func (r *run) readSession(ctx context.Context) error {
	r.project.Dir.ForgetFolders() // others may have worked in between
	req := r.newRequest(workflow.ActionResume)
	req.Inline = true
	s, _, err := r.Engine.Session(ctx, req.Address)
	if err != nil {
		return err // the end of the run is reported with the session as it was
	}
	if !s.CurrentState.Active() {
		req.Action = workflow.ActionStatus
	}
	now, err := r.Engine.Do(ctx, req)
	if err == nil {
		r.now, r.session = now, now.Standing.Session
	}
	return err
}

// setState gives the run a state and rights. kept is the state of run.json, nil if there is none.
func (r *run) setState(ctx context.Context, kept *state) error {
	if kept != nil && kept.SessionID != r.session.SessionID {
		return fault.New(fault.Storage, "%s is not of this run: it names the run %q", r.files.dir.Join(r.files.stateName()), kept.SessionID).
			WithHint("correct it, or move it away: the run then goes on by what this machine has recorded")
	}
	r.state = &state{Version: stateVersion}
	var file, record *rights
	if kept != nil {
		r.state, file = kept, &kept.rights
	}
	r.state.SessionID, r.state.TaskName = r.session.SessionID, r.session.TaskName
	if r.project.Home != r.project.Dir {
		r.state.Worktree = r.project.Dir.Path()
	}
	if r.record != nil {
		if found := (rights{}); json.Unmarshal(r.record.Kept(ctx, r.session.SessionID), &found) == nil {
			record = &found
		}
	}
	now, proven, notice := combineRights(r.Flags, file, record)
	if r.Lease != nil { // the signed order alone gives rights, and the record counts the costs
		now, proven, notice = rightsUnder(r.Flags, cmp.Or(file, &rights{}), r.Lease.IsFresh()), true, lang.Text{}
	}
	for _, name := range r.Own { // the files of events
		if !strings.HasSuffix(name, "/") && !slices.Contains(now.Events, name) {
			now.Events = append(now.Events, name)
		}
	}
	r.Own = append(slices.Clip(r.Own), now.Events...)
	r.Flags, r.unproven, r.notice = now.Flags, !proven, notice
	if proven { // else the file stays as it is, for the person to read
		r.state.rights = now
	}
	r.budget = price.NewBudget(r.Prices, r.Flags.Budget, now.Spent...)
	return nil
}

// save saves the state: first with the lease, without which the run is another worker's, then the rights, so that the
// record is never older than the file.
func (r *run) save(ctx context.Context) error {
	if err := r.keepLease(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	err := r.files.saveState(r.state)
	if r.Lease != nil && err != nil { // the lease has it
		r.Log.Warn("the file of the run was not written", "error", err)
		err = nil
	}
	return errors.Join(r.keepRights(), err)
}

// keepRights keeps the rights outside of the project, if they have changed.
func (r *run) keepRights() error {
	now := r.state.rights
	now.Seq = 0
	data, err := json.Marshal(now)
	if r.record == nil || r.unproven || err != nil || string(data) == r.recorded {
		return err
	}
	r.recorded = string(data)
	r.state.Seq++
	if data, err = json.Marshal(machineRecord{r.state.rights, process.Self()}); err != nil {
		return err
	}
	if err := r.record.Keep(context.Background(), r.state.SessionID, data); err != nil {
		r.Log.Warn("this machine cannot keep the rights of the run: --resume will ask for them again", "error", err)
	}
	return nil
}

// machineRecord is what this machine keeps of a run: the rights, and the process that worked on the run last.
type machineRecord struct {
	rights
	Process process.Mark `json:"process"`
}

// ProcessOf returns the process that worked last on the run of a session, by the records of this machine: the files in
// the project could name any process.
func ProcessOf(ctx context.Context, kept sdk.Rights, sessionID string) process.Mark {
	var found machineRecord
	_ = json.Unmarshal(kept.Kept(ctx, sessionID), &found) // a missing record names no process
	return found.Process
}

// tellEvent reports an event of the current stage.
func (r *run) tellEvent(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	e.Seq, e.At, e.SessionID = r.seq, r.Engine.Clock().UTC().Truncate(time.Millisecond), r.state.SessionID
	e.Stage = cmp.Or(e.Stage, r.session.CurrentStage)
	if err := r.files.logEvent(e); err != nil { // it is a record, and not a part of the run
		r.Log.Warn("the events of the run were not kept", "error", err)
	}
	if r.Tell != nil {
		r.Tell(e)
	}
}

// keepLease keeps the state with the lease, if there is one.
func (r *run) keepLease(ctx context.Context) error {
	if r.Lease == nil {
		return nil
	}
	data, err := workflow.Marshal(r.state)
	if err != nil {
		return err
	}
	out := Record{Data: data, Calls: r.state.Calls, Repeated: r.state.Repeated, Spent: r.budget.Report().Spent, Commit: r.state.Commit}
	if a := r.state.Attempt; a != nil {
		out.Asking = a.Call
	}
	return r.Lease.Keep(ctx, out)
}

// isYielding reports whether the program that runs this ends.
func (r *run) isYielding() bool {
	select {
	case <-r.Yield: // nil blocks
		return true
	default:
		return false
	}
}
