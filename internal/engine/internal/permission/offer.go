package permission

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Offer returns the command that the person can let the server run, as it is now, with a yes to the plan at whose
// gate the run waits; nil if there is none. The command is guessed from the project's files, so only a run without a
// verify command has one.
func (g *Guard) Offer(s *standing.Standing) *Want {
	opensGate := s.Session.CurrentState == workflow.AwaitingApproval && s.Stage.Kind == workflow.KindPlan && !s.Overrides()
	waitsForOthers := s.Ruled() && s.Missing() > 1
	stages := verifiableStages(s.Workflow)
	if !opensGate || waitsForOthers || g.Consent == nil || len(stages) == 0 {
		return nil
	}
	kept := s.Session.KeptVerify()
	for _, stage := range stages {
		_, isTheirs := g.project.Config.PersonVerify[stage] // empty too: they want none
		if isTheirs || g.planVerify(stage, kept[stage], g.storedNow()).Keep.Command != "" {
			return nil
		}
	}
	command := verify.Guess(g.project.Dir.Tree())
	if command == "" || g.permits().Command(command, workflow.SetAtGate) != nil {
		return nil
	}
	w := wanted{Guard: g}
	return w.addCommand(command, workflow.SetAtGate, "")
}

// Offered returns the offer of a want: the command with the present files that have its instructions.
func (w *Want) Offered() *workflow.Offer {
	if w == nil {
		return nil
	}
	text := w.Text
	for _, f := range w.Scripts {
		text += "\n" + f.Text + " " + f.SHA256
	}
	return &workflow.Offer{Command: w.Text, SHA256: workflow.Hash([]byte(text))}
}

// Take refuses an offer of the person's answer if it is not the present one, or if the answer is not their own act.
func (w *Want) Take(taken *workflow.Offer, by workflow.Channel) error {
	now := w.Offered()
	if now == nil || now.Command != taken.Command || now.SHA256 != taken.SHA256 || !by.Strict() {
		return words.OfferChanged(*taken)
	}
	return nil
}

// LetRun allows a command that the person has taken with a yes, and returns the verify commands of the run for the
// entry of that yes.
func (g *Guard) LetRun(ctx context.Context, s *standing.Standing, w Want) (map[workflow.StageID]workflow.VerifyCommand, error) {
	if err := g.Allow(ctx, w); err != nil {
		return nil, err
	}
	next := s.Session.KeptVerify()
	if next == nil {
		next = map[workflow.StageID]workflow.VerifyCommand{}
	}
	for _, stage := range verifiableStages(s.Workflow) {
		next[stage] = workflow.VerifyCommand{Command: w.Text, SetBy: workflow.SetAtGate, At: g.storedNow()}
	}
	return s.Session.KeepVerify(next), nil
}
