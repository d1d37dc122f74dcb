package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
)

// Projects finds and opens the projects.
func (e *Engine) Projects() *project.Finder { return e.options.Projects }

// Sessions returns every readable session of a project in short, the oldest first, and an error text for each
// other one.
func (e *Engine) Sessions(ctx context.Context, at project.Address) (sessions []workflow.Summary, unreadable []string, cwd string, err error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return nil, nil, "", err
	}
	defer p.Close()
	all, err := p.Sessions(ctx)
	sessions = slices.Clone(all.Sessions)
	store.SortByAge(sessions)
	return sessions, sayBroken(all.Broken, p.Language("")), p.Dir.Path(), err
}

func sayBroken(broken []store.Broken, l lang.Language) []string {
	out := make([]string, len(broken))
	for i, b := range broken {
		out[i] = lang.Of(b.Err).In(l)
	}
	return out
}

// maxLooked bounds the session files read for one answer about their names.
const maxLooked = 100

// Known returns the sessions known at a bounded cost, changed last first, and the task names of others. Of a
// listed project these are all sessions.
func (e *Engine) Known(ctx context.Context, at project.Address) (known []workflow.Summary, others []string, err error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	all, err := p.Backend.Latest(ctx, maxLooked)
	if err != nil || all.Unread == 0 {
		return all.Sessions, nil, err
	}
	names, err := p.Backend.TaskNames(ctx)
	taken := map[string]bool{}
	for _, s := range all.Sessions {
		taken[s.TaskName] = true
	}
	return all.Sessions, slices.DeleteFunc(names, func(name string) bool { return taken[name] }), err
}

// Session returns one session in full, and the project folder.
func (e *Engine) Session(ctx context.Context, at project.Address) (s *workflow.Session, cwd string, err error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return nil, "", err
	}
	defer p.Close()
	s, err = p.Backend.Get(ctx, id)
	return s, p.Dir.Path(), err
}

// GateAction returns the session waiting for a decision, and the deciding action.
func (e *Engine) GateAction(ctx context.Context, at project.Address) (workflow.Action, *workflow.Session, error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return "", nil, err
	}
	switch {
	case s.GateMet():
		return workflow.ActionConfirm, s, nil
	case !s.CurrentState.Gated() && isAtWorkers(ctx, p, s):
		return "", nil, words.NothingWaitsAtWorkers(s)
	case !s.CurrentState.Gated():
		return "", nil, words.NothingWaits(s)
	}
	return s.CurrentState.GateAction(), s, nil
}

// Inspect returns one session in full, the result of checking the session and the approved texts, and the project
// folder.
func (e *Engine) Inspect(ctx context.Context, at project.Address) (s *workflow.Session, found workflow.Verification, cwd string, err error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return nil, found, "", err
	}
	defer p.Close()
	s, found, err = e.inspectIn(ctx, p, id)
	return s, found, p.Dir.Path(), err
}

// inspectIn is Inspect in an open project.
func (e *Engine) inspectIn(ctx context.Context, p *project.Project, id string) (*workflow.Session, workflow.Verification, error) {
	check := e.keeper.newCheck(p, id)
	s, err := check.readSession(ctx)
	if err == nil {
		check.found.Altered = documents.On(p).Altered(ctx, s, check.found)
	}
	return s, check.found, err
}

// Trace follows the requirements of a run to the evidence, and returns the texts and reports with it.
func (e *Engine) Trace(ctx context.Context, at project.Address) (out trace.Trace, of trace.Facts, err error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return out, of, err
	}
	defer p.Close()
	s, found, err := e.inspectIn(ctx, p, id)
	if err != nil {
		return out, of, err
	}
	of = documents.On(p).GatherTrace(ctx, s, found)
	return trace.Link(of), of, nil
}

// Changed returns the sessions of a project changed by other hands, by their ids. Unless all is set, it verifies
// only some of the sessions without a record.
func (e *Engine) Changed(ctx context.Context, at project.Address, sessions []workflow.Summary, all bool) (map[string]workflow.Verification, error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return e.keeper.findChanged(ctx, p, sessions, all), ctx.Err()
}

// Histories checks all sessions of a project, and returns their number and the ids of recorded sessions without a
// file. It calls found for each session changed by other hands, and each active one with a changed approved text:
// one after the other, in any order.
func (e *Engine) Histories(ctx context.Context, at project.Address, found func(s *workflow.Summary, v workflow.Verification)) (n int, gone []string, err error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return 0, nil, err
	}
	defer p.Close()
	all, err := p.Sessions(ctx)
	if err != nil {
		return 0, nil, err
	}
	e.keeper.checkEach(ctx, p, all.Sessions, func(s *workflow.Summary, signer workflow.Signer, c *workflow.Checkpoint) workflow.Verification {
		return e.keeper.checkStored(ctx, p, s.SessionID, signer, c, s.CurrentState.Active())
	}, func(s *workflow.Summary, v workflow.Verification) {
		if !v.Sound() || len(v.Altered) > 0 {
			found(s, v)
		}
	})
	return len(all.Sessions), e.keeper.missingSessions(ctx, p), ctx.Err()
}

