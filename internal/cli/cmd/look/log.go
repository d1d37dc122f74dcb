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

// Log returns the command that prints a history.
func Log(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var verify, verbose bool
	cmd := tasks.OfTask(&cobra.Command{
		Use:   "log",
		Short: "Tell what happened in a run, when, and by whom",
		Long: `Tells what happened in a run, the oldest first: when, who did what, how a decision came and
how long the person took for it, in which round (the number that diff takes), and with which
score or verdict. --verbose prints the entries in the words of the session file instead.

--verify checks that the history is as it was written: each entry has the hash of the one
before, and the signature of the machine that wrote it, whose key is kept outside of the
project. Your own key counts, and those of others once you have said whose they are
(bmad-mcp allow). Beside the key stands what this machine recorded of the run, so that
an older file that was put back shows too, and one that was copied from another folder. It
ends with exit code 1 if the history does not hold, or an approved text of an active run
was edited or deleted, until you accept that with bmad-mcp adopt. Anyone who can run
programs under your account can read that key: it shows what others, or a careless
assistant, have changed, and not what a determined one has. Decisions that a passkey
signed are checked against their signatures as well, and end it with 1 if they were
changed. Exit code 3: nothing shows a change, but entries do not count, because they have
no signature, or that of a key that you have not allowed.`,
		RunE: func(cmd *cobra.Command, args []string) error { return runLog(cmd, term, tasks, args, verify, verbose) },
	})
	cmd.Flags().BoolVar(&verbose, "verbose", false, "print the entries in the words of the session file, with their documents")
	cmd.Flags().BoolVar(&verify, "verify", false, "check that nobody has changed the history")
	return cmd
}

func runLog(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, args []string, verify, verbose bool) error {
	s, v, _, err := tasks.Inspect(cmd, args)
	if err != nil {
		return err
	}
	signed, err := checkSignatures(tasks, s)
	if verify {
		if err != nil {
			return err
		}
		return checkHistory(term, s, v, signed)
	}
	steps := s.Steps(v)
	for i := range steps {
		steps[i].Unvouched = steps[i].Unvouched || signed.hasFailed(i+1)
	}
	if term.JSON {
		return printHistoryJSON(term, s, v, steps, signed)
	}
	if len(steps) == 0 {
		term.Say("%s was written by an older server, which kept no history; it is at %s", s.TaskName, s.Place())
		return nil
	}
	warnOfChanges(term, s, v)
	signed.printSignatures(term, false)
	return term.Page(cmd.Context(), func() error {
		if verbose {
			return printEntries(term, s, steps, tasks.Config.Store.Address != "")
		}
		term.Styled(terminal.Bold, s.TaskName)
		return printStory(term, "", s, steps)
	})
}

// checkHistory prints whether the history is unchanged, or the first changed entry, and returns the error to
// exit with.
func checkHistory(term *terminal.Terminal, s *workflow.Session, v workflow.Verification, signed signatures) error {
	_, err := app.Trust().ReadSigner() // the check ignores a broken key
	if err != nil {
		return err
	}
	if term.JSON {
		out := map[string]any{"session_id": s.SessionID, "task_name": s.TaskName, "verification": v}
		signed.addTo(out)
		err = term.PrintJSON(out)
	} else {
		printVerification(term, s, v)
		sayAltered(term, s, v)
		signed.printSignatures(term, true)
	}
	adopted := 0
	if v.Adopted != nil {
		adopted = v.Adopted.Entry
	}
	unsigned := signed.verdictAfter(adopted)
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

func printVerification(term *terminal.Terminal, s *workflow.Session, v workflow.Verification) {
	if v.Adopted != nil && v.Status != workflow.ChainChanged {
		term.Say("%s: adopted at entry %d by %s on %s; what came before was changed: %s.", s.TaskName,
			v.Adopted.Entry, v.Adopted.By, v.Adopted.At.Local().Format("2006-01-02 15:04:05"), v.Adopted.Problem)
	}
	switch v.Status {
	case workflow.ChainChanged:
		if v.Displaced {
			term.Say("%s: the history is whole, but not of this folder: %s.", s.TaskName, v.Problem)
			break
		}
		since := ""
		if v.BrokenAt != nil {
			since = term.Lang.Say(" (%s)", v.BrokenAt.Local().Format("2006-01-02 15:04:05"))
		}
		term.Say("%s: the history does not hold from entry %d on%s: %s.", s.TaskName, v.Broken, since, v.Problem)
	case workflow.ChainAdopted:
		term.Say("Since then nothing shows a change, and every entry is signed (%d).", v.Entries)
	case workflow.ChainHolds:
		term.Say("%s: the history is as it was written, and every entry is signed (%d).", s.TaskName, v.Entries)
	case workflow.ChainPartly:
		term.Say("%s: nothing shows a change, but %s.", s.TaskName, v.Problem)
	}
	sayNotes(term, v)
	for _, m := range v.Members {
		term.Say("Signed by %s too, with the key %s.", terminal.OneLine(m.Who()), m.Key.Fingerprint())
	}
	if len(v.Strangers) > 0 {
		term.Say("Signed with keys of which you have not said whose they are: %s. If you know it: bmad-mcp allow.", terminal.JoinWords(v.Strangers))
	}
}

func printEntries(term *terminal.Terminal, s *workflow.Session, steps []workflow.Step, isShared bool) error {
	if isShared {
		term.Say("%s — %s", s.TaskName, s.Place())
	} else {
		term.Say("%s — %s\nDocuments are in %s/", s.TaskName, s.Place(), store.ContentFolder(s.SessionID))
	}
	if steps[0].From != "" {
		term.Say("An older server kept no history of the steps before.")
	}
	fmt.Fprintln(term.Out)
	rows := [][]string{term.Header("WHEN\tWHO\tWHAT\tFROM → TO\tROUND\tRESULT\tDECIDED\tWAITED\tDOCUMENT\tWORDS")}
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
		if text := commentsText(term.Lang, e.Grant); text != "" {
			words = strings.TrimSpace(words + " " + text)
		}
		switch {
		case e.Policy != "":
			words = e.Policy
		case words == "":
			words = cmp.Or(e.Edit, e.Evidence, e.Candidates)
		}
		if e.Adoption != nil {
			words = adoptionText(term.Lang, e.Transition)
		}
		decided := ""
		if g := e.Grant; g != nil {
			decided = fmt.Sprintf("%s (%s)", g.Channel, g.Assurance)
			if took, ok := g.Took(); ok {
				decided += ", " + took.Round(time.Second).String()
			}
			if e.Unvouched {
				decided = term.Lang.Say("unconfirmed: %s", g.Channel)
			}
		}
		rows = append(rows, []string{
			term.When(e.At, "2006-01-02 15:04:05"), e.Actor(), string(e.Event), from + " → " + e.To, round, resultText(e.Transition),
			decided, waited, document, words,
		})
	}
	return term.Columns(rows[0], rows[1:])
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

// printHistoryJSON prints the entries of the session's history, each with the seconds of the wait for the
// human.
func printHistoryJSON(term *terminal.Terminal, s *workflow.Session, v workflow.Verification, steps []workflow.Step, signed signatures) error {
	out := map[string]any{
		"session_id": s.SessionID, "task_name": s.TaskName, "current_stage": s.CurrentStage, "current_state": s.CurrentState, "entries": steps,
	}
	if !v.Sound() {
		out["integrity"], out["problem"] = v.Status, v.Problem
	}
	if len(v.Altered) > 0 {
		out["altered"] = v.Altered
	}
	signed.addTo(out)
	return term.PrintJSON(out)
}
