package permission

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// keptOutput bounds the kept output of a command, in bytes of the end.
const keptOutput = 4000

// Evidence runs the verify command for the work handed in or judged at a stage, before any lock is taken. It
// returns nil if there is none, or if the evidence handed in with the work is enough.
func (g *Guard) Evidence(ctx context.Context, tell func(verify.Notice), s *standing.Standing) *workflow.Evidence {
	stage := s.Stage.VerifiedBy()
	if checked, _ := s.Workflow.Stage(stage); !checked.Verify {
		return nil
	}
	kept := g.planVerify(stage, s.Session.KeptVerify()[stage], g.storedNow()).Keep
	if kept.Command == "" {
		return nil
	}
	if e := s.Session.Record(stage).Evidence; stage != s.Stage.ID && e != nil && e.NotRun == "" {
		if kept.Instead == nil && e.ChangedTo == nil {
			return nil
		}
		seen := *e // of the time when the work was handed in, compared with the present configuration
		seen.Notes = g.scriptNotes(s.Language, kept)
		return noteDifference(s.Language, &seen, kept)
	}
	return noteDifference(s.Language, g.runVerify(ctx, tell, kept, verify.Limits{Tail: keptOutput, Language: s.Language}), kept)
}

// Runs returns the server's own runs of the checks named in a report: for the verify command the run of this
// submission, and for each command in the person's settings one run, if the person has allowed it here.
func (g *Guard) Runs(ctx context.Context, tell func(verify.Notice), s *standing.Standing, verified *workflow.Evidence, checks []workflow.Check) []workflow.Evidence {
	var out []workflow.Evidence
	if e := cmp.Or(verified, s.Session.Evidence(s.Stage)); e != nil && e.Changed == "" {
		out = append(out, *e)
	}
	for _, command := range g.project.Config.Checks {
		named := slices.ContainsFunc(checks, func(c workflow.Check) bool { return strings.TrimSpace(c.Command) == command })
		ran := slices.ContainsFunc(out, func(e workflow.Evidence) bool { return e.Command == command && e.NotRun == "" })
		if named && !ran {
			kept := workflow.VerifyCommand{Command: command, SetBy: workflow.SetByPerson}
			out = append(out, *g.runVerify(ctx, tell, kept, verify.Limits{Tail: keptOutput, Language: s.Language}))
		}
	}
	return out
}

// runVerify runs a command, if the person has allowed it here.
func (g *Guard) runVerify(ctx context.Context, tell func(verify.Notice), kept workflow.VerifyCommand, limits verify.Limits) *workflow.Evidence {
	allowed := g.findPermit(kept)
	if allowed == nil {
		return &workflow.Evidence{Command: kept.Command, SetBy: kept.SetBy, At: g.storedNow(), NotRun: g.notAllowed(kept).In(limits.Language)}
	}
	notes := g.scriptNotes(limits.Language, kept)
	g.bindAllowance(ctx, kept, *allowed)
	limits.Timeout = g.project.Config.VerifyTimeout
	defer g.reportRunning(ctx, tell, kept.Command, limits)()
	e := verify.Run(ctx, g.project.Dir.Path(), kept.Command, g.Now, limits)
	e.At, e.SetBy, e.Notes = e.At.UTC().Truncate(time.Millisecond), kept.SetBy, notes
	return &e
}

// reportRunning reports a running command until done is called.
func (g *Guard) reportRunning(ctx context.Context, to func(verify.Notice), command string, limits verify.Limits) (done func()) {
	l := limits.Language
	return verify.Tell(ctx, l, to, l.Say("running `%s`", visible.Fit(command, 120)), g.Now, limits.Timeout)
}

// noteDifference adds to the evidence how the configuration differs from the session's command,
// which is an objection until the person has accepted it.
func noteDifference(l lang.Language, e *workflow.Evidence, kept workflow.VerifyCommand) *workflow.Evidence {
	e.Changed, e.ChangedTo = "", nil
	switch {
	case kept.Instead == nil:
	case kept.Accepted:
		e.Notes = append(e.Notes, l.Say("%s, which you have accepted", words.Instead(*kept.Instead)))
	default:
		e.Changed, e.ChangedTo = words.Instead(*kept.Instead).In(l), kept.Instead
	}
	return e
}

// Opposes returns how the evidence contradicts a pass of the current stage: evidence of the stage's own command,
// or of the one run when the work was handed in.
func Opposes(s *standing.Standing, now *workflow.Evidence, verdict workflow.Verdict) []lang.Text {
	by := s.Stage.VerifiedBy()
	if now == nil && by != s.Stage.ID {
		now = s.Session.Record(by).Evidence
	}
	if now == nil || !verdict.Passes() {
		return nil
	}
	var out []lang.Text
	switch {
	case now.NotRun != "": // it proves nothing
		out = append(out, lang.T("nothing shows it: the verify command %s", words.Result(now)))
	case now.Failed():
		out = append(out, lang.T("the verify command says no: %s", words.Result(now)))
	}
	if now.Changed != "" {
		out = append(out, lang.T("the verify command was changed during the run: %s; `%s` was checked with", now.Changed, visible.Fit(now.Command, 120)))
	}
	return out
}

// findPermit returns the allowance by which a session's command may run here.
func (g *Guard) findPermit(kept workflow.VerifyCommand) *trust.Allowance {
	return g.permits().Command(kept.Command, kept.SetBy)
}

