package look

import (
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// savedWord means the saved artifact on the command line.
const savedWord = "saved"

// Diff returns the command that compares two submissions.
func Diff(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return &cobra.Command{
		Use:   "diff RUN STAGE [ITERATION [ITERATION]]",
		Short: "Show what changed between two submissions of a stage",
		Long: `Show what changed between two submissions of a stage, as a unified diff.
An iteration is the number of a submission, as log and show print it, or "saved":
the artifact as it is on disk now. Without numbers: the last two submissions; with
one: that one and the latest.`,
		Args: cobra.RangeArgs(2, 4),

		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return tasks.StageIDs(), cobra.ShellCompDirectiveNoFileComp
			}
			return tasks.CompleteTasks(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runDiff(cmd, term, tasks, args) },
	}
}

func runDiff(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, args []string) error {
	stage := workflow.StageID(args[1])
	name, err := tasks.Named(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	args[0] = name
	s, err := tasks.Session(cmd, args[:1])
	if err != nil {
		return err
	}
	if err := request.CheckStage(s.Definition(), args[1]); err != nil {
		return err
	}
	from, to, err := whichRounds(engine.Rounds(s, stage), stage, args[2:])
	if err != nil {
		return err
	}
	at, err := tasks.Address(args)
	if err != nil {
		return err
	}
	at.Session = s.SessionID
	rounds, err := tasks.Engine().Submissions(cmd.Context(), at, stage, from, to)
	if err != nil {
		return err
	}
	before, after := roundName(term.Lang, stage, rounds[0]), roundName(term.Lang, stage, rounds[1])
	text := string(diff.Diff(before, []byte(rounds[0].Text), after, []byte(rounds[1].Text)))
	if term.JSON {
		return term.PrintJSON(map[string]any{
			"session_id": s.SessionID, "task_name": s.TaskName, "stage": stage,
			"from": roundJSON(rounds[0]), "to": roundJSON(rounds[1]), "diff": text,
		})
	}
	for _, r := range rounds {
		if r.Edited && r.Iteration != engine.SavedRound {
			term.Warnf("%s was edited after it was submitted, so its text is left out", r.Path)
		}
	}
	if text == "" {
		term.Say("%s and %s are the same", before, after)
		return nil
	}
	// The first line only repeats the next two.
	_, text, _ = strings.Cut(text, "\n")
	return term.Page(cmd.Context(), func() error {
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			rows := []string{line}
			if mark := line[:min(len(line), 1)]; term.Pretty() && strings.Trim(mark, "+- ") == "" { // each row with the mark
				rows = visible.Fold(line[len(mark):], max(term.Width(80)-1, 1))
				for i := range rows {
					rows[i] = mark + rows[i]
				}
			}
			for _, row := range rows {
				term.Styled(diffStyle(line), row)
			}
		}
		return nil
	})
}

// diffStyle returns the style of a line of a unified diff.
func diffStyle(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return terminal.Green
	case strings.HasPrefix(line, "-"):
		return terminal.Red
	case strings.HasPrefix(line, "@"):
		return terminal.Cyan
	}
	return ""
}

// whichRounds returns the iterations in the arguments, or the default ones.
func whichRounds(rounds []engine.Round, stage workflow.StageID, args []string) (from, to int, err error) {
	if len(rounds) == 0 {
		return 0, 0, fault.New(fault.NotFound, "stage %q has no submission yet", stage).WithHint("show lists what each stage has")
	}
	to = rounds[len(rounds)-1].Iteration
	switch {
	case len(args) > 0:
		if from, err = parseIteration(args[0]); err != nil {
			return 0, 0, err
		}
		if len(args) > 1 {
			to, err = parseIteration(args[1])
		}
		return from, to, err
	case len(rounds) == 1:
		return 0, 0, fault.New(fault.NotFound, "stage %q has only one submission", stage).
			WithHint("compare it with the saved artifact: diff RUN %s %d %s", stage, to, savedWord)
	}
	return rounds[len(rounds)-2].Iteration, to, nil
}

func parseIteration(arg string) (int, error) {
	if arg == savedWord {
		return engine.SavedRound, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return 0, fault.New(fault.InvalidArgument, "%q is not the number of a submission", arg).
			WithHint("use a number from 1, or %q for the artifact as it is on disk", savedWord)
	}
	return n, nil
}

func roundName(l lang.Language, stage workflow.StageID, r engine.Round) string {
	if r.Iteration == engine.SavedRound {
		return r.Path
	}
	return l.Say("%s, submission %d", stage, r.Iteration)
}

func roundJSON(r engine.Round) map[string]any {
	out := map[string]any{"iteration": r.Iteration, "at": r.At, "path": r.Path, "edited": r.Edited}
	if r.Iteration == engine.SavedRound {
		out["iteration"] = savedWord
	}
	return out
}
