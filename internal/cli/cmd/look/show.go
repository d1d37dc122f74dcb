// Package look has the commands to print sessions, histories and documents.
package look

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Show returns the command that prints a session.
func Show(term *terminal.Terminal, tasks *app.Tasks, databases *app.Databases) *cobra.Command {
	return tasks.OfTask(&cobra.Command{
		Use:   "show",
		Short: "Show a run: its documents, scores and decisions",
		Long:  "Show a run: its documents, scores and decisions.\n--json prints the session file.",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, v, cwd, err := tasks.Inspect(cmd, args)
			if err != nil {
				return err
			}
			signed, _ := checkSignatures(tasks, s) // log --verify reports an unreadable list
			said, since, err := readChanges(cmd, term, tasks, args, s, false)
			if err != nil {
				return err
			}
			if term.JSON {
				return term.PrintJSON(inspected{s, v, signed, since})
			}
			where := store.SessionPath(s.SessionID)
			if s.Branch != "" { // the worktree has no sessions
				where = filepath.Join(s.Cwd, filepath.FromSlash(where))
			}
			if d, err := databases.TeamStore(); err == nil {
				where = s.SessionID + " · " + d.String()
			}
			return term.Page(cmd.Context(), func() error {
				warnOfChanges(term, s, v)
				if gone := tasks.Engine().Homeless(cwd, s); gone != "" {
					term.Say("Its worktree is gone: %s.\nTo make it anew: bmad-mcp run --resume %s\n", gone, terminal.ShellWord(s.TaskName))
				}
				signed.printSignatures(term, false)
				return (&sessionText{term, s, v, signed, said}).printSession(cwd, where)
			})
		},
	})
}

// inspected is a session in the JSON of show: the content of the file, and the findings about it.
type inspected struct {
	session *workflow.Session
	found   workflow.Verification
	signed  signatures
	since   []engine.SinceView
}

// MarshalJSON adds the findings to a changed session, to one with signed decisions, and to one whose documents or code
// have changed since they were approved.
func (i inspected) MarshalJSON() ([]byte, error) {
	data, err := workflow.Marshal(i.session)
	if err == nil && len(i.signed) > 0 {
		var signed []byte
		signed, err = json.Marshal(i.signed)
		data = fmt.Appendf(data[:len(data)-1], `,"passkeys":%s}`, signed)
	}
	if err == nil && len(i.since) > 0 {
		var since []byte
		since, err = workflow.Marshal(i.since)
		data = fmt.Appendf(data[:len(data)-1], `,"since_approval":%s}`, since)
	}
	if err == nil && len(i.found.Altered) > 0 {
		var altered []byte
		altered, err = workflow.Marshal(i.found.Altered)
		data = fmt.Appendf(data[:len(data)-1], `,"altered":%s}`, altered)
	}
	if err != nil || i.found.Sound() {
		return data, err
	}
	problem, err := json.Marshal(i.found.Problem)
	return fmt.Appendf(data[:len(data)-1], `,"integrity":%q,"problem":%s}`, i.found.Status, problem), err
}

// sessionText prints a session for people.
type sessionText struct {
	term    *terminal.Terminal
	session *workflow.Session
	found   workflow.Verification
	signed  signatures
	since   []string
}

// printSession prints the session. where is the place in which it is saved.
func (t *sessionText) printSession(cwd, where string) error {
	s, v, w := t.session, t.found, t.session.Definition()
	st, _ := w.Stage(s.CurrentStage)
	t.term.Printf("%s — %s\n%s\n\n", s.TaskName, story.Place(t.term.Lang, st.Label, s.CurrentState), engine.DescribePipeline(w, s))
	facts := [][]string{
		{t.term.Lang.Say("Objective"), s.Objective},
		{t.term.Lang.Say("Project"), cwd},
		{t.term.Lang.Say("File"), where},
		{t.term.Lang.Say("Started"), t.term.When(s.CreatedAt, "2006-01-02 15:04:05")},
		{t.term.Lang.Say("Changed"), t.term.When(s.UpdatedAt, "2006-01-02 15:04:05")},
	}
	if s.ReworkCount > 0 {
		facts = append(facts, []string{t.term.Lang.Say("Reworks"), strconv.Itoa(s.ReworkCount)})
	}
	if err := t.term.Columns(nil, facts); err != nil {
		return err
	}
	for i, said := range t.since {
		if i == 0 {
			t.term.Printf("\n")
		}
		t.term.Printf("%s\n", said)
	}

	t.term.Styled(terminal.Bold, t.term.Lang.Say("\nStages"))
	var stages [][]string
	for _, st := range w.Stages {
		r := s.Record(st.ID)
		stages = append(stages, []string{"  " + st.Label, statusText(t.term.Lang, r.Status), scoreText(t.term.Lang, r), artifactText(t.term.Lang, r, v)})
	}
	if err := t.term.Columns(nil, stages); err != nil {
		return err
	}
	t.printVerify(w)
	for _, st := range w.Stages {
		t.printRecord(st, s.Record(st.ID), unvouchedAnswers(s, v, st.ID))
	}
	if len(s.Sprints) > 0 {
		t.term.Styled(terminal.Bold, t.term.Lang.Say("\nSprints"))
		for _, sp := range s.Sprints {
			t.term.Printf("  %s  %s: %s\n", sp.Name(), sp.Title, sp.Status)
		}
	}
	t.term.Styled(terminal.Bold, t.term.Lang.Say("\nHistory"))
	steps := s.Steps(v)
	for i := range steps {
		steps[i].Unvouched = steps[i].Unvouched || t.signed.hasFailed(i+1)
	}
	return printStory(t.term, "  ", s, steps)
}

