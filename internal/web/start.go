package web

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Runs starts and stops runs without a host. Each works in a process of its own, which outlives the dashboard.
type Runs interface {
	// Start starts or resumes a run in the folder of a project, and returns the name of its task once it has begun. The
	// error is the refusal that a terminal would show.
	Start(ctx context.Context, folder string, w Wish) (task string, err error)
	// Stop asks a run to end, as Ctrl+C does.
	Stop(ctx context.Context, folder, sessionID string) error
}

// Wish is the run that a person wants: the words of the options of bmad-mcp run. An empty one leaves the choice to the
// program.
type Wish struct {
	Objective string `json:"objective"`
	Workflow  string `json:"workflow"`
	Engine    string `json:"engine"`
	Model     string `json:"model"`
	Budget    string `json:"budget"`
	// Resume is the session to resume, which has its objective and workflow.
	Resume string `json:"-"`
}

// starter starts, stops and resumes runs without a host for the person of a paired browser.
type starter struct {
	runs     Runs       // nil where pages cannot start runs
	mu       sync.Mutex // while a run begins
	door     *door
	nonces   *nonces
	projects projects
	log      *slog.Logger
}

// workers are the workers that a person can choose, by their option of bmad-mcp run and their name.
var workers = []link{{"claude", "Claude Code"}, {"codex", "Codex"}, {"api", "Anthropic API"}, {"openai", "OpenAI API"}}

// startsRun is what the page for a new run shows.
var startsRun = shownFor{stage: "new"}

// begunRun is the answer to a start: the page of the run.
type begunRun struct {
	Href string `json:"href"`
}

// startRun starts a run for the person of a paired browser.
func (t *starter) startRun(a *asked) (any, error) {
	var given struct {
		Wish
		Project string `json:"project"`
		Nonce   string `json:"nonce"`
	}
	if err := t.door.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	p, err := t.projects.findByID(given.Project)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(given.Objective) == "":
		return nil, fault.New(fault.InvalidArgument, "the objective is missing").WithHint("say in one or two sentences what is to be built")
	}
	return t.launch(a, p, given.Wish, given.Nonce, startsRun)
}

// steerRun stops or resumes a run for the person of a paired browser.
func (t *starter) steerRun(a *asked) (any, error) {
	var given struct {
		Act    string `json:"act"`
		Budget string `json:"budget"`
		Nonce  string `json:"nonce"`
	}
	if err := t.door.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	s, p, err := t.projects.sessionOf(a)
	if err != nil {
		return nil, err
	}
	switch {
	case given.Act == "resume":
		return t.launch(a, p, Wish{Resume: s.SessionID, Budget: given.Budget}, given.Nonce, steersRun(s))
	case given.Act != "stop":
		return nil, fault.New(fault.InvalidArgument, "a run is stopped or resumed, and not %q", given.Act).WithHint("load the page again, which may be older than the program")
	case t.runs == nil:
		return nil, errNotHere()
	}
	_, release, err := t.nonces.take(given.Nonce, steersRun(s), t.door.now())
	if err != nil {
		return nil, err
	}
	if err := t.runs.Stop(a, p.Path, s.SessionID); err != nil {
		release()
		return nil, err
	}
	t.log.Info("a run was asked to end", "task", s.TaskName)
	return begunRun{p.Run(s.TaskName)}, nil
}

func errNotHere() error {
	return fault.New(fault.NotAllowed, "runs cannot be started or stopped from pages of this dashboard").WithHint("use a terminal: bmad-mcp run --help")
}

// launch has a process start or resume a run, once for each nonce, if no other run works in the project: nobody could
// tell the changes of the two apart.
func (t *starter) launch(a *asked, p folder, w Wish, nonce string, shown shownFor) (out begunRun, err error) {
	if t.runs == nil {
		return out, errNotHere()
	}
	_, release, err := t.nonces.take(nonce, shown, t.door.now())
	if err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if !t.mu.TryLock() {
		return out, fault.New(fault.Conflict, "another run is being started").WithHint("wait until it has begun, and press the button again")
	}
	defer t.mu.Unlock()
	if err := t.checkIdle(p); err != nil {
		return out, err
	}
	// A run that begins is told even if the page goes away meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a), maxWait)
	defer cancel()
	task, err := t.runs.Start(ctx, p.Path, w)
	if err != nil {
		return out, err
	}
	t.log.Info("a run was started", "task", task)
	return begunRun{p.Run(task)}, nil
}

// checkIdle returns an error if a run works in a project, or if the project is gone.
func (t *starter) checkIdle(p folder) error {
	open, err := t.projects.engine.Projects().Open(p.Path)
	if err != nil {
		return err
	}
	defer open.Close()
	ids, err := headless.AtWork(open.Dir)
	if err != nil || len(ids) == 0 {
		return err
	}
	name := ids[0]
	if kept, err := headless.Past(open.Dir, ids[0]); err == nil && kept != nil {
		name = kept.TaskName
	}
	return fault.New(fault.Conflict, "the run %s works in %s already, and nobody could separate the changes of the two", name, p.Name).
		WithHint("wait for it or stop it; in a terminal, a worktree of git for each lets them work at once")
}

// steersRun is the state that a page shows to stop or resume a run: any, since the run goes on meanwhile.
func steersRun(s *workflow.Session) shownFor { return shownFor{session: s.SessionID, stage: "run"} }
