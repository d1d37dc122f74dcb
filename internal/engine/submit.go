package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/submission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// submit scores a document and moves the session by the outcome.
func (r *run) submit(ctx context.Context) (Outcome, error) {
	var sub *submission.Submission
	from := workflow.Stage{}
	s, err := r.changeSession(ctx, func(s *standing.Standing) (err error) {
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
		reportsBuild := from.Kind == workflow.KindBuild && !s.Workflow.Scoping(s.Session)
		isReport := from.Kind == workflow.KindVerdict || reportsBuild // on code, which may have changed
		if len(r.req.Results) == 0 && !isReport && sub.SameAsBefore(s) != nil {
			return fault.New(fault.InvalidArgument, "submit names no document, and the working copy %s is still what was handed in last", s.Draft.Work).
				WithHint("edit it there and submit again, or pass claude_result or codex_result, or the path of a file in the project as claude_result_path or codex_result_path")
		}
		return r.examine(ctx, s, from, sub)
	}, func(tx store.Tx, s *standing.Standing) error {
		return r.recordSubmission(ctx, tx, s, from, sub)
	})
	if err != nil {
		return Outcome{}, err
	}
	said := words.Outcome(s, from, artifact.WorkPath(s.Session.TaskName, from.ID), sub.Fixed(from, s.Session.Record(from.ID)), r.disk.Kept) + words.EditsNote(s.Language, sub.Edits)
	out, err := r.buildReply(ctx, s, reply.DepthFor(s, from), said+words.Message(s))
	if rec := s.Session.Record(from.ID); out.Reply != nil && rec.Status == workflow.Done && rec.Artifact != nil {
		out.Artifact = rec.Artifact.Path
	}
	if err == nil && s.Session.CurrentState == workflow.Clarifying && r.req.Ask != nil && s.Policy.Gate != workflow.GateRelay {
		return r.askNow(ctx, s, out)
	}
	return out, err
}

// askNow puts the questions of a submission to the person right away, if the caller
// can. The submission is taken, whatever comes of it.
func (r *run) askNow(ctx context.Context, s *standing.Standing, submitted Outcome) (Outcome, error) {
	r.caller.noteShown(s.Session.Revision)
	next := r.engine.newRun(r.project, r.id, request.Request{Action: workflow.ActionAnswer, Revision: &s.Session.Revision, Caller: r.req.Caller}, r.call)
	out, err := next.answer(ctx)
	var none *gate.Silence
	isSilent := errors.As(err, &none) && !none.Unasked
	if err == nil || errors.Is(err, request.ErrAsked) || isSilent {
		return out, err
	}
	return submitted, nil
}

// examine adds the server's own findings to a submission, before any lock is taken.
func (r *run) examine(ctx context.Context, s *standing.Standing, st workflow.Stage, sub *submission.Submission) (err error) {
	covered, unknown := sub.Assessment.Covers(s.Session.Sprints)
	if unknown != "" && st.Kind == workflow.KindBuild {
		return request.UnknownSprint(s, unknown)
	}
	if sub.Scope, err = r.req.Scope(s, covered); err != nil {
		return err
	}
	guard := r.engine.person.In(r.project)
	verdicts := st.Gate == workflow.GateVerdict
	if verdicts {
		r.disk.GatherCriteria(ctx, s)
		sub.Lines = r.disk.CountLines(s, sub.Report)
		if sub.JudgeReport(s); sub.Returned() {
			return ctx.Err()
		}
		sub.WorkTree, sub.SameTree = r.disk.Fingerprint(s, r.req.Sources(r.project, s), r.engine.Now())
	} else if err := sub.AuditDocuments(ctx, s, r.disk, guard); err != nil {
		return err
	}
	if requirements, ok := s.Workflow.Requirements(); ok && requirements.ID == st.ID && s.Session.CriteriaReader > 0 {
		sub.Unlisted = !verdict.Names(sub.Assessment.Document)
	}
	if from := s.Stage; from.Kind == workflow.KindBuild && !s.Workflow.Scoping(s.Session) {
		sub.Absent = r.project.Absent(ctx, sub.Assessment.Files)
		if len(sub.Absent) > 0 && s.Session.Returns() == 0 {
			sub.Judgement.Returned = []lang.Text{words.AbsentFiles(sub.Absent)}
			return ctx.Err()
		}
	}
	if err := sub.TakesUp(s.Session.Current()); err != nil { // of two drafts, the chosen one
		return err
	}
	if !s.Workflow.Scoping(s.Session) { // nothing was changed yet
		sub.Evidence = guard.Evidence(ctx, r.req.Tell, s)
	}
	if verdicts {
		sub.JudgeReport(s, guard.Runs(ctx, r.req.Tell, s, sub.Evidence, sub.Report.Checks)...)
		sub.Judgement.Held = append(sub.Judgement.Held, permission.Opposes(s, sub.Evidence, sub.Judgement.Verdict)...)
		r.judgeTree(ctx, s, sub)
		if absent := r.project.Absent(ctx, workflow.AbsentFiles(s.Session)); len(absent) > 0 && sub.Judgement.Verdict.Passes() {
			sub.Judgement.Held = append(sub.Judgement.Held, words.AbsentFiles(absent))
		}
	}
	return ctx.Err()
}