// printVerify prints the commands with which the session checks submissions.
func (t *sessionText) printVerify(w *workflow.Definition) {
	kept, headed := t.session.KeptVerify(), false
	for _, st := range w.Stages {
		c := kept[st.ID]
		if c.Command == "" {
			continue
		}
		if !headed {
			t.term.Styled(terminal.Bold, t.term.Lang.Say("\nVerify commands of this run"))
			headed = true
		}
		now := ""
		switch {
		case c.Instead == nil:
		case *c.Instead == "":
			now = t.term.Lang.Say("; no longer configured")
		default:
			now = t.term.Lang.Say("; configured now: %s", *c.Instead)
		}
		if c.Accepted {
			now += t.term.Lang.Say(", accepted")
		}
		t.term.Say("  %s: %s (set by: %s%s)", st.Label, c.Command, c.SetBy, now)
	}
}

// unvouchedAnswers reports whether nothing vouches for the answers of a stage.
func unvouchedAnswers(s *workflow.Session, v workflow.Verification, stage workflow.StageID) bool {
	if v.Changed() {
		return true
	}
	for i, e := range s.History {
		answers := e.Event == workflow.EventAnswered || e.Event == workflow.EventSkipped
		if answers && e.FromStage() == stage && !v.Vouches(i+1) {
			return true
		}
	}
	return false
}

// statusText describes the status of a stage.
func statusText(l lang.Language, status workflow.Status) string {
	switch status {
	case workflow.Done:
		return l.Say("done")
	case workflow.InProgress:
		return l.Say("now")
	case workflow.Pending:
		return l.Say("to come")
	}
	return string(status)
}

// scoreText returns the verdict of a stage, or the scores of the document: the stated one and the audited
// one.
func scoreText(l lang.Language, r *workflow.Record) string {
	var parts []string
	switch {
	case r.Verdict != "":
		parts = append(parts, story.Verdict(l, r.Verdict))
	case r.Score == nil:
	case r.ClaimedScore == nil && r.EstimatedScore != nil:
		parts = append(parts, l.Say("estimate %g", *r.Score))
	default:
		parts = append(parts, l.Say("score %g", *r.Score))
	}
	if r.Audit != nil {
		parts = append(parts, l.Say("form %g", r.Audit.Score))
		if p := r.Policy; p != nil && p.AuditFloor != nil && r.Audit.Score < *p.AuditFloor {
			parts = append(parts, l.Say("below the floor of %g", *p.AuditFloor))
		}
	}
	return cmp.Or(strings.Join(parts, l.Say(", ")), "–")
}

func artifactText(l lang.Language, r *workflow.Record, v workflow.Verification) string {
	if r.Artifact == nil {
		return ""
	}
	for _, t := range v.Altered {
		switch {
		case t.Path != r.Artifact.Path:
		case t.Missing:
			return r.Artifact.Path + l.Say(" (gone since it was approved)")
		default:
			return r.Artifact.Path + l.Say(" (edited since it was approved)")
		}
	}
	switch {
	case r.Artifact.Stale:
		return r.Artifact.Path + l.Say(" (out of date)")
	}
	return r.Artifact.Path
}

