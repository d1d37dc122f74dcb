package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func showCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [TASK]",
		Short: "Print a session: scores, gaps, questions, artifacts and history",
		Long:  "Print a session: scores, gaps, questions, artifacts and history.\n--json prints the session file.\n\n" + exitHelp,
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, v, cwd, err := inspect(a, cmd, args)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(inspected{s, v})
			}
			warnOfChanges(a, s, v)
			return printSession(a.out, s, v, cwd)
		},
	}
}

// inspected is a session in the JSON of show: its file, and that it was changed.
type inspected struct {
	session *workflow.Session
	found   workflow.Verification
}

// MarshalJSON adds the finding to a session that was changed.
func (i inspected) MarshalJSON() ([]byte, error) {
	data, err := workflow.Marshal(i.session)
	if err != nil || !i.found.Changed() {
		return data, err
	}
	problem, err := json.Marshal(i.found.Problem)
	return fmt.Appendf(data[:len(data)-1], `,"integrity":%q,"problem":%s}`, i.found.Status, problem), err
}

func printSession(out io.Writer, s *workflow.Session, v workflow.Verification, cwd string) error {
	w := s.Definition()
	fmt.Fprintf(out, "%s — %s\n%s\n\n", s.TaskName, s.CurrentState, words.Pipeline(w, s))
	fmt.Fprintf(out, "Objective  %s\nProject    %s\nSession    .bmad-task/session-%s.json\nStarted    %s\nChanged    %s\n", s.Objective, cwd, s.SessionID,
		s.CreatedAt.Local().Format("2006-01-02 15:04:05"), s.UpdatedAt.Local().Format("2006-01-02 15:04:05"))
	if s.ReworkCount > 0 {
		fmt.Fprintf(out, "Reworks    %d\n", s.ReworkCount)
	}

	fmt.Fprintln(out, "\nStages")
	t := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	for _, st := range w.Stages {
		r := s.Record(st.ID)
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", st.Label, r.Status, scoreText(r), auditText(r), artifactText(r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	printVerify(out, w, s)
	for _, st := range w.Stages {
		printRecord(out, st, s.Record(st.ID), unvouchedAnswers(s, v, st.ID))
	}
	if len(s.Sprints) > 0 {
		fmt.Fprintln(out, "\nSprints")
		for _, sp := range s.Sprints {
			fmt.Fprintf(out, "  %d  %s: %s\n", sp.Number, sp.Title, sp.Status)
		}
	}
	fmt.Fprintln(out, "\nHistory")
	h := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	for i, e := range s.History {
		note := ""
		if e.Score != nil {
			note = fmt.Sprintf("score %g", *e.Score)
		}
		if e.Verdict != "" {
			note = string(e.Verdict)
		}
		if e.Grant != nil {
			note += " " + grantText(e.Grant, !v.Vouches(i+1))
		}
		if e.Feedback != "" {
			note += " “" + e.Feedback + "”"
		}
		if e.Policy != "" {
			note += " " + e.Policy
		}
		if e.Adoption != nil {
			note += " " + adoptionText(e.Adoption)
		}
		fmt.Fprintf(h, "  %s\t%s\t%s → %s\tby %s\t%s\n", e.At.Local().Format("2006-01-02 15:04:05"), e.Event, e.From, e.To, e.By, note)
	}
	return h.Flush()
}

// printVerify prints the commands that the session checks submissions with.
func printVerify(out io.Writer, w *workflow.Definition, s *workflow.Session) {
	kept, headed := s.KeptVerify(), false
	for _, st := range w.Stages {
		c := kept[st.ID]
		if c.Command == "" {
			continue
		}
		if !headed {
			fmt.Fprintln(out, "\nVerify commands of this run")
			headed = true
		}
		now := ""
		switch {
		case c.Instead == nil:
		case *c.Instead == "":
			now = "; no longer configured"
		default:
			now = "; configured now: " + *c.Instead
		}
		if c.Accepted {
			now += ", accepted"
		}
		fmt.Fprintf(out, "  %s: %s (set by: %s%s)\n", st.Label, c.Command, c.SetBy, now)
	}
}

// unvouchedAnswers reports whether nothing vouches for how the answers of a stage came.
func unvouchedAnswers(s *workflow.Session, v workflow.Verification, stage workflow.StageID) bool {
	if v.Changed() {
		return true
	}
	for i, e := range s.History {
		if e.Event == workflow.EventAnswered && e.FromStage() == stage && !v.Vouches(i+1) {
			return true
		}
	}
	return false
}

func scoreText(r *workflow.Record) string {
	switch {
	case r.Verdict != "":
		return string(r.Verdict)
	case r.Score == nil:
		return "–"
	case r.ClaimedScore == nil && r.EstimatedScore != nil:
		return fmt.Sprintf("%g (estimate)", *r.Score)
	}
	return fmt.Sprintf("%g", *r.Score)
}

// auditText is the server's own score of a stage's document.
func auditText(r *workflow.Record) string {
	if r.Audit == nil {
		return ""
	}
	return fmt.Sprintf("audit %g", r.Audit.Score)
}

func artifactText(r *workflow.Record) string {
	switch {
	case r.Artifact == nil:
		return ""
	case r.Artifact.Stale:
		return r.Artifact.Path + " (out of date)"
	}
	return r.Artifact.Path
}

// printRecord prints the open points and the questions of a stage.
func printRecord(out io.Writer, st workflow.Stage, r *workflow.Record, unvouched bool) {
	heading := func(name string) { fmt.Fprintf(out, "\n%s: %s\n", st.Label, name) }
	printSeen(out, st, r)
	if len(r.Gaps) > 0 {
		heading("gaps")
		for _, g := range r.Gaps {
			fmt.Fprintf(out, "  - %s\n", g)
		}
	}
	if len(r.Questions)+len(r.Asked) > 0 {
		heading("questions")
		for _, q := range r.Asked {
			answer := r.Answers[q.ID]
			if answer == "" {
				answer = "(left open)"
			}
			by := ""
			if channel := r.AnswerChannels[q.ID]; channel != "" {
				by = " (" + string(channel) + ")"
				if unvouched {
					by = " (unvouched: says " + string(channel) + ")"
				}
			}
			fmt.Fprintf(out, "  %s  %s\n      → %s%s\n", q.ID, q.Question, answer, by)
		}
		for _, q := range r.Questions {
			fmt.Fprintf(out, "  %s  %s\n      (waits for an answer)\n", q.ID, q.Question)
		}
	}
	if len(r.Findings) > 0 {
		heading("findings")
		for _, f := range r.Findings {
			state := "open"
			if !f.Open() {
				state = f.Status
			}
			fmt.Fprintf(out, "  %s  %s, %s  %s  %s\n", f.ID, f.Severity, state, f.File, f.Problem)
		}
	}
	var failed []workflow.Criterion
	for _, c := range r.Criteria {
		if c.Result != workflow.ResultPass {
			failed = append(failed, c)
		}
	}
	if len(r.Criteria) > 0 {
		heading(fmt.Sprintf("%d of %d criteria pass", len(r.Criteria)-len(failed), len(r.Criteria)))
		for _, c := range failed {
			fmt.Fprintf(out, "  %s  %s  %s\n", c.ID, c.Result, c.Criterion)
		}
	}
}

// printSeen prints the server's own findings about a stage's document.
func printSeen(out io.Writer, st workflow.Stage, r *workflow.Record) {
	heading := func(name string) { fmt.Fprintf(out, "\n%s: %s\n", st.Label, name) }
	if r.Audit != nil && len(r.Audit.Findings) > 0 {
		heading(fmt.Sprintf("audit %g", r.Audit.Score))
		for _, f := range r.Audit.Findings {
			line := ""
			if f.Line > 0 {
				line = fmt.Sprintf("line %d: ", f.Line)
			}
			fmt.Fprintf(out, "  −%g  %s  %s%s; %s\n", f.Points, f.ID, line, f.Problem, f.Fix)
		}
	}
	if e := r.Evidence; e != nil {
		heading("verify command")
		fmt.Fprintf(out, "  %s: %s\n", e.Command, evidenceText(e))
		if e.Changed != "" {
			fmt.Fprintf(out, "  changed during the run: %s\n", e.Changed)
		}
		for _, note := range e.Notes {
			fmt.Fprintf(out, "  note: %s\n", note)
		}
		if e.Tail != "" {
			fmt.Fprintln(out, indent(indent(strings.TrimRight(e.Tail, "\n"))))
		}
	}
}

// evidenceText describes the result of a verify command.
func evidenceText(e *workflow.Evidence) string {
	took := (time.Duration(e.TookMS) * time.Millisecond).String()
	switch {
	case e.NotRun != "":
		return "not run, " + e.NotRun
	case e.TimedOut:
		return "ended after " + took
	}
	return fmt.Sprintf("exit code %d after %s", e.ExitCode, took)
}
