package decide

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// handedIn is the result of an engine in the flags, as text or path.
type handedIn struct{ text, path string }

func (o *taskOptions) submitCommand() *cobra.Command {
	var claude, codex handedIn
	var sprints []int
	fill := func(req *request.Request, _ []string) error {
		req.Sprints = sprints
		if err := o.addResult(req, workflow.Claude, claude); err != nil {
			return err
		}
		return o.addResult(req, workflow.Codex, codex)
	}
	cmd := o.actionCommand("submit [RUN] --stage STAGE", "Hand in the current stage's document", workflow.ActionSubmit, fill)
	cmd.Example = `  bmad-mcp task submit --stage po --claude-result-path docs/prd.md
  bmad-mcp task submit my-task --stage dev --codex-result - < report.md`
	flags := cmd.Flags()
	flags.StringVar(&claude.text, "claude-result", "", "the document as text, or - for standard input")
	flags.StringVar(&codex.text, "codex-result", "", "the same, written by Codex")
	flags.StringVar(&claude.path, "claude-result-path", "", "a file inside the project that holds it")
	flags.StringVar(&codex.path, "codex-result-path", "", "the same, written by Codex")
	flags.IntSliceVar(&sprints, "sprints", nil, "numbers of the sprints built (dev; default: all open ones)")
	o.stageFlag("the run's current stage")
	o.revisionFlag()
	o.promptFlag()
	return cmd
}

// addResult adds the result of an engine, if there is one.
func (o *taskOptions) addResult(req *request.Request, by workflow.Engine, r handedIn) error {
	name := string(by) + "-result"
	if !o.cmd.Flags().Changed(name) && !o.cmd.Flags().Changed(name+"-path") {
		return nil
	}
	if r.text == "-" {
		data, err := o.term.ReadAll(o.cmd.Context())
		if err != nil {
			return err
		}
		r.text = string(data)
	}
	req.Results = append(req.Results, request.Result{Engine: by, Text: r.text, Path: fromHere(r.path)})
	return nil
}

// fromHere makes a path absolute if it exists in the shell's folder; others are relative to the project.
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
