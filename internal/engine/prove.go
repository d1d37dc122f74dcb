package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/proof"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// writeStatement writes the signed statement about a run beside the documents, in a git repository, if a step has
// saved a document, taken one back, or ended the run. It fails no action: the next such step writes it.
func (r *run) writeStatement(ctx context.Context, before *workflow.Session, now *standing.Standing) {
	s := now.Session
	steps := s.History[min(len(before.History), len(s.History)):]
	stated := slices.ContainsFunc(steps, func(e workflow.Transition) bool {
		return e.FromStage() != e.ToStage() || e.Event == workflow.EventFinished || e.Event == workflow.EventReopened || e.Adoption != nil
	})
	if !stated || r.check.signer == nil || len(s.Artifacts) == 0 || r.project.Config.Proof == config.ProofOff {
		return
	}
	ctx = context.WithoutCancel(ctx)
	files, err := r.buildStatement(ctx, now, r.statementSigner(ctx))
	for _, f := range files {
		if err == nil {
			err = artifact.SaveWork(r.project.Dir, f.File, string(f.Body))
		}
	}
	if err != nil {
		r.engine.options.Log.Warn("the statement about a run cannot be written", "session", r.id, "error", err)
	}
}

// statementSigner signs a statement: with the key of sign_with, unless it has to be touched each time, else with
// this machine's key.
func (r *run) statementSigner(ctx context.Context) proof.Signer {
	if key := r.project.Config.SignWith; key != "" && !key.Touched() {
		return func(message []byte) (string, error) {
			return signature.SignWith(ctx, r.engine.options.Agent, key, message)
		}
	}
	return r.check.signer.Sign
}

// buildStatement returns the files of the statement; none outside of a repository.
func (r *run) buildStatement(ctx context.Context, now *standing.Standing, signer proof.Signer) ([]proof.Saved, error) {
	s, folder := now.Session, r.project.Dir.Path()
	head, err := git.Head(folder)
	if head == "" || err != nil {
		return nil, err
	}
	facts := proof.Facts{Program: r.engine.options.Version, Writer: r.engine.personOf(r.project), Head: s.Last().Signature, Altered: now.Altered, Work: workOf(s),
		Words: r.project.Config.Proof == config.ProofWords}
	if facts.Root, err = git.Root(ctx, folder); err != nil {
		return nil, err
	}
	if origin, err := git.OriginOf(ctx, folder); err == nil {
		facts.Remote = origin.Address
	}
	if facts.Work.TestedCommit == head { // later, nobody knows how it was
		tree, err := git.Look(ctx, folder)
		facts.Work.TestedClean = err == nil && tree != nil && !slices.ContainsFunc(tree.Changed, func(line string) bool {
			return !proof.IsOurs(line[len("?? "):])
		})
	}
	return proof.Write(s, facts, signer)
}

// workOf returns the commits at which the plan was approved and the last stage was judged.
func workOf(s *workflow.Session) (w proof.Work) {
	d := s.Definition()
	for _, e := range s.History {
		st, _ := d.Stage(e.FromStage())
		_, more := d.Next(st.ID)
		switch {
		case e.Commit == "" || e.FromStage() == "":
		case st.Kind == workflow.KindPlan && e.FromStage() != e.ToStage():
			w.ApprovedCommit = e.Commit
		case st.Kind == workflow.KindVerdict && !more && e.Action == workflow.ActionSubmit:
			w.TestedCommit = e.Commit
		}
	}
	return w
}

// headCommit returns the checked-out commit if a statement is about the work of the stage; "" if not, or if the
// project is in no repository.
func (r *run) headCommit(st workflow.Stage) string {
	if st.Kind != workflow.KindPlan && st.Kind != workflow.KindVerdict {
		return ""
	}
	return r.checkedOut()
}

// checkedOut returns the checked-out commit; "" if the project is in no repository.
func (r *run) checkedOut() string {
	head, err := git.Head(r.project.Dir.Path())
	if err != nil { // doctor names the trouble of a repository
		return ""
	}
	return head
}
