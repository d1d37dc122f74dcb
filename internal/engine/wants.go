package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Want is something of a project that counts only once the person has allowed it.
type Want struct {
	trust.Allowance
	// Use says what it is for.
	Use     string
	Allowed bool
	// SetBy says who has named a command.
	SetBy workflow.Setter
	// Note says why it is asked about once more.
	Note string
	// Scripts are the files of the project that the command names, as they are now. They
	// are allowed with it.
	Scripts []trust.Allowance
}

// Wants lists what a project would have the person allow: its verify commands, those that
// its runs have kept, the person's own, the files that they name where these have changed,
// the rubrics that it brings, and the repositories that it names.
func (e *Engine) Wants(req Request) (cwd string, wants []Want, err error) {
	p, err := e.home(req)
	if err != nil {
		return "", nil, err
	}
	defer p.close()
	w := wanted{Engine: e, p: p, have: e.permits(p)}
	w.commands()
	w.runs()
	w.scripts()
	for _, st := range p.cfg.Workflow.Stages {
		data, brought, err := p.ownRubric(st.ID)
		if err != nil {
			return "", nil, err
		}
		if brought {
			w.add(p.rubricAllowance(st.ID, data), string(st.ID))
		}
	}
	for _, source := range p.cfg.OwnSources {
		w.add(trust.Allowance{Project: p.dir.Path(), Kind: trust.KindSource, Text: source}, "agents and workflows")
	}
	return p.dir.Path(), w.list, nil
}

// Allow records that the person allows something, with the files that it names as they
// were shown.
func (e *Engine) Allow(ctx context.Context, w Want) error {
	if e.trust == nil {
		return fault.New(fault.Storage, "there is no state folder to keep it in").
			WithHint("set HOME, or XDG_STATE_HOME to an absolute path, where the program is started")
	}
	w.At, w.Files = e.Now(), w.Kind == trust.KindVerify || w.Kind == trust.KindOwnVerify
	for _, f := range w.Scripts { // first: a command whose files are not recorded would be told of all of them
		f.At = w.At
		if err := e.trust.Allow(ctx, f); err != nil {
			return err
		}
	}
	return e.trust.Allow(ctx, w.Allowance)
}

// wanted collects what the person is asked to allow.
type wanted struct {
	*Engine
	p    *Project
	have permits
	list []Want
}

// add adds something once, with all that it is for.
func (w *wanted) add(a trust.Allowance, use string) *Want {
	a.At = w.Now()
	for i := range w.list {
		if have := &w.list[i]; have.Kind == a.Kind && have.Text == a.Text {
			if use != "" {
				have.Use += ", " + use
			}
			return have
		}
	}
	w.list = append(w.list, Want{Allowance: a, Use: use, Allowed: w.trust != nil && w.trust.Allowed(a)})
	return &w.list[len(w.list)-1]
}

// command adds a verify command.
func (w *wanted) command(command string, by workflow.Setter, use string) *Want {
	a := trust.Allowance{Project: w.p.dir.Path(), Kind: trust.KindVerify, Text: verify.Canonical(command)}
	if by == workflow.SetByPerson {
		a.Kind = trust.KindOwnVerify
	}
	want := w.add(a, use)
	want.SetBy, want.Allowed = by, want.Note == "" && w.have.command(command, by) != nil
	want.Scripts = slices.DeleteFunc(w.p.scripts(command), func(f trust.Allowance) bool { return f.SHA256 == gone })
	for i := range want.Scripts {
		want.Scripts[i].At = a.At
	}
	return want
}

func (w *wanted) commands() {
	for _, stage := range config.Verified() {
		if command := w.p.cfg.Verify[stage]; command != "" {
			w.command(command, w.p.cfg.VerifyBy[stage], string(stage))
		}
	}
}

// maxRuns bounds how many active runs are looked into, those changed last.
const maxRuns = 20

// runs adds the commands that runs have kept and that are configured no more, and has
// those asked about again that a run would follow if they were allowed now.
func (w *wanted) runs() {
	q := store.Active()
	q.Limit = maxRuns
	page, err := w.p.backend.List(context.Background(), q)
	if err != nil {
		return // doctor says so
	}
	store.SortByAge(page.Sessions)
	for _, summary := range page.Sessions {
		s, err := w.p.backend.Get(context.Background(), summary.SessionID)
		if err != nil {
			continue
		}
		plans := w.p.plansFor(w.have, s.KeptVerify(), w.Now())
		for _, stage := range config.Verified() {
			w.run(s, stage, plans[stage].keep)
		}
	}
}

// run adds what one run waits for.
func (w *wanted) run(s *workflow.Session, stage workflow.StageID, kept workflow.VerifyCommand) {
	if kept.Instead == nil || kept.Accepted {
		return
	}
	by := w.p.cfg.VerifyBy[stage]
	if next := *kept.Instead; next != "" && w.have.command(next, by) != nil {
		want := w.command(next, by, "")
		want.Allowed = false
		want.Note = fmt.Sprintf("you allowed it before the run %s began, which is checked with %s; allow it again to have that run follow", s.TaskName, commandText(kept))
	}
	if w.have.command(kept.Command, kept.SetBy) == nil {
		w.command(kept.Command, kept.SetBy, string(stage)+" of the run "+s.TaskName)
	}
}

// scripts adds the files that allowed commands name and that are not as they were allowed.
func (w *wanted) scripts() {
	for _, want := range slices.Clone(w.list) {
		if !want.Allowed {
			continue
		}
		by := w.have.command(want.Text, want.SetBy)
		for _, c := range w.p.changedScripts(w.have, want.Text, *by) {
			script := w.add(c.Allowance, want.Text)
			script.Allowed, script.Note = false, c.what
		}
	}
}
