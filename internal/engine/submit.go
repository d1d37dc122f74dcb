package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// submit scores a document and moves the session by what comes of it.
func (r run) submit(ctx context.Context) (*Reply, error) {
	var sub *submission
	var kept string
	from := workflow.Stage{}
	s, err := r.change(ctx, func(s *workflow.Session) (err error) {
		from = r.stage(s)
		r.adoptSprints(ctx, s) // as the change itself will
		if r.req.Sprints != nil && from.Kind != workflow.KindBuild {
			return fault.New(fault.InvalidArgument, "sprints go with stage %q, not %q", r.builder(s), from.ID).
				WithHint("leave sprints out")
		}
		if err := r.notStale(s); err != nil {
			return err
		}
		if sub, err = r.readSubmission(ctx, s, from); err != nil {
			return err
		}
		return r.examine(ctx, s, from, sub)
	}, func(tx store.Tx, s *workflow.Session) (err error) {
		kept, err = r.take(ctx, tx, s, from, sub)
		return err
	})
	if err != nil {
		return nil, err
	}
	said := r.outcome(s, from, sub, kept) + editsNote(sub.edits)
	out, err := r.reply(s, depthFor(s, from), said+r.message(s))
	if rec := s.Record(from.ID); out != nil && rec.Status == workflow.Done && rec.Artifact != nil {
		out.Artifact = rec.Artifact.Path
	}
	if err == nil && s.CurrentState == workflow.Clarifying && r.req.Ask != nil && r.policy(s).Gate != workflow.GateRelay {
		return r.askNow(ctx, s, out)
	}
	return out, err
}

// askNow puts the questions of a submission to the person right away, where the caller
// can. The submission is taken, whatever comes of it.
func (r run) askNow(ctx context.Context, s *workflow.Session, submitted *Reply) (*Reply, error) {
	r.memory.show(r.key(s.SessionID), s.Revision)
	r.req = Request{Action: workflow.ActionAnswer, By: r.req.By, Ask: r.req.Ask, Forms: r.req.Forms, HostConfirm: r.req.HostConfirm, Revision: &s.Revision}
	out, err := r.answer(ctx)
	var none *silence
	if err == nil || errors.Is(err, ErrAsked) || errors.As(err, &none) && !none.Unasked {
		return out, err
	}
	return submitted, nil
}

