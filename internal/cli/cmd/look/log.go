package look

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// logOptions are those of log.
type logOptions struct {
	*app.App
	verify bool
}

// Log returns the command that prints a history.
func Log(a *app.App) *cobra.Command {
	o := logOptions{App: a}
	cmd := a.OfTask(&cobra.Command{
		Use:   "log",
		Short: "Print what happened to a session: who, when, from where to where, and how long it waited",
		Long: `Print what happened to a session, the oldest first: when, by whom, from where to
where, in which round (the number that diff takes), with which score or verdict and
document. DECIDED says by which channel a decision came, with which assurance, and how
long the person took. WAITED is how long the session stood before it.

--verify checks that the history is as it was written: each entry holds the hash of the
one before, and the newest is sealed with a key of this machine that is kept outside of
the project; beside the key stands what this machine recorded of the session, so that an
older file that was put back shows too, and one that was copied from another folder. It
ends with exit code 1 where the history does not hold, or an approved text of an active
run was edited or deleted, until you accept that with bmad-mcp adopt. Anyone who can run programs under your
account can read that key: it shows what others, or a careless assistant, have changed,
and not what a determined one has. Decisions that a passkey signed are checked against
their signatures as well, and end it with 1 where they were changed. Exit code 3: nothing
shows a change, but the key does not vouch for all entries, as after work on another
machine.

` + terminal.ExitHelp,
		RunE: o.run,
	})
	cmd.Flags().BoolVar(&o.verify, "verify", false, "check that nobody has changed the history")
	return cmd
}

func (o *logOptions) run(cmd *cobra.Command, args []string) error {
	s, v, _, err := o.Inspect(cmd, args)
	if err != nil {
		return err
	}
	signed, err := checkSignatures(o.App, s)
	if o.verify {
		if err != nil {
			return err
		}
		return o.check(s, v, signed)
	}
	steps := s.Steps(v)
	for i := range steps {
		steps[i].Unvouched = steps[i].Unvouched || signed.fails(i+1)
	}
	if o.JSON {
		return o.printJSON(s, v, steps, signed)
	}
	if len(steps) == 0 {
		o.Say("%s was written by an older server, which kept no history; it is at %s", s.TaskName, s.Place())
		return nil
	}
	warnOfChanges(o.App, s, v)
	signed.print(o.App, false)
	return o.Page(cmd.Context(), func() error { return o.print(s, steps) })
}

// check reports whether the history is unchanged, or the entry since which it is not.
func (o *logOptions) check(s *workflow.Session, v workflow.Verification, signed signatures) error {
	_, err := app.Trust().ReadSigner() // a broken key would have been ignored
	if err != nil {
		return err
	}
	if o.JSON {
		out := map[string]any{"session_id": s.SessionID, "task_name": s.TaskName, "verification": v}
		signed.add(out)
		err = o.PrintJSON(out)
	} else {
		o.printVerification(s, v)
		sayAltered(o.App, s, v)
		signed.print(o.App, true)
	}
	adopted := 0
	if v.Adopted != nil {
		adopted = v.Adopted.Entry
	}
	unsigned := signed.verdict(adopted)
	switch {
	case err != nil:
		return err
	case v.Status == workflow.ChainChanged, s.CurrentState.Active() && len(v.Altered) > 0:
		return terminal.ErrReported
	case v.Status == workflow.ChainPartly && unsigned == nil:
		return terminal.ErrUnvouched
	}
	return unsigned
}

