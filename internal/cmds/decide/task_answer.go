package decide

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func answerCommand(a *app.App) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "answer [TASK] [ID=TEXT…]",
		Short: "Answer the open questions",
		Example: `  bmad-mcp task answer q1="Postgres 16" q2="about 200 a day"
  bmad-mcp task answer my-task --answers answers.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{}}, Revision: f.wantedRevision(cmd)}
			for i, arg := range args {
				id, text, ok := strings.Cut(arg, "=")
				switch {
				case ok:
					req.Answers[id] = text
				case i == 0:
					req.Session = arg
				default:
					return fault.New(fault.InvalidArgument, "%q is not an answer", arg).WithHint(`write answers as ID=TEXT, such as q1="yes"`)
				}
			}
			if f.answersFile != "" {
				if err := a.ReadAnswers(cmd.Context(), f.answersFile, req.Answers); err != nil {
					return err
				}
			}
			return act(a, cmd, req, f.withPrompt)
		},
	}
	revisionFlag(cmd, &f)
	cmd.Flags().StringVar(&f.answersFile, "answers", "", `a JSON file of {"id": "text"}, or - for standard input`)
	promptFlag(cmd, &f)
	return cmd
}
