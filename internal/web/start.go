package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
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

// newRunPage is the form for a new run.
type newRunPage struct {
	selection
	Workflows []engine.Workflow
	Nonce     string
	// Here reports whether runs can be started from the pages of this system, ReadOnly whether the pages only show.
	Here, ReadOnly bool
}

// workers are the workers that a person can choose, by their option of bmad-mcp run and their name.
var workers = []link{{"claude", "Claude Code"}, {"codex", "Codex"}, {"api", "Anthropic API"}, {"openai", "OpenAI API"}}

// startsRun is what the page for a new run shows.
var startsRun = shownFor{stage: "new"}

// showNewRun shows the form for a new run.
func (d *Dashboard) showNewRun(a *asked) (templ.Component, error) {
	a.page.Title = a.lang.Say("New run")
	a.page.Trail = []link{{"/runs", a.lang.Say("Runs")}}
	chosen, err := d.chooseProject(a, "/new")
	if err != nil {
		return nil, err
	}
	chosen.Searches = false
	out := newRunPage{selection: chosen, Here: d.o.Runs != nil, ReadOnly: d.door.readOnly}
	if !out.Here || out.ReadOnly || chosen.Project.ID == "" {
		return newRunScreen(a.lang, out), nil
	}
	out.Workflows, err = d.o.Engine.Workflows(addressOf(chosen.Project))
	out.Nonce = d.nonces.add(startsRun, d.door.now())
	return newRunScreen(a.lang, out), err
}

// begunRun is the answer to a start: the page of the run.
type begunRun struct {
	Href string `json:"href"`
}

// startRun starts a run for the person of a paired browser.
func (d *Dashboard) startRun(a *asked) (any, error) {
	var given struct {
		Wish
		Project string `json:"project"`
		Nonce   string `json:"nonce"`
	}
	if err := d.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	p, err := d.projects.findByID(given.Project)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(given.Objective) == "":
		return nil, fault.New(fault.InvalidArgument, "the objective is missing").WithHint("say in one or two sentences what is to be built")
	}
	return d.launch(a, p, given.Wish, given.Nonce, startsRun)
}

// steerRun stops or resumes a run for the person of a paired browser.
func (d *Dashboard) steerRun(a *asked) (any, error) {
	var given struct {
		Act    string `json:"act"`
		Budget string `json:"budget"`
		Nonce  string `json:"nonce"`
	}
	if err := d.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	s, p, err := d.projects.sessionOf(a)
	if err != nil {
		return nil, err
	}
	switch {
	case given.Act == "resume":
		return d.launch(a, p, Wish{Resume: s.SessionID, Budget: given.Budget}, given.Nonce, steersRun(s))
	case given.Act != "stop":
		return nil, fault.New(fault.InvalidArgument, "a run is stopped or resumed, and not %q", given.Act).WithHint("load the page again, which may be older than the program")
	case d.o.Runs == nil:
		return nil, errNotHere()
	}
	_, release, err := d.nonces.take(given.Nonce, steersRun(s), d.door.now())
	if err != nil {
		return nil, err
	}
	if err := d.o.Runs.Stop(a, p.Path, s.SessionID); err != nil {
		release()
		return nil, err
	}
	d.log.Info("a run was asked to end", "task", s.TaskName)
	return begunRun{p.Run(s.TaskName)}, nil
}

func errNotHere() error {
	return fault.New(fault.NotAllowed, "runs cannot be started or stopped from pages of this dashboard").WithHint("use a terminal: bmad-mcp run --help")
}

// launch has a process start or resume a run, once for each nonce, if no other run works in the project: nobody could
// tell the changes of the two apart.
func (d *Dashboard) launch(a *asked, p folder, w Wish, nonce string, shown shownFor) (out begunRun, err error) {
	if d.o.Runs == nil {
		return out, errNotHere()
	}
	_, release, err := d.nonces.take(nonce, shown, d.door.now())
	if err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if !d.starting.TryLock() {
		return out, fault.New(fault.Conflict, "another run is being started").WithHint("wait until it has begun, and press the button again")
	}
	defer d.starting.Unlock()
	if err := d.checkIdle(a, p); err != nil {
		return out, err
	}
	// A run that begins is told even if the page goes away meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a), maxWait)
	defer cancel()
	task, err := d.o.Runs.Start(ctx, p.Path, w)
	if err != nil {
		return out, err
	}
	d.log.Info("a run was started", "task", task)
	return begunRun{p.Run(task)}, nil
}

// checkIdle returns an error if a run works in a project, or if the project is gone.
func (d *Dashboard) checkIdle(a *asked, p folder) error {
	open, err := d.o.Engine.Projects().Open(p.Path)
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

// redirectRun redirects from the former address of a run without a host.
func (d *Dashboard) redirectRun(w http.ResponseWriter, r *http.Request) {
	a := &asked{Context: r.Context(), r: r, lang: languageOf(w, r)}
	s, p, err := d.projects.sessionOf(a)
	if err == nil {
		http.Redirect(w, r, p.Run(s.TaskName), http.StatusSeeOther)
		return
	}
	d.screens.handleScreen("run", func(*asked) (templ.Component, error) { return nil, err }).ServeHTTP(w, r)
}