// printRecord prints the open points and the questions of a stage.
func (t *sessionText) printRecord(st workflow.Stage, r *workflow.Record, unvouched bool) {
	heading := func(name lang.Text) { t.term.Styled(terminal.Bold, t.term.Lang.Say("\n%s: %s", st.Label, name)) }
	t.printSeen(st, r)
	if len(r.Gaps) > 0 {
		heading(lang.T("gaps"))
		for _, g := range r.Gaps {
			t.term.Printf("  - %s\n", g)
		}
	}
	if len(r.ChangeRequests) > 0 {
		heading(lang.T("change requests"))
		for _, c := range r.ChangeRequests {
			t.printRequest(c)
		}
	}
	if len(r.Questions)+len(r.Asked) > 0 {
		heading(lang.T("questions"))
		for _, q := range r.SettledQuestions() {
			answer := r.Answers[q.ID]
			switch {
			case q.Status == workflow.QuestionSkipped:
				answer = t.term.Lang.Say("(skipped)")
			case answer == "":
				answer = t.term.Lang.Say("(left open)")
			}
			by := ""
			if channel := r.AnswerChannels[q.ID]; channel != "" {
				by = t.term.Lang.Say(" (%s)", story.Channel(t.term.Lang, channel, unvouched))
			}
			t.term.Printf("  %s  %s\n      → %s%s\n", q.ID, q.Question, answer, by)
		}
		for _, q := range r.OpenQuestions() {
			t.term.Say("  %s  %s\n      (waits for an answer)", q.ID, q.Question)
		}
	}
	if len(r.Findings) > 0 {
		heading(lang.T("findings"))
		for _, f := range r.Findings {
			state := f.Status
			if f.Open() {
				state = t.term.Lang.Say("open")
			}
			t.term.Printf("  %s  %s, %s  %s  %s\n", f.ID, f.Severity, state, f.File, f.Problem)
		}
	}
	if len(r.Criteria) > 0 {
		heading(lang.T("%s", engine.DescribeRows(t.term.Lang, r.Criteria)))
		for _, c := range verdict.WorstFirst(r.Criteria) {
			if c.Result != workflow.ResultPass {
				t.term.Printf("  %s  %s  %s  %s\n", c.ID, c.Result, c.Criterion, terminal.OneLine(verdict.Evidence(c)))
			}
		}
	}
}

// printRequest prints a change request, and the note of the author of the document.
func (t *sessionText) printRequest(c workflow.ChangeRequest) {
	where := t.term.Lang.Say("the whole document")
	switch {
	case c.To > c.From:
		where = t.term.Lang.Say("lines %d to %d", c.From, c.To)
	case c.From > 0:
		where = t.term.Lang.Say("line %d", c.From)
	}
	if c.Stage != "" {
		where = string(c.Stage) + ", " + where
	}
	t.term.Printf("%s\n", strings.TrimRight(fmt.Sprintf("  %s  %s  %s, %s  %s", c.ID, c.Status, c.Kind, where, terminal.OneLine(c.Text)), " "))
	if c.Replace != "" {
		t.term.Say("      instead: %s", terminal.OneLine(c.Replace))
	}
	if c.Note != "" {
		t.term.Printf("      → %s\n", terminal.OneLine(c.Note))
	}
}

// commentsText counts the comments of a decision, "" if there are none.
func commentsText(l lang.Language, g *workflow.Grant) string {
	if g == nil || len(g.Comments) == 0 {
		return ""
	}
	return l.Say("(with %s)", l.Count(len(g.Comments), "comment"))
}

// printSeen prints the server's own findings about a stage's document.
func (t *sessionText) printSeen(st workflow.Stage, r *workflow.Record) {
	heading := func(name lang.Text) { t.term.Styled(terminal.Bold, t.term.Lang.Say("\n%s: %s", st.Label, name)) }
	if r.Audit != nil && len(r.Audit.Findings) > 0 {
		heading(lang.T("form by our check: %g of 100", r.Audit.Score))
		for _, f := range r.Audit.Findings {
			line := ""
			if f.Line > 0 {
				line = t.term.Lang.Say("line %d: ", f.Line)
			}
			loss := "?"
			if !f.Asks() {
				loss = fmt.Sprintf("−%g", f.Points)
			}
			t.term.Say("  %s  %s  %s%s; %s", loss, f.ID, line, f.Problem, f.Fix)
		}
	}
	if e := r.Evidence; e != nil {
		heading(lang.T("verify command"))
		t.term.Say("  %s: %s", e.Command, evidenceText(t.term.Lang, e))
		if e.Changed != "" {
			t.term.Say("  changed during the run: %s", e.Changed)
		}
		for _, note := range e.Notes {
			t.term.Say("  note: %s", note)
		}
		if e.Tail != "" {
			fmt.Fprintln(t.term.Out, terminal.Indent(terminal.Indent(strings.TrimRight(e.Tail, "\n"))))
		}
	}
}

// evidenceText describes the result of a verify command.
func evidenceText(l lang.Language, e *workflow.Evidence) string {
	took := (time.Duration(e.TookMS) * time.Millisecond).String()
	switch {
	case e.NotRun != "":
		return l.Say("not run, %s", e.NotRun)
	case e.TimedOut:
		return l.Say("ended after %s", took)
	}
	return l.Say("exit code %d after %s", e.ExitCode, took)
}