// Round is one submission of a stage.
type Round = documents.Round

// SavedRound stands for the saved artifact in place of an iteration.
const SavedRound = documents.Saved

// Rounds returns the submissions of a stage, the oldest first, without their texts.
func Rounds(s *workflow.Session, stage workflow.StageID) []Round { return documents.Rounds(s, stage) }

// Submissions returns the texts of some submissions of a stage, by iteration, or of the saved artifact as it is
// now.
func (e *Engine) Submissions(ctx context.Context, at project.Address, stage workflow.StageID, iterations ...int) ([]Round, error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	disk, out := documents.On(p), make([]Round, len(iterations))
	for i, n := range iterations {
		if out[i], err = disk.ReadRound(ctx, s, stage, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// MaxBoard is the most runs of a project that a face lists beside other projects; the ones changed last are
// listed.
const MaxBoard = 200

// Board has the sessions of a project changed last.
type Board struct {
	// Cwd is the project's folder.
	Cwd string
	// rows are the sessions, changed last first.
	Rows []Row
	// More is true if older ones were left out.
	More bool
	// Broken has an error text for each unreadable session.
	Broken []string
}

// Latest returns at most n sessions of a project, changed last first, without a check: at a small part of the price
// of [Engine.Board], which has the same ones.
func (e *Engine) Latest(ctx context.Context, at project.Address, n int) ([]workflow.Summary, error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	all, err := p.Backend.Latest(ctx, n)
	return all.Sessions[:min(n, len(all.Sessions))], err
}

// Row is a session on a board.
type Row struct {
	workflow.Summary
	// Found is the result of checking the session; it is sound if it was not checked.
	Found workflow.Verification
	// Homeless is the folder of the run's worktree if that was removed while the run is under way, else "".
	Homeless string
}

// Board returns at most n sessions of a project, at a cost nearly independent of their total. Broken sessions are
// described in the language l.
func (e *Engine) Board(ctx context.Context, at project.Address, n int, l lang.Language) (Board, error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return Board{}, err
	}
	defer p.Close()
	all, err := p.Backend.Latest(ctx, n)
	if err != nil {
		return Board{}, err
	}
	listed := all.Sessions[:min(n, len(all.Sessions))]
	board := Board{Cwd: p.Dir.Path(), More: all.Unread > 0 || len(all.Sessions) > n, Broken: sayBroken(all.Broken, l)}
	changed := e.keeper.findChanged(ctx, p, listed, false)
	for _, s := range listed {
		board.Rows = append(board.Rows, Row{Summary: s, Found: changed[s.SessionID], Homeless: missingWorktree(ctx, p, s)})
	}
	return board, ctx.Err()
}

// Homeless returns the folder of the worktree of a session's run if that was removed while the run is under way, else "". The
// session is of the project in a folder.
func (e *Engine) Homeless(folder string, s *workflow.Session) string {
	if s.Branch == "" {
		return ""
	}
	p, err := e.Projects().At(project.Address{Cwd: folder})
	if err != nil {
		return ""
	}
	defer p.Close()
	return p.MissingWorktree(s)
}

// missingWorktree returns the folder of the worktree of a run that is gone while the run is under way, else "". A run without
// a branch costs no look at the session.
func missingWorktree(ctx context.Context, p *project.Project, of workflow.Summary) string {
	if !of.CurrentState.Active() || p.IsShared() || !p.HasBranch(of.TaskName) {
		return ""
	}
	s, err := p.Backend.Get(ctx, of.SessionID)
	if err != nil { // it is reported as one that cannot be read
		return ""
	}
	return p.MissingWorktree(s)
}

// Wants lists the things in a project waiting for the person's permission.
func (e *Engine) Wants(at project.Address) (cwd string, wants []permission.Want, err error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	if wants, err = e.person.In(p).Wants(); err != nil {
		return "", nil, err
	}
	return p.Dir.Path(), wants, nil
}

// Workflow is a workflow in a list.
type Workflow struct {
	config.Workflow
	// Default is true for the workflow of runs without a name for one, Allowed if it can be started.
	Default bool
	Allowed bool
}

// Workflows lists the workflows of a project, the built-in ones first.
func (e *Engine) Workflows(at project.Address) ([]Workflow, error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	guard, all := e.person.In(p), p.Config.Workflows()
	out := make([]Workflow, len(all))
	for i, w := range all {
		out[i] = Workflow{Workflow: w, Default: w.Name == p.Config.Workflow, Allowed: guard.MayFollow(w)}
	}
	return out, nil
}

// Stages lists the stages of all allowed workflows of a project, each once; without a project, of the built-in
// workflows.
func (e *Engine) Stages(at project.Address) []workflow.Stage {
	all, err := e.Workflows(at)
	if err != nil {
		return workflow.StagesOf(workflow.Builtins()...)
	}
	var usable []*workflow.Definition
	for _, w := range all {
		if w.Allowed {
			usable = append(usable, w.Definition)
		}
	}
	return workflow.StagesOf(usable...)
}
