package decide

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func submitCommand(a *app.App) *cobra.Command {
	var f taskFlags
	cmd := &cobra.Command{
		Use:   "submit [TASK] --stage STAGE",
		Short: "Hand in the current stage's document",
		Example: `  bmad-mcp task submit --stage po --claude-result-path docs/prd.md
  bmad-mcp task submit my-task --stage dev --sprints 1,2 --codex-result - < report.md`,
		Args: cobra.MaximumNArgs(1),

		ValidArgsFunction: a.CompleteTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := request.Request{Action: workflow.ActionSubmit, Address: project.Address{Session: app.TaskName(args)},
				Stage: f.stage, Submit: request.Submit{Sprints: f.sprints}, Revision: f.wantedRevision(cmd)}
			for _, r := range []struct {
				engine     workflow.Engine
				name       string
				text, path string
			}{{workflow.Claude, "claude-result", f.claude, f.claudePath}, {workflow.Codex, "codex-result", f.codex, f.codexPath}} {
				if !cmd.Flags().Changed(r.name) && !cmd.Flags().Changed(r.name+"-path") {
					continue
				}
				if r.text == "-" {
					data, err := a.ReadAll(cmd.Context())
					if err != nil {
						return err
					}
					r.text = string(data)
				}
				req.Results = append(req.Results, request.Result{Engine: r.engine, Text: r.text, Path: fromHere(r.path)})
			}
			return act(a, cmd, req, f.withPrompt)
		},
	}
	revisionFlag(cmd, &f)
	flags := cmd.Flags()
	flags.StringVar(&f.stage, "stage", "", "the session's current stage")
	flags.StringVar(&f.claude, "claude-result", "", "the document as text, or - for standard input")
	flags.StringVar(&f.codex, "codex-result", "", "the same, written by Codex")
	flags.StringVar(&f.claudePath, "claude-result-path", "", "a file inside the project that holds it")
	flags.StringVar(&f.codexPath, "codex-result-path", "", "the same, written by Codex")
	flags.IntSliceVar(&f.sprints, "sprints", nil, "numbers of the sprints built (dev; default: all open ones)")
	promptFlag(cmd, &f)
	a.CompleteStages(cmd)
	return cmd
}

// fromHere makes a path that exists from the shell's folder absolute; any other
// is left to be found from the project.
func fromHere(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if _, err := os.Lstat(full); err != nil {
		return path
	}
	return full
}
