package engine

import (
	"context"
	"strconv"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// wait holds a status until the session has another revision, if it waits for the person to act.
// It holds no lock. stage is the one at which it waited, if it did. inVain is true if nothing
// has happened, and the caller knows the session.
func (r *run) wait(ctx context.Context) (stage workflow.Stage, inVain bool, err error) {
	if r.req.Wait == 0 || r.req.Hold == nil {
		return stage, false, nil
	}
	before, err := r.check.get(ctx)
	if err != nil || !before.CurrentState.WaitsForHuman() && !r.before(ctx, before).Stopped() {
		return stage, false, err
	}
	stage, _ = before.Definition().Stage(before.CurrentStage)
	limit := time.Duration(r.req.Wait) * time.Second
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l := r.project.Language(before.Objective)
	done := verify.Tell(ctx, l, r.req.Tell, l.Say("waiting for your decision on “%s”", before.TaskName), r.Clock, limit)
	r.req.Hold(waiting, r.project.Dir.Path(), strconv.Itoa(before.Revision), r.revision)
	done()
	if err := ctx.Err(); err != nil {
		return stage, false, err
	}
	r.project.Dir.ForgetFolders() // the person may have taken their time
	return stage, r.revision(ctx) == strconv.Itoa(before.Revision) && r.caller.wasShown(before.Revision), nil
}

// revision returns that of the session as it is stored now; "" if it cannot be read.
func (r *run) revision(ctx context.Context) string {
	s, err := r.project.Backend.Get(ctx, r.id)
	if err != nil {
		return ""
	}
	return strconv.Itoa(s.Revision)
}
