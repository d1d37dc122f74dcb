package runner

import (
	"context"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
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

	// session and reply describe the session as it is; each step reads them anew.
	session *workflow.Session
	reply   *engine.Reply
	worked  int
	begun   map[workflow.StageID]int // rounds whose begin was told

	mu  sync.Mutex // of seq and files.events
	seq int
}

// ending is the end of a run.
type ending struct {
	reason  Reason
	why     lang.Text
	command string
}

func (r *run) close() error {
	defer r.project.Close()
	return r.files.close()
}

func (r *run) save() error { return r.files.save(r.state) }

func (r *run) at() point { return point{r.session.CurrentStage, r.session.Revision} }

// stage is the current one as it is now.
func (r *run) stage() workflow.Stage { return r.plan.definition.Current(r.session) }

// read reads where the session is.
func (r *run) read(ctx context.Context) error {
	at := project.Address{Cwd: r.project.Dir.Path(), Session: r.state.SessionID}
	r.project.Dir.ForgetFolders() // others may have worked in between
	for range 3 {
		s, _, err := r.Engine.Session(ctx, at)
		if err != nil {
			return err // the end of the run is reported with the session as it was
		}
		r.session = s
		action := workflow.ActionResume
		if !r.session.CurrentState.Active() {
			action = workflow.ActionStatus
		}
		reply, err := r.Engine.Do(ctx, engine.Request{Action: action, SessionID: r.state.SessionID, Cwd: at.Cwd, By: r.By, Inline: true})
		if err != nil {
			return err
		}
		if r.reply = reply; reply.Revision == s.Revision {
			return nil
		}
	}
	return fault.New(fault.Conflict, "the session %s changes while it is read", r.state.TaskName).WithHint("look who else works on it, then resume the run")
}

// tell reports an event.
func (r *run) tell(e Event, write bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	e.Seq, e.At, e.SessionID = r.seq, r.Engine.Clock().UTC().Truncate(time.Millisecond), r.state.SessionID
	if err := r.files.log(e, write); err != nil { // it is a record, and not a part of the run
		r.Log.Warn("the events of the run were not kept", "error", err)
	}
	if r.Tell != nil {
		r.Tell(e)
	}
}