// judgeTree has a pass wait for the person if nothing was built, or if that is unknown. They are asked once.
func (r *run) judgeTree(ctx context.Context, s *standing.Standing, sub *submission.Submission) {
	if _, builds := s.Workflow.OfKind(workflow.KindBuild); !builds || !sub.Judgement.Verdict.Passes() || workflow.AcceptsUntouched(s.Session, workflow.NothingChanged) {
		return
	}
	found, why := r.disk.CompareTree(ctx, s.Session, r.req.Sources(r.project, s))
	if found == "" || workflow.AcceptsUntouched(s.Session, found) {
		return
	}
	_, planned := workflow.TreeBefore(s.Session)
	sub.Untouched = found
	sub.Judgement.Held = append(sub.Judgement.Held, words.Untouched(found, planned, why))
}

// recordSubmission records a submission in the session and fires the outcome.
func (r *run) recordSubmission(ctx context.Context, tx store.Tx, s *standing.Standing, st workflow.Stage, sub *submission.Submission) error {
	rec, a, scoping := s.Session.Current(), sub.Assessment, s.Workflow.Scoping(s.Session)
	// Coming to a pending gate once more cannot loosen it.
	policy := s.Policy
	st = st.Under(policy)
	unchanged, undone := sub.SameAsBefore(s), r.disk.TakenBack(ctx, s, a.Document)
	if st.Kind == workflow.KindPlan {
		r.disk.KeepSprints(ctx, s)
	}
	if err := sub.Keep(ctx, tx, r.disk, s, r.engine.Now()); err != nil {
		return err
	}
	first := rec.Iteration == 0 || len(rec.LaterQuestions()) > 0 // these are put at any score too
	rec.Iteration++
	if sub.Returned() {
		return r.giveBack(ctx, s, st, sub, policy)
	}
	sub.Enter(s.Language, rec, st, st.EnginesFor(s.Session.Objective))
	reading := workflow.Reading{
		Claimed: a.Claimed, Questions: len(rec.OpenQuestions()) > 0, Verdict: rec.Verdict, Doubted: rec.Doubted(), Exhausted: gate.Exhausted(s), Scoping: scoping,
	}
	if sub.Audit != nil {
		reading.Audited = &sub.Audit.Score
	}
	event := s.Workflow.Outcome(st, first, reading)
	rec.Gaps = append(unchanged, sub.Gaps(s.Language, st, event)...)
	if a.Claimed != nil && st.Gate == workflow.GateScore && event != workflow.EventScoredReady {
		rec.Gaps = append(rec.Gaps, words.AuditGaps(s.Language, sub.Audit)...)
	}
	if sub.Unlisted && event == workflow.EventScoredBelow {
		rec.Gaps = append(rec.Gaps, s.Say("no line of it can be read as a criterion: give those of each story a heading “Acceptance criteria”, and each an id (AC-1.1: …)"))
	}
	rec.FoundGaps = slices.DeleteFunc(slices.Clone(rec.Gaps), func(gap string) bool { return slices.Contains(a.Gaps, gap) })
	if event != workflow.EventQuestioned {
		// Not put to the human in this round, and not lost either.
		for _, q := range slices.Concat(rec.OpenQuestions(), rec.LaterQuestions()) {
			rec.Gaps = append(rec.Gaps, s.Say("open question: %s", q.Question))
		}
		rec.DropOpenQuestions()
	}
	switch {
	case st.Kind == workflow.KindPlan:
		r.disk.SetSprints(ctx, s, a.Document, a.Sprints)
	case st.Kind == workflow.KindBuild && !scoping:
		rec.Scope = sub.Scope
		s.Session.MarkSprints(sub.Scope, workflow.SprintImplemented)
	}
	if event == workflow.EventDelivered || event == workflow.EventFinished {
		if err := r.disk.SaveArtifact(ctx, tx, s, workflow.Grant{}, r.engine.Now()); err != nil {
			return err
		}
	}
	rec.Policy = &policy
	audited, findings, exit := serverFindings(st, rec)
	return r.fireEvent(ctx, s, event, workflow.Transition{
		Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Judged: rec.Judged(), AuditScore: audited, FindingsOpen: findings, ExitCode: exit,
		Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256, Sources: r.req.Sources(r.project, s),
		Kept: sub.Edits, Candidates: words.HistoryCandidates(s, rec),
		Evidence: words.HistoryEvidence(s.Language, rec.Evidence), Rows: words.Rows(s.Language, rec.Criteria), ByWord: verdict.CountRows(rec.Criteria).ByWord,
		Edit: words.TakenBack(s.Language, undone), Untouched: sub.Untouched, Files: a.Files, Absent: sub.Absent,
	})
}

// giveBack returns a report to the assistant for its form; the third time in a row the person decides. Of the last
// judged report everything is kept but the round, the texts and the reasons.
func (r *run) giveBack(ctx context.Context, s *standing.Standing, st workflow.Stage, sub *submission.Submission, policy workflow.Policy) error {
	rec, spent := s.Session.Current(), s.Session.Returns()+1 >= workflow.MaxReturns
	event := s.Workflow.Outcome(st, false, workflow.Reading{Returned: true, Exhausted: spent})
	sub.EnterReturn(s.Language, rec, spent)
	rec.Policy = &policy
	return r.fireEvent(ctx, s, event, workflow.Transition{
		Iteration: rec.Iteration, Judged: rec.Judged(), Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256,
		Sources: r.req.Sources(r.project, s), Kept: sub.Edits, Returned: rec.Returned, ByWord: verdict.CountRows(sub.Judgement.Criteria).ByWord,
	})
}
