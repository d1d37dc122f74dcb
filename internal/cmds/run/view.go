package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/runner"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// View shows a run as it goes: on a page, as lines, or as lines of JSON.
type View struct {
	app  *app.App
	page *runPage
	// lines is nil if only a program reads.
	lines io.Writer
	// events takes lines of JSON.
	events func(line []byte)
	closed sync.Once
	// task is the name of the run's task, once it has begun.
	task string
	// folder holds the file of events; nil if there is none.
	folder *durable.Dir
}

// NewView returns the view of a run whose events go to a file, "-" for standard output.
func NewView(a *app.App, events string) (v *View, err error) {
	v = &View{app: a}
	switch {
	case events == "-":
		v.events = func(line []byte) { _, _ = a.Out.Write(line) } // a reader that has gone does not end the run
	case events != "":
		if v.folder, err = durable.OpenDir(filepath.Dir(events)); err != nil {
			return nil, fault.From(err)
		}
		v.events = func(line []byte) {
			if err := v.folder.AppendLines(filepath.Base(events), line); err != nil {
				a.Log.Warn("an event was not written", "error", err)
			}
		}
	}
	switch {
	case a.JSON || events == "-":
	case terminal.IsTerminal(a.Raw) && os.Getenv("TERM") != "dumb":
		v.page = newRunPage(a)
	default:
		v.lines = a.Out
	}
	return v, nil
}

// Tell shows an event.
func (v *View) Tell(e runner.Event) {
	if e.TaskName != "" {
		v.task = e.TaskName
	}
	if v.events != nil {
		if data, err := workflow.Marshal(e); err == nil {
			v.events(append(data, '\n'))
		}
	}
	if v.page != nil {
		v.page.tell(e)
	}
	if v.lines != nil {
		if text := e.Line(v.app.Lang); text != "" {
			fmt.Fprintln(v.lines, text)
		}
	}
}

// Close ends the page. It may be called more than once.
func (v *View) Close() {
	v.closed.Do(func() {
		if v.page != nil {
			v.page.close()
		}
		if v.folder != nil {
			_ = v.folder.Close()
		}
	})
}

// Asking returns a channel that asks the person of another while the page rests.
func (v *View) Asking(person request.Channel) request.Channel { return pausing{v, person} }

// pausing asks the person while the page rests.
type pausing struct {
	view *View
	request.Channel
}

// Ask implements request.Channel.
func (p pausing) Ask(ctx context.Context, q gate.Question) (gate.Response, error) {
	if p.view.page != nil {
		p.view.page.rest()
		defer p.view.page.wake()
	}
	return p.Channel.Ask(ctx, q)
}

// End prints the result of a run.
func (v *View) End(r *runner.Result) error {
	a := v.app
	if a.JSON {
		return a.PrintJSON(r)
	}
	if v.page == nil && v.lines == nil {
		return nil
	}
	a.Say("\n%s: %s", r.Session.TaskName, r.Why)
	if r.Reason == runner.Person {
		printWaiting(a, r)
	}
	if r.Resume != "" {
		a.Say("  go on:   %s", r.Resume)
	}
	reported := ""
	if r.Reported != nil {
		reported = a.Lang.Say(" (the engines say $%.2f)", *r.Reported)
	}
	a.Say("  cost:    %s%s, %d tokens", runner.Spending(a.Lang, r.Cost.Spent, r.Cost.Unknown), reported, r.Cost.Usage.Prompt()+r.Cost.Usage.Output)
	if r.Cost.Unknown {
		a.Say("           the prices of %s are not known; they can stand in %s", terminal.JoinWords(listUnpriced(r.Cost)), app.PricesFile())
	}
	if len(r.Unused) > 0 {
		a.Say("  unused:  nothing has asked for the answers %s", terminal.JoinWords(r.Unused))
	}
	if r.After != nil && r.Reason != runner.Person {
		a.Say("  changed: %s, not committed", changedFiles(r.After.Files()))
	}
	return nil
}

// listUnpriced lists the models of a cost that have no price.
func listUnpriced(r price.Report) (models []string) {
	for _, l := range r.Models {
		if l.Spent == nil {
			models = append(models, terminal.OneLine(l.Model))
		}
	}
	return models
}

// maxChanged bounds the changed files that are named.
const maxChanged = 5

// changedFiles names files, or some of many.
func changedFiles(names []string) lang.Text {
	var shown []string
	for _, name := range names[:min(len(names), maxChanged)] {
		shown = append(shown, terminal.OneLine(name))
	}
	switch more := len(names) - len(shown); {
	case len(names) == 0:
		return lang.T("%s", lang.Count(0, "file"))
	case more > 0:
		return lang.T("%s (%s and %d more)", lang.Count(len(names), "file"), terminal.JoinWords(shown), more)
	}
	return lang.T("%s (%s)", lang.Count(len(names), "file"), terminal.JoinWords(shown))
}

// printWaiting prints the decision or questions that wait for the person.
func printWaiting(a *app.App, r *runner.Result) {
	s := r.Session
	var audit *float64
	if s.Audit != nil {
		audit = &s.Audit.Score
	}
	if s.State.Gated() {
		a.Say("  stage:   %s, round %d%s", s.Stage, s.Iteration, runner.Outcome(a.Lang, s.Score, audit, s.Verdict, ""))
	}
	if s.Draft != nil {
		a.Say("  draft:   %s", s.Draft.Path)
	}
	for _, f := range s.Findings {
		fmt.Fprintf(a.Out, "    %s %s: %s\n", f.ID, f.Severity, terminal.OneLine(f.Problem))
	}
	for _, q := range s.Questions {
		fmt.Fprintf(a.Out, "    %s  %s\n", q.ID, terminal.OneLine(q.Question))
		if len(q.Options) > 0 {
			fmt.Fprintf(a.Out, "        (%s)\n", strings.Join(q.Options, " | "))
		}
	}
	if r.Command != "" {
		a.Say("  decide:  %s", r.Command)
	}
}

// dryRun prints the plan of a run.
func dryRun(ctx context.Context, a *app.App, o runner.Options, objective string) error {
	plan, err := runner.New(o).Plan(ctx, objective)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(plan)
	}
	rows := [][]string{a.Header("STAGE\tENGINE\tMODEL\tGATE\tBECAUSE")}
	for _, s := range plan.Stages {
		gate := string(s.Gate)
		if s.Score != nil {
			gate = fmt.Sprintf("%s %g %s", s.Gate, *s.Score, s.Scoring)
		}
		if s.Policy == workflow.GateStrict {
			gate += ", " + string(s.Policy)
		}
		row := []string{string(s.Stage), s.Engine, s.Model, gate, s.Why}
		if s.Engine == "" {
			row[1], row[4] = "–", s.Document
		}
		rows = append(rows, row)
	}
	if err := terminal.Columns(a.Out, rows); err != nil {
		return err
	}
	ceiling := a.Lang.Say("no ceiling")
	if plan.Budget > 0 {
		ceiling = plan.Budget.String()
	}
	a.Say("\nWorkflow %s, gates: %s, budget: %s. Nothing was started.", plan.Workflow, plan.Gates, ceiling)
	if plan.Refused != "" {
		a.Say("A run would be refused now: %s. --allow-dirty lets it begin.", plan.Refused)
	}
	return nil
}
