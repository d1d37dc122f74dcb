package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/submission"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// submit scores a document and moves the session by what comes of it.
func (r *run) submit(ctx context.Context) (*Reply, error) {
	var sub *submission.Submission
	var kept string
	from := workflow.Stage{}
	s, err := r.change(ctx, func(s *standing.Standing) (err error) {
		from = s.Stage
		r.disk.AdoptSprints(ctx, s) // as the change itself will
		if r.req.Sprints != nil && from.Kind != workflow.KindBuild {
			return fault.New(fault.InvalidArgument, "sprints go with stage %q, not %q", s.Builder(), from.ID).
				WithHint("leave sprints out")
		}
		if err := r.req.NotStale(r.project, s); err != nil {
			return err
		}
		if sub, err = submission.Read(ctx, &r.req, r.project, s); err != nil {
			return err
		}
		return r.examine(ctx, s, from, sub)
	}, func(tx store.Tx, s *standing.Standing) (err error) {
		kept, err = r.take(ctx, tx, s, from, sub)
		return err
	})
	if err != nil {
		return nil, err
	}
	said := words.Outcome(s, from, artifact.WorkPath(s.TaskName, from.ID), sub.Fixed(from, s.Record(from.ID)), kept) + words.EditsNote(s.Language, sub.Edits)
	out, err := r.reply(ctx, s, reply.DepthFor(s, from), said+words.Message(s))
	if rec := s.Record(from.ID); out != nil && rec.Status == workflow.Done && rec.Artifact != nil {
		out.Artifact = rec.Artifact.Path
	}
	if err == nil && s.CurrentState == workflow.Clarifying && r.req.Ask != nil && s.Policy.Gate != workflow.GateRelay {
		return r.askNow(ctx, s, out)
	}
	return out, err
}

// askNow puts the questions of a submission to the person right away, where the caller
// can. The submission is taken, whatever comes of it.
func (r *run) askNow(ctx context.Context, s *standing.Standing, submitted *Reply) (*Reply, error) {
	r.caller.show(s.Revision)
	next := r.run(r.project, r.id, Request{
		Action: workflow.ActionAnswer, By: r.req.By, Client: r.req.Client, Ask: r.req.Ask, Forms: r.req.Forms, HostConfirm: r.req.HostConfirm, Revision: &s.Revision,
	}, r.call)
	out, err := next.answer(ctx)
	var none *silence
	if err == nil || errors.Is(err, ErrAsked) || errors.As(err, &none) && !none.Unasked {
		return out, err
	}
	return submitted, nil
}

// examine finds out, before any lock is taken, what the server itself can say of a submission.
func (r *run) examine(ctx context.Context, s *standing.Standing, st workflow.Stage, sub *submission.Submission) (err error) {
	if sub.Scope, err = r.req.Scope(s, sub.Assessment.Scope); err != nil {
		return err
	}
	scoping := s.Workflow.Scoping(s.Session)
	if st.Gate == workflow.GateVerdict {
		if err := sub.FollowsUp(s.Record(st.ID)); err != nil {
			return err
		}
		sub.WorkTree, sub.SameTree = r.disk.Fingerprint(s, r.req.Sources(r.project, s), r.Now())
	}
	guard := r.person.In(r.project)
	if err := sub.Judge(ctx, s, r.disk, guard); err != nil {
		return err
	}
	if err := sub.TakesUp(s.Current()); err != nil { // of two drafts, the one that is taken
		return err
	}
	if !scoping { // nothing was changed yet
		sub.Evidence = guard.Evidence(ctx, r.req.Tell, s)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	sub.Assessment.Objections = append(sub.Assessment.Objections, permission.Opposes(s, sub.Evidence, sub.Assessment.Verdict)...)
	return nil
}

// take records a submission in the session and fires its outcome. It returns
// where an edited artifact is kept that the outcome replaced.
func (r *run) take(ctx context.Context, tx store.Tx, s *standing.Standing, st workflow.Stage, sub *submission.Submission) (kept string, err error) {
	rec, a, scoping := s.Current(), sub.Assessment, s.Workflow.Scoping(s.Session)
	// A gate that is pending cannot be loosened by coming to it once more.
	policy := s.Policy
	st = st.Under(policy)
	if s.CurrentState.Gated() { // admitted as an edited draft
		if err := r.fire(ctx, s, workflow.EventChangesRequested, workflow.Transition{
			Iteration: rec.Iteration, Score: rec.Score, Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256,
		}); err != nil {
			return "", err
		}
	}
	unchanged := sub.SameAsBefore(s)
	if err := sub.Keep(ctx, tx, r.disk, s, r.Now()); err != nil {
		return "", err
	}
	first := rec.Iteration == 0
	rec.Iteration++
	sub.Enter(s.Language, rec, st, st.EnginesFor(s.Objective))
	reading := workflow.Reading{
		Claimed: a.Claimed, Questions: len(rec.OpenQuestions()) > 0, Verdict: rec.Verdict, Doubted: rec.Doubted(), Exhausted: gate.Exhausted(s), Scoping: scoping,
		Audited: &sub.Audit.Score,
	}
	event := s.Workflow.Outcome(st, first, reading)
	rec.Gaps = append(unchanged, sub.Gaps(s.Language, st, event)...)
	if a.Claimed != nil && st.Gate == workflow.GateScore && event != workflow.EventScoredReady {
		rec.Gaps = append(rec.Gaps, words.AuditGaps(s.Language, sub.Audit)...)
	}
	if event != workflow.EventQuestioned {
		// Not put to the human in this round, and not lost either.
		for _, q := range rec.OpenQuestions() {
			rec.Gaps = append(rec.Gaps, words.OpenQuestion(q).In(s.Language))
		}
		rec.DropOpenQuestions()
	}
	switch {
	case st.Kind == workflow.KindPlan:
		s.SetSprints(a.Sprints)
	case st.Kind == workflow.KindBuild && !scoping:
		rec.Scope = sub.Scope
		s.MarkSprints(sub.Scope, workflow.SprintImplemented)
	}
	if event == workflow.EventDelivered || event == workflow.EventFinished {
		if kept, err = r.disk.SaveArtifact(ctx, tx, s, workflow.Grant{}, r.Now()); err != nil {
			return "", err
		}
	}
	rec.Policy = &policy
	audited, findings, exit := measured(st, rec)
	if err := r.fire(ctx, s, event, workflow.Transition{
		Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Judged: rec.Judged(), AuditScore: audited, FindingsOpen: findings, ExitCode: exit,
		Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256, Sources: r.req.Sources(r.project, s), Kept: sub.Edits, Candidates: words.HistoryCandidates(s, rec), Evidence: words.HistoryEvidence(s.Language, rec.Evidence),
	}); err != nil {
		return "", err
	}
	return kept, nil
}

// measured is what the history keeps of the server's own findings about a submission.
func measured(st workflow.Stage, rec *workflow.Record) (audited *float64, findings, exit *int) {
	if rec.Audit != nil {
		score := rec.Audit.Score
		audited = &score
	}
	if st.Kind == workflow.KindVerdict {
		open := len(workflow.OpenFindings(rec.Findings))
		findings = &open
	}
	if e := rec.Evidence; e != nil && e.NotRun == "" {
		code := e.ExitCode
		exit = &code
	}
	return audited, findings, exit
}
