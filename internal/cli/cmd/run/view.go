package run

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// view shows the progress of a run: on a page, as lines, or as lines of JSON.
type view struct {
	term *terminal.Terminal
	page *runPage
	// lines is the output for people, nil if only a program reads.
	lines io.Writer
	// events is called with lines of JSON.
	events func(line []byte)
	// task is the name of the run's task, once it has begun.
	task string
}

// work is the call of a runner to make.
type work = func(*headless.Runner) (*headless.Result, error)

// Show has a runner do a run, and shows the progress and the result. events is a file for the events, "-" for
// standard output. task is the name of the run's task, "" for a run that has not begun.
func Show(term *terminal.Terminal, o headless.Options, events string, do work) (out *headless.Result, task string, err error) {
	v := &view{term: term}
	switch {
	case events == "-":
		v.events = func(line []byte) { _, _ = term.Out.Write(line) } // the run goes on without a reader
	case events != "":
		folder, err := durable.OpenDir(filepath.Dir(events))
		if err != nil {
			return nil, "", fault.From(err)
		}
		defer func() { _ = folder.Close() }()
		v.events = func(line []byte) {
			if err := folder.AppendLines(filepath.Base(events), line); err != nil {
				o.Log.Warn("an event was not written", "error", err)
			}
		}
	}
	out, err = v.watchRun(o, events, do)
	switch {
	case err == nil:
		err = v.printResult(out)
	case out != nil && (v.page != nil || v.lines != nil):
		v.printCost(out)
	}
	return out, v.task, err
}

// watchRun has a runner do a run, and shows its events.
func (v *view) watchRun(o headless.Options, events string, do work) (*headless.Result, error) {
	term := v.term
	switch {
	case term.JSON || events == "-":
	case term.Pretty():
		v.page = newRunPage(term, o.Engine.Clock)
		defer v.page.stopDrawing()
		if o.Person != nil {
			o.Person = pausing{v.page, o.Person}
		}
	default:
		v.lines = term.Out
	}
	o.Tell = v.showEvent
	return do(headless.New(o))
}

// showEvent shows an event.
func (v *view) showEvent(e headless.Event) {
	if e.TaskName != "" {
		v.task = e.TaskName
	}
	if v.events != nil {
		if data, err := workflow.Marshal(e); err == nil {
			v.events(append(data, '\n'))
		}
	}
	if v.page != nil {
		v.page.showEvent(e)
	}
	if v.lines != nil {
		if text := e.Line(v.term.Lang); text != "" {
			fmt.Fprintln(v.lines, text)
		}
	}
}

// pausing asks a person while a page is not drawn.
type pausing struct {
	page   *runPage
	person request.Channel
}

// Ask implements request.Channel.
func (p pausing) Ask(ctx context.Context, q gate.Question) (gate.Response, error) {
	p.page.pauseDrawing()
	defer p.page.resumeDrawing()
	return p.person.Ask(ctx, q)
}

// printResult prints the result of a run.
func (v *view) printResult(r *headless.Result) error {
	term := v.term
	if term.JSON {
		return term.PrintJSON(r)
	}
	if v.page == nil && v.lines == nil {
		return nil
	}
	term.Say("\n%s: %s", r.Session.TaskName, r.Why)
	if r.Reason == headless.Person {
		printWaiting(term, r)
	}
	if r.Resume != "" {
		term.Say("  go on:   %s", r.Resume)
	}
	v.printCost(r)
	if len(r.Unused) > 0 {
		term.Say("  unused:  nothing has asked for the answers %s", terminal.JoinWords(r.Unused))
	}
	switch {
	case r.Branch != "":
		term.Say("  branch:  %s, in %s", r.Branch, r.Worktree)
	case r.After == nil:
	case r.Moved != "":
		files := append(r.After.Files(), r.Committed...)
		slices.Sort(files)
		term.Say("  changed: %s; %s", changedFiles(slices.Compact(files)), r.Moved)
	case r.Reason != headless.Person:
		term.Say("  changed: %s, not committed", changedFiles(r.After.Files()))
	}
	return nil
}

// printCost prints the costs of a run.
func (v *view) printCost(r *headless.Result) {
	term := v.term
	reported := ""
	if r.Reported != nil {
		reported = term.Lang.Say(" (the workers say %s)", headless.Stated(*r.Reported))
	}
	term.Say("  cost:    %s%s, %d tokens", headless.Spending(term.Lang, r.Cost.Spent, r.Cost.Unknown), reported, r.Cost.Usage.Prompt()+r.Cost.Usage.Output)
	if r.Cost.Unknown {
		term.Say("           the prices of %s are not known; they can stand in %s", terminal.JoinWords(listUnpriced(r.Cost)), app.PricesFile())
	}
}

// listUnpriced returns the models in a cost without a price.
func listUnpriced(r price.Report) (models []string) {
	for _, l := range r.Models {
		if l.Spent == nil {
			models = append(models, terminal.OneLine(l.Model))
		}
	}
	return models
}

// maxChanged bounds the named changed files.
const maxChanged = 5

// changedFiles names files, at most maxChanged.
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

// printWaiting prints the pending decision or questions.
func printWaiting(term *terminal.Terminal, r *headless.Result) {
	s := r.Session
	var audit *float64
	if s.Audit != nil {
		audit = &s.Audit.Score
	}
	if s.State.Gated() {
		term.Say("  stage:   %s, round %d%s", s.Stage, s.Iteration, headless.Outcome(term.Lang, s.Score, audit, s.Verdict, ""))
	}
	if s.Draft != nil {
		term.Say("  draft:   %s", filepath.Join(r.Worktree, filepath.FromSlash(s.Draft.Path)))
	}
	for _, f := range s.Findings {
		term.Printf("    %s %s: %s\n", f.ID, f.Severity, terminal.OneLine(f.Problem))
	}
	for _, q := range s.Questions {
		term.Printf("    %s  %s\n", q.ID, terminal.OneLine(q.Question))
		if len(q.Options) > 0 {
			term.Printf("        (%s)\n", strings.Join(q.Options, " | "))
		}
	}
	if r.Command != "" {
		term.Say("  decide:  %s", r.Command)
	}
}

// dryRun prints the plan of a run.
func dryRun(ctx context.Context, term *terminal.Terminal, o headless.Options, objective string) error {
	plan, err := headless.New(o).Plan(ctx, objective)
	if err != nil {
		return err
	}
	if term.JSON {
		return term.PrintJSON(plan)
	}
	rows := [][]string{term.Header("STAGE\tWORKER\tMODEL\tGATE\tBECAUSE")}
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
	if err := term.Columns(rows[0], rows[1:]); err != nil {
		return err
	}
	ceiling := term.Lang.Say("no ceiling")
	if plan.Budget > 0 {
		ceiling = plan.Budget.String()
	}
	term.Say("\nWorkflow %s, gates: %s, budget: %s. Nothing was started.", plan.Workflow, plan.Gates, ceiling)
	if plan.Refused != "" {
		term.Say("A run would be refused now: %s. --allow-dirty lets it begin.", plan.Refused)
	}
	return nil
}
