package cli

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bmad-mcp/internal/engine"
	"bmad-mcp/internal/store"
	"bmad-mcp/internal/workflow"
)

func (a *app) logCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "log [TASK]",
		Short: "Print what happened to a session: who, when, from where to where, and how long it waited",
		Long: `Print what happened to a session, the oldest first: when, by whom, from where to
where, in which round (the number that diff takes), with which score or verdict and
document. WAITED is how long the session stood before the human's answer or decision.

` + exitHelp,
		Args: cobra.MaximumNArgs(1),

		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := a.session(cmd, args)
			if err != nil {
				return err
			}
			steps := engine.History(s)
			if a.asJSON {
				return a.printLogJSON(s, steps)
			}
			if len(steps) == 0 {
				fmt.Fprintf(a.out, "%s was written by an older server, which kept no history; it stands at %s\n", s.TaskName, s.Place())
				return nil
			}
			return a.printLog(s, steps)
		},
	}
}

func (a *app) printLog(s *workflow.Session, steps []engine.Step) error {
	fmt.Fprintf(a.out, "%s — %s\nDocuments are in %s/\n", s.TaskName, s.Place(), store.ContentFolder(s.SessionID))
	if steps[0].From != "" {
		fmt.Fprintln(a.out, "An older server kept no history of what was before.")
	}
	fmt.Fprintln(a.out)
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WHEN\tWHO\tWHAT\tFROM → TO\tROUND\tRESULT\tWAITED\tDOCUMENT\tWORDS")
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
			words = "“" + oneLine(e.Feedback) + "”"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s → %s\t%s\t%s\t%s\t%s\t%s\n", e.At.Local().Format("2006-01-02 15:04:05"), e.By, e.Event, from, e.To, round, resultText(e.Transition), waited, document, words)
	}
	return t.Flush()
}

// resultText is the score or verdict of a transition.
func resultText(e workflow.Transition) string {
	switch {
	case e.Verdict != "":
		return string(e.Verdict)
	case e.Score != nil:
		return fmt.Sprintf("%g", *e.Score)
	}
	return ""
}

// printLogJSON prints the entries of the session's history, each with the seconds that
// the session had waited for the human.
func (a *app) printLogJSON(s *workflow.Session, steps []engine.Step) error {
	entries := make([]map[string]any, len(steps))
	for i, e := range steps {
		data, err := json.Marshal(e.Transition)
		if err == nil {
			err = json.Unmarshal(data, &entries[i])
		}
		if err != nil {
			return err
		}
		if e.Waited != nil {
			entries[i]["waited_seconds"] = e.Waited.Seconds()
		}
	}
	return a.printJSON(map[string]any{
		"session_id": s.SessionID, "task_name": s.TaskName, "current_stage": s.CurrentStage, "current_state": s.CurrentState, "entries": entries,
	})
}