// notAllowed says why a command may not run here, and how to allow it.
func (g *Guard) notAllowed(kept workflow.VerifyCommand) lang.Text {
	if g.Consent == nil {
		return words.NotAllowed(g.Names)
	}
	list, err := g.Consent.Allowances()
	if err != nil {
		return lang.T("what you have allowed cannot be read, so nothing is; in a terminal: %s allow", g.Names.Program)
	}
	known := trust.Permits(list).Command(kept.Command, kept.SetBy)
	switch {
	case known == nil:
		return words.NotAllowed(g.Names)
	case known.Project == trust.PathOf(g.project.AllowedAs()):
		return lang.T("%s (what you allowed at this path was for another project, or its run state was cleared since)", words.NotAllowed(g.Names))
	}
	// The other project is not named: the client may have no access to the folder.
	return lang.T("%s (you have in another one; each is asked about by itself, a copy or worktree too)", words.NotAllowed(g.Names))
}

// bindAllowance binds an allowance of an older version to this project, with the present files named in the
// command.
func (g *Guard) bindAllowance(ctx context.Context, kept workflow.VerifyCommand, a trust.Allowance) {
	if a.ProjectID != "" {
		return
	}
	err := g.Consent.Bind(ctx, a.Project)
	for _, f := range trust.Scripts(g.project.Dir, kept.Command) {
		if err == nil && !f.Missing() {
			f.At = g.storedNow()
			err = g.Consent.Allow(ctx, f)
		}
	}
	if err != nil {
		g.Log.Warn("the allowance was not bound to the project", "error", err)
	}
}

// scriptNotes names the changed files of a command allowed before.
func (g *Guard) scriptNotes(l lang.Language, kept workflow.VerifyCommand) (notes []string) {
	var texts []lang.Text
	if a := g.findPermit(kept); a != nil {
		for _, c := range g.permits().Changed(trust.Scripts(g.project.Dir, kept.Command), kept.Command, *a) {
			texts = append(texts, c.Sentence)
		}
	}
	for _, note := range words.Scripts(texts, g.Names) {
		notes = append(notes, note.In(l))
	}
	return notes
}

// planVerify decides between a session's kept command for a stage and the configured one.
func (g *Guard) planVerify(stage workflow.StageID, kept workflow.VerifyCommand, at time.Time) verify.Plan {
	c := g.project.Config
	now := verify.Configured{Command: c.Verify[stage], By: c.VerifyBy[stage]}
	if own, isSet := c.PersonVerify[stage]; isSet {
		now.Person = &own
	}
	if a := g.permits().Command(now.Command, now.By); now.Command != "" && a != nil {
		now.Allowed = &a.At
	}
	return verify.NewPlan(kept, now, at)
}

// verifiableStages returns the stages of a workflow whose submission a verify command can check.
func verifiableStages(w *workflow.Definition) []workflow.StageID {
	var out []workflow.StageID
	for _, st := range w.Stages {
		if st.Verify {
			out = append(out, st.ID)
		}
	}
	return out
}

// KeepVerify gives a new session the verify commands.
func (g *Guard) KeepVerify(s *workflow.Session) {
	commands := map[workflow.StageID]workflow.VerifyCommand{}
	for _, stage := range verifiableStages(s.Definition()) {
		if keep := g.planVerify(stage, workflow.VerifyCommand{}, s.CreatedAt).Keep; keep.Command != "" {
			commands[stage] = keep
		}
	}
	if len(commands) > 0 {
		s.History[0].VerifyCommands = s.KeepVerify(commands)
	}
}

// NoteVerify records in the history changes of the session's verify commands since the last entry, in an entry
// with the fields of note.
func (g *Guard) NoteVerify(s *standing.Standing, note workflow.Transition) {
	next := s.Session.KeptVerify()
	edited := !workflow.SameVerifyCommands(s.Session.VerifyCommands, next)
	if next == nil {
		next = map[workflow.StageID]workflow.VerifyCommand{}
	}
	var news []string
	stages := map[string][]string{}
	for _, stage := range verifiableStages(s.Workflow) {
		plan := g.planVerify(stage, next[stage], note.At)
		text := planText(s.Language, plan)
		if text == "" {
			continue
		}
		if stages[text] == nil {
			news = append(news, text)
		}
		stages[text] = append(stages[text], string(stage))
		next[stage] = plan.Keep
	}
	for i, text := range news {
		news[i] = s.Say("verify of %s: %s", strings.Join(stages[text], ", "), text)
	}
	if edited {
		news = append(news, s.Say("verify: the session file was edited, and the commands of its history count"))
	}
	if len(news) == 0 {
		return
	}
	note.Event, note.Policy, note.VerifyCommands = workflow.EventPolicyChanged, strings.Join(news, "; "), s.Session.KeepVerify(next)
	s.Session.Note(note)
}

// AcceptVerify notes the person's decision in knowledge of the difference between the configuration and the
// session's commands. It returns the commands for the decision's entry.
func AcceptVerify(s *standing.Standing) map[workflow.StageID]workflow.VerifyCommand {
	seen := s.Evidence()
	if seen == nil || seen.ChangedTo == nil {
		return nil
	}
	next, accepted := s.Session.KeptVerify(), false
	for stage, kept := range next {
		if kept.Command == seen.Command && kept.Instead != nil && process.Same(*kept.Instead, *seen.ChangedTo) && !kept.Accepted {
			kept.Accepted, accepted = true, true
			next[stage] = kept
		}
	}
	if !accepted {
		return nil
	}
	return s.Session.KeepVerify(next)
}

// planText says how a session's verify command changes; "" if it does not.
func planText(l lang.Language, p verify.Plan) string {
	steps := make([]string, len(p.Changes))
	for i, c := range p.Changes {
		steps[i] = words.VerifyChange(c.Before, c.After).In(l)
	}
	return strings.Join(steps, "; ")
}
