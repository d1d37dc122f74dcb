package decide

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// taskFlags are the arguments of the tool, as flags.
type taskFlags struct {
	stage, feedback       string
	claude, codex         string
	claudePath, codexPath string
	answersFile           string
	sprints               []int
	confirmed, approved   bool
	withPrompt            bool
	revision              int
}

// act runs one action and prints its reply.
func act(a *app.App, cmd *cobra.Command, req request.Request, withPrompt bool) error {
	switch req.Action {
	case workflow.ActionConfirm, workflow.ActionApprove, workflow.ActionAnswer, workflow.ActionReopen, workflow.ActionCancel:
		req.Via = workflow.ChannelScript
	}
	out, err := a.Do(cmd.Context(), req)
	if err != nil {
		return err
	}
	return printReply(a, out, withPrompt)
}

// revisionFlag lets a script change only the revision that it has seen.
func revisionFlag(cmd *cobra.Command, f *taskFlags) {
	cmd.Flags().IntVar(&f.revision, "revision", 0, "refuse if the session has another revision by now (status prints it with --json)")
}

// wantedRevision returns the revision that was asked for, nil if there is none.
func (f *taskFlags) wantedRevision(cmd *cobra.Command) *int {
	if cmd.Flags().Changed("revision") {
		return &f.revision
	}
	return nil
}

func promptFlag(cmd *cobra.Command, f *taskFlags) {
	cmd.Flags().BoolVar(&f.withPrompt, "prompt", false, "print the role prompt too")
}

// waits reports whether a session, or one of those listed, waits for the human.
func waits(r *reply.Reply) bool {
	return r.State.WaitsForHuman() || slices.ContainsFunc(r.Sessions, func(s reply.SessionView) bool { return s.State.WaitsForHuman() })
}
