package engine

import (
	"context"
	"strconv"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// status describes a session and changes nothing.
func (r *run) status(ctx context.Context) (Outcome, error) {
	waited, inVain, err := r.waitForChange(ctx)
	if err != nil {
		return Outcome{}, err
	}
	s, err := r.readStanding(ctx)
	if err != nil {
		return Outcome{}, err
	}
	message, depth := words.Message, reply.Light
	switch {
	case inVain:
		message = words.StillWaiting
	case waited.ID != "": // the caller works on at once, and has no briefing for it
		depth = reply.DepthFor(s, waited)
	}
	out, err := r.buildReply(ctx, s, depth, r.warnOfWorkers(ctx, s)+message(s)+words.Others(s.Language, r.project.Others))
	if err != nil {
		return Outcome{}, err
	}
	out.AddStages(s)
	out.Allowed = workflow.Names(gate.Allowed(s))
	if inVain {
		out.Unmoved()
	}
	if r.req.View == "" {
		return out, nil
	}
	res, err := r.engine.readView(ctx, r.project, s.Session, r.check, r.req.View)
	out.Show(res)
	return out, err
}

// readStanding returns the session for an action that only describes it.
func (r *run) readStanding(ctx context.Context) (*standing.Standing, error) {
	s, err := r.check.readSession(ctx)
	if err != nil {
		return nil, err
	}
	st := r.gatherAll(ctx, s)
	if err := r.checkAllowed(ctx, st); err != nil {
		return nil, err
	}
	r.disk.AdoptSprints(ctx, st) // to be shown; nothing is stored
	return st, nil
}

// listSessions describes the sessions of a project without exactly one active.
func (e *Engine) listSessions(ctx context.Context, req request.Request, p *project.Project) (Outcome, error) {
	all, err := p.Sessions(ctx)
	if err != nil {
		return Outcome{}, err
	}
	page, err := all.Page(store.Query{Limit: reply.Listed})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Reply: reply.OfProject(p.Dir.Path(), p.Config.Replies == config.RepliesLean)}
	written := ""
	if len(page.Sessions) > 0 { // the one changed last
		written = page.Sessions[0].Objective
	}
	l := p.Language(written)
	out.Unreadable = sayBroken(page.Broken, l)
	message := words.List{Language: l, Total: page.Total, Active: page.Active, Broken: len(store.CannotBeRead(page.Broken)), Names: e.options.Names}
	out.Sessions = e.sessionRows(ctx, p, page.Sessions, 200, true)
	for i, s := range page.Sessions {
		e.memory.callerOf(p, s.SessionID, req.Client).noteTold(s.Revision)
		message.Add(s, out.Sessions[i].Integrity != "", out.Sessions[i].Altered)
	}
	switch {
	case page.Active > 0: // more than one, or an unreadable one beside it
		out.InteractionType, out.RequiresUserConfirmation = reply.UserDecision, true
		out.PendingUserActions = []string{"choose_session", "start"}
	case page.Total > 0:
		out.PendingUserActions = []string{"start", "reopen"}
	}
	out.UserMessage = message.Text()
	if req.View == "" {
		return out, nil
	}
	if req.View != ViewSessions && req.View != ViewWorkflow {
		return Outcome{}, fault.New(fault.InvalidArgument, "%q can be shown of one run, and the project has not exactly one active", req.View).
			WithHint("pass session_id; status without view lists the runs")
	}
	res, err := e.projectView(ctx, p, req.View)
	out.Show(res)
	return out, err
}

// waitForChange holds a status until the session has another revision, if it waits for the person to act.
// It holds no lock. stage is the one at which it waited, if it did. inVain is true if nothing
// has happened, and the caller knows the session.
func (r *run) waitForChange(ctx context.Context) (stage workflow.Stage, inVain bool, err error) {
	if r.req.Wait == 0 || r.req.Hold == nil {
		return stage, false, nil
	}
	before, err := r.check.readSession(ctx)
	if err != nil {
		return stage, false, err
	}
	if !before.CurrentState.WaitsForHuman() && !r.gatherNeeded(ctx, before).Stopped() {
		return stage, false, nil
	}
	stage, _ = before.Definition().Stage(before.CurrentStage)
	limit := time.Duration(r.req.Wait) * time.Second
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l := r.project.Language(before.Objective)
	done := verify.Tell(ctx, l, r.req.Tell, l.Say("waiting for your decision on “%s”", before.TaskName), r.engine.Clock, limit)
	r.req.Hold(waiting, r.project.Dir.Path(), strconv.Itoa(before.Revision), r.storedRevision)
	done()
	if err := ctx.Err(); err != nil {
		return stage, false, err
	}
	r.project.Dir.ForgetFolders() // the person may have taken their time
	return stage, r.storedRevision(ctx) == strconv.Itoa(before.Revision) && r.caller.wasShown(before.Revision), nil
}

// storedRevision returns the revision of the session as stored now; "" if it cannot be read.
func (r *run) storedRevision(ctx context.Context) string {
	s, err := r.project.Backend.Get(ctx, r.id)
	if err != nil {
		return ""
	}
	return strconv.Itoa(s.Revision)
}
