package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func answerCommand(a *app) *cobra.Command {
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
				if err := readAnswers(cmd.Context(), a, f.answersFile, req.Answers); err != nil {
					return err
				}
			}
			return a.act(cmd, req, f.withPrompt)
		},
	}
	revisionFlag(cmd, &f)
	cmd.Flags().StringVar(&f.answersFile, "answers", "", `a JSON file of {"id": "text"}, or - for standard input`)
	promptFlag(cmd, &f)
	return cmd
}

func readAnswers(ctx context.Context, a *app, name string, into map[string]string) error {
	data, err := a.ReadNamed(ctx, name, terminal.MaxInput)
	if err != nil {
		return fault.New(fault.NotFound, "the answers cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &into); err != nil {
		return fault.New(fault.InvalidArgument, "the answers in %s are not a JSON object of texts: %w", name, err).
			WithHint(`write {"q1": "text", "q2": "text"}`)
	}
	return nil
}