func (o *logOptions) printVerification(s *workflow.Session, v workflow.Verification) {
	if v.Adopted != nil && v.Status != workflow.ChainChanged {
		o.Say("%s: adopted at entry %d by %s on %s; what came before was changed: %s.", s.TaskName,
			v.Adopted.Entry, v.Adopted.By, v.Adopted.At.Local().Format("2006-01-02 15:04:05"), v.Adopted.Problem)
	}
	switch v.Status {
	case workflow.ChainChanged:
		if v.Displaced {
			o.Say("%s: the history is whole, but not of this folder: %s.", s.TaskName, v.Problem)
			break
		}
		since := ""
		if v.BrokenAt != nil {
			since = o.Lang.Say(" (%s)", v.BrokenAt.Local().Format("2006-01-02 15:04:05"))
		}
		o.Say("%s: the history does not hold from entry %d on%s: %s.", s.TaskName, v.Broken, since, v.Problem)
	case workflow.ChainAdopted:
		o.Say("Since then nothing shows a change, and the newest entry is sealed (%d).", v.Entries)
	case workflow.ChainHolds:
		o.Say("%s: the history is as it was written, and sealed (%d).", s.TaskName, v.Entries)
	case workflow.ChainPartly:
		o.Say("%s: nothing shows a change, but %s. They come from another machine or state folder, from an older program, or from someone who took the seal off.",
			s.TaskName, v.Problem)
	}
	sayMoved(o.App, v)
	for _, m := range v.Members {
		o.Say("Sealed by %s too, with the key %s.", terminal.OneLine(m.Who()), terminal.OneLine(m.Key))
	}
	switch {
	case len(v.Strangers) > 0 && o.Config.Store.Address != "":
		o.Say("Sealed with keys that the store does not list for this project: %s.", terminal.JoinWords(v.Strangers))
	case len(v.Strangers) > 0:
		o.Say("Sealed with keys that you have not added: %s. If you know whose they are: bmad-mcp allow.", terminal.JoinWords(v.Strangers))
	}
	if len(v.OtherKeys) > 0 {
		o.Say("It was sealed with other keys too, which are not here: %s.", terminal.JoinWords(v.OtherKeys))
	}
}

func (o *logOptions) print(s *workflow.Session, steps []workflow.Step) error {
	if o.Config.Store.Address != "" {
		o.Say("%s — %s", s.TaskName, s.Place())
	} else {
		o.Say("%s — %s\nDocuments are in %s/", s.TaskName, s.Place(), store.ContentFolder(s.SessionID))
	}
	if steps[0].From != "" {
		o.Say("An older server kept no history of the steps before.")
	}
	fmt.Fprintln(o.Out)
	rows := [][]string{o.Header("WHEN\tWHO\tWHAT\tFROM → TO\tROUND\tRESULT\tDECIDED\tWAITED\tDOCUMENT\tWORDS")}
	for _, e := range steps {
		from := e.From
		if from == "" {
			from = "–"
		}
		round, waited, document, words := "", "", "", ""
		if e.Waited != nil {
			waited = e.Waited.Round(time.Second).String()
		}
		if e.Path != "" {
			document = path.Base(e.Path)
		}
		if e.Iteration > 0 {
			round = strconv.Itoa(e.Iteration)
		}
		if e.Feedback != "" {
			words = "“" + terminal.OneLine(e.Feedback) + "”"
		}
		if text := commentsText(o.Lang, e.Grant); text != "" {
			words = strings.TrimSpace(words + " " + text)
		}
		switch {
		case e.Policy != "":
			words = e.Policy
		case words == "":
			words = cmp.Or(e.Edit, e.Evidence, e.Candidates)
		}
		if e.Adoption != nil {
			words = adoptionText(o.Lang, e.Adoption)
		}
		rows = append(rows, []string{
			o.When(e.At, "2006-01-02 15:04:05"), e.Actor(), string(e.Event), from + " → " + e.To, round, resultText(e.Transition),
			o.GrantText(e.Grant, e.Unvouched), waited, document, words,
		})
	}
	return o.Columns(rows[0], rows[1:])
}

// resultText returns the score or verdict of a transition.
func resultText(e workflow.Transition) string {
	switch {
	case e.Rows != "":
		return string(e.Verdict) + ", " + e.Rows
	case e.Verdict != "":
		return string(e.Verdict)
	case e.Score != nil:
		return fmt.Sprintf("%g", *e.Score)
	}
	return ""
}

// printJSON prints the entries of the session's history, each with the seconds that
// the session had waited for the human.
func (o *logOptions) printJSON(s *workflow.Session, v workflow.Verification, steps []workflow.Step, signed signatures) error {
	out := map[string]any{
		"session_id": s.SessionID, "task_name": s.TaskName, "current_stage": s.CurrentStage, "current_state": s.CurrentState, "entries": steps,
	}
	if v.Changed() {
		out["integrity"], out["problem"] = v.Status, v.Problem
	}
	if len(v.Altered) > 0 {
		out["altered"] = v.Altered
	}
	signed.add(out)
	return o.PrintJSON(out)
}
