package decide

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// decideOptions are the flags of decide.
type decideOptions struct {
	gateOptions
	changes string
	answers []string
	skip    bool
}

// Decide returns the command for a person to decide at a gate, or to answer questions.
func Decide(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var o decideOptions
	cmd := tasks.OfTask(&cobra.Command{
		Use:   "decide",
		Short: "Decide what waits for you, or answer its questions",
		Long: `Shows what waits and the facts about it, opens the draft in $PAGER on request, and asks for
your decision, or for your answers. It is recorded as yours, given at a terminal. Where standard
input is not a terminal it refuses.

Scripts decide with --yes, --changes or --answer, without being asked. That counts as a
script's decision and not as yours: a gate under the policy strict does not take it.`,
		Example: `  bmad-mcp decide
  bmad-mcp decide sign-in --changes "name the retention periods"
  bmad-mcp decide sign-in --answer q1="Okta" --answer q2=skip`,
		RunE: func(cmd *cobra.Command, args []string) error { return runDecide(cmd, term, tasks, o, args) },
	})
	flags := cmd.Flags()
	flags.BoolVar(&o.yes, "yes", false, "approve without asking, for scripts")
	flags.StringVar(&o.changes, "changes", "", "send it back with these words")
	flags.StringArrayVar(&o.answers, "answer", nil, "an answer, as ID=TEXT, for scripts")
	flags.BoolVar(&o.skip, "skip", false, "take it without an answer to its questions, if it has reached its gate")
	flags.BoolVar(&o.edited, "edited", false, "approve the draft as it was edited since it was scored, without asking; at a terminal only")
	flags.StringVar(&o.feedback, "feedback", "", "with --yes: why")
	flags.IntVar(&o.revision, "revision", 0, "for scripts: refuse if the run has another revision by now")
	cmd.MarkFlagsMutuallyExclusive("yes", "changes", "answer", "edited")
	return cmd
}

func runDecide(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, o decideOptions, args []string) error {
	s, err := tasks.Session(cmd, args)
	if err != nil {
		return err
	}
	if o.reject = o.changes != ""; o.reject {
		o.feedback = o.changes
		_, nobody := term.Person()
		o.yes = nobody != nil
	}
	decided, skips := o.yes || o.reject, o.skip && s.GateMet()
	switch {
	case len(o.answers) > 0:
		return answerByScript(cmd, term, tasks, o, s)
	case s.CurrentState == workflow.Clarifying && !decided && !skips:
		return askHere(cmd, term, tasks, []string{s.SessionID}, workflow.ActionAnswer, "")
	}
	return runGate(cmd, term, tasks, o.gateOptions, []string{s.SessionID})
}

// answerByScript answers questions from the flags of a script.
func answerByScript(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, o decideOptions, s *workflow.Session) error {
	req := request.Request{Action: workflow.ActionAnswer, Address: project.Address{Session: s.SessionID}, Revision: &s.Revision}
	req.Via, req.Answers = workflow.ChannelScript, map[string]string{}
	for _, answer := range o.answers {
		id, text, ok := strings.Cut(answer, "=")
		if !ok {
			return fault.New(fault.InvalidArgument, "%q is not an answer", answer).WithHint(`write answers as ID=TEXT, such as q1="yes"`)
		}
		req.Answers[id] = text
	}
	if cmd.Flags().Changed("revision") {
		req.Revision = &o.revision
	}
	return runDecision(cmd.Context(), term, tasks, req)
}

// Former returns the commands replaced by decide. They still work, because the tool has actions with these
// names.
func Former(term *terminal.Terminal, tasks *app.Tasks) []*cobra.Command {
	out := []*cobra.Command{
		Gate(term, tasks, "confirm", "Decide yourself on the waiting document"),
		Gate(term, tasks, "approve", "Decide yourself on the waiting plan or failed work"),
		Gate(term, tasks, "reject", "Send back the waiting document or work, with the changes you want"),
		Answer(term, tasks),
	}
	for _, c := range out {
		c.Hidden = true
	}
	return out
}