// examine finds out, before any lock is taken, what the server itself can say of a submission.
func (r run) examine(ctx context.Context, s *workflow.Session, st workflow.Stage, sub *submission) (err error) {
	if sub.scope, err = r.scope(s, sub.assessment.Scope); err != nil {
		return err
	}
	scoping := r.workflow(s).Scoping(s)
	if st.Gate == workflow.GateVerdict {
		if err := followsUp(s.Record(st.ID), sub.assessment); err != nil {
			return err
		}
		sub.workTree, sub.sameTree = r.fingerprint(s)
	}
	document := sub.assessment.Document
	if st.Gate == workflow.GateVerdict { // what came beside the report is saved with it
		document = withRows(document, &workflow.Record{Findings: sub.assessment.Findings, Criteria: sub.assessment.Criteria})
	}
	if sub.audit, err = r.audit(ctx, s, st, document); err != nil {
		return err
	}
	if !scoping { // nothing was changed yet
		sub.evidence = r.evidence(ctx, s, st)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	sub.assessment.Objections = append(sub.assessment.Objections, opposes(s, st, sub.evidence, sub.assessment.Verdict)...)
	return nil
}

// depthFor is the whole briefing where a stage begins, the short one for another round.
func depthFor(s *workflow.Session, from workflow.Stage) depth {
	switch {
	case s.CurrentState == workflow.Generating && from.Kind == workflow.KindBuild && s.ReworkCount > 0 && s.Current().Iteration > 0:
		return short // the reviewer has had the whole prompt before the rework
	case s.CurrentState == workflow.Generating:
		return whole
	case s.CurrentState == workflow.Refining:
		return short
	}
	return light
}

// take records a submission in the session and fires its outcome. It returns
// where an edited artifact is kept that the outcome replaced.
func (r run) take(ctx context.Context, tx store.Tx, s *workflow.Session, st workflow.Stage, sub *submission) (kept string, err error) {
	rec, a, scoping := s.Current(), sub.assessment, r.workflow(s).Scoping(s)
	// A gate that is pending cannot be loosened by coming to it once more.
	policy := r.policy(s)
	st = st.Under(policy)
	if s.CurrentState.Gated() { // admitted as an edited draft
		if err := r.fire(ctx, s, workflow.EventChangesRequested, workflow.Transition{
			Iteration: rec.Iteration, Score: rec.Score, Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256,
		}); err != nil {
			return "", err
		}
	}
	unchanged := sameAsBefore(rec, sub)
	if err := r.keep(ctx, tx, s, rec, sub); err != nil {
		return "", err
	}
	first := rec.Iteration == 0
	rec.Iteration++
	estimated, score := a.Estimated, a.Score()
	rec.ClaimedScore, rec.EstimatedScore, rec.Score, rec.ScoreNote = a.Claimed, nil, nil, ""
	if st.Gate == workflow.GateScore || a.Claimed != nil {
		rec.EstimatedScore, rec.Score, rec.ScoreNote = &estimated, &score, a.ScoreNote
	}
	rec.Verdict, rec.Objections, rec.Needs = a.Effective(), a.Objections, ""
	if rec.Verdict == workflow.Blocked {
		rec.Needs = a.Needs
	}
	rec.Audit, rec.Evidence = sub.audit, sub.evidence
	rec.Progress = nil
	if st.Gate == workflow.GateVerdict {
		rec.Progress, rec.WorkTree = progress(rec, a.Findings, sub.sameTree), sub.workTree
	}
	rec.Findings, rec.Criteria, rec.Resolved = a.Findings, a.Criteria, a.Resolved
	rec.Questions = freshQuestions(rec, a.Questions)
	rec.Feedback = ""

	reading := workflow.Reading{
		Claimed: a.Claimed, Questions: len(rec.Questions) > 0, Verdict: rec.Verdict, Doubted: rec.Doubted(), Exhausted: r.exhausted(s), Scoping: scoping,
	}
	if st.Scoring == workflow.ScoringAudited {
		reading.Audited = &sub.audit.Score
	}
	event := r.workflow(s).Outcome(st, first, reading)
	rec.Gaps = append(unchanged, gapsFor(st, a, event)...)
	if a.Claimed != nil && st.Gate == workflow.GateScore && event != workflow.EventScoredReady {
		rec.Gaps = append(rec.Gaps, auditGaps(sub.audit)...)
	}
	if event != workflow.EventQuestioned {
		// Not put to the human in this round, and not lost either.
		for _, q := range rec.Questions {
			rec.Gaps = append(rec.Gaps, "open question: "+q.Question)
		}
		rec.Questions = nil
	}
	switch {
	case st.Kind == workflow.KindPlan:
		s.SetSprints(a.Sprints)
	case st.Kind == workflow.KindBuild && !scoping:
		rec.Scope = sub.scope
		s.MarkSprints(sub.scope, workflow.SprintImplemented)
	}
	if event == workflow.EventDelivered || event == workflow.EventFinished {
		if kept, err = r.saveArtifact(ctx, tx, s, st, workflow.Grant{}); err != nil {
			return "", err
		}
	}
	rec.Policy = &policy
	if err := r.fire(ctx, s, event, workflow.Transition{
		Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Judged: rec.Judged(),
		Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256, Sources: r.sources(s), Kept: sub.edits, Evidence: historyText(rec.Evidence),
	}); err != nil {
		return "", err
	}
	return kept, nil
}

// auditGaps are the findings of an audit that holds a document below its gate, as work.
func auditGaps(a *workflow.Audit) []string {
	var out []string
	for _, f := range a.Findings[:min(len(a.Findings), 10)] {
		line := ""
		if f.Line > 0 {
			line = fmt.Sprintf(" (line %d)", f.Line)
		}
		out = append(out, fmt.Sprintf("audit −%s: %s%s; %s", points(f.Points), f.Problem, line, f.Fix))
	}
	return out
}

// keep stores the texts of a submission, and the document as the new working copy. Edits
// of that which the submission does not take are kept as a text of the round.
func (r run) keep(ctx context.Context, tx store.Tx, s *workflow.Session, rec *workflow.Record, sub *submission) error {
	edits, err := r.edits(s, sub)
	if err != nil {
		return err
	}
	texts, index := r.texts(s, sub, edits)
	refs, err := tx.Put(ctx, texts)
	if err != nil {
		return err
	}
	if edits != "" {
		sub.edits = refs[len(refs)-1].FilePath
	}
	ref := func(engine workflow.Engine) *workflow.ContentRef {
		if i, given := index[engine]; given {
			return &refs[i]
		}
		return nil
	}
	rec.FinalResultRef, rec.ClaudeResultRef, rec.CodexResultRef = &refs[0], ref(workflow.Claude), ref(workflow.Codex)
	return r.saveWork(tx, s, texts[0].Body)
}

// freshQuestions gives a new id to a question that would take the id of an
// earlier one, so that answers of all rounds stay apart.
func freshQuestions(rec *workflow.Record, asked []workflow.Question) []workflow.Question {
	out := slices.Clone(asked)
	for i := range out {
		if rec.KnowsQuestion(out[i].ID) {
			out[i].ID = ""
		}
	}
	score.FreshIDs(out, func(id string) bool {
		return rec.KnowsQuestion(id) || slices.ContainsFunc(out, func(q workflow.Question) bool { return q.ID == id })
	})
	return out
}

// gapsFor lists what the next round should close: the submission's own gaps and,
// below the gate, what we find missing and what it is worth.
func gapsFor(st workflow.Stage, a score.Assessment, event workflow.Event) []string {
	gaps := slices.Clone(a.Gaps)
	if event == workflow.EventPlanned {
		return append(gaps, a.Missing...)
	}
	if st.Gate != workflow.GateScore || event == workflow.EventScoredReady {
		return gaps
	}
	if a.Claimed != nil {
		return gaps // the audit says what is missing
	}
	if a.ScoreNote != "" {
		gaps = append(gaps, a.ScoreNote)
	}
	gaps = append(gaps, fmt.Sprintf(`state "quality_score" as a number from 0 to 100: without it the score is an estimate, which ends at %d and opens no gate`, score.EstimateMax))
	return append(gaps, a.Missing...)
}

// outcome says what a submission led to, before the message of where it stands now.
func (r run) outcome(s *workflow.Session, from workflow.Stage, sub *submission, kept string) string {
	rec := s.Record(from.ID)
	if from.ID == s.CurrentStage && s.CurrentState != workflow.Completed {
		return ""
	}
	var b strings.Builder
	switch from.Gate {
	case workflow.GateVerdict:
		risk := ""
		if rec.Verdict == workflow.PassWithRisk {
			risk = " **with risk**"
		}
		fmt.Fprintf(&b, "The %s has **passed** the work%s; saved as `%s`.", from.Role, risk, r.artifactPath(s, from))
		if text := progressText(rec.Progress); text != "" {
			b.WriteString(" " + text)
		}
		if open := workflow.OpenFindings(rec.Findings); len(open) > 0 {
			fmt.Fprintf(&b, " Still open: %s.", findingIDs(open))
		}
	default:
		fmt.Fprintf(&b, "The %s is in", from.DocumentName)
		if len(rec.Scope) > 0 {
			fmt.Fprintf(&b, " for %s", sprintList(rec.Scope))
		}
		fmt.Fprintf(&b, ": `%s`.", artifact.WorkPath(s.TaskName, from.ID))
		if n := len(sub.assessment.Resolved); n > 0 {
			fmt.Fprintf(&b, " It reports %s resolved.", count(n, "finding"))
		}
	}
	if rec.Evidence != nil {
		fmt.Fprintf(&b, "\n%s.", evidenceText(rec.Evidence))
	}
	if audit := auditText(rec.Audit); audit != "" {
		b.WriteString("\n" + audit)
	}
	return b.String() + keptNote(kept) + "\n\n"
}
