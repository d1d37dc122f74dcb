package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/score"
	"bmad-mcp/internal/store"
	"bmad-mcp/internal/workflow"
)

// submit scores a document and moves the session by what comes of it.
func (r run) submit(ctx context.Context) (*Reply, error) {
	var sub *submission
	var scope []int
	var kept string
	from := workflow.Stage{}
	s, err := r.change(ctx, func(s *workflow.Session) (err error) {
		from = r.stage(s)
		r.adoptSprints(ctx, s) // as the change itself will
		if r.req.Sprints != nil && from.ID != workflow.Dev {
			return fault.New(fault.InvalidArgument, "sprints go with stage \"dev\", not %q", from.ID).
				WithHint("leave sprints out")
		}
		if err := r.notStale(s); err != nil {
			return err
		}
		if sub, err = r.readSubmission(from); err != nil {
			return err
		}
		scope, err = r.scope(s, sub.assessment.Scope)
		return err
	}, func(s *workflow.Session) (err error) {
		kept, err = r.take(ctx, s, from, sub, scope)
		return err
	})
	if err != nil {
		return nil, err
	}
	said := r.outcome(s, from, sub, kept)
	out, err := r.reply(s, depthFor(s, from), said+r.message(s))
	if rec := s.Record(from.ID); out != nil && rec.Status == workflow.Done && rec.Artifact != nil {
		out.Artifact = rec.Artifact.Path
	}
	return out, err
}

// depthFor is the whole briefing where a stage begins, the short one for another round.
func depthFor(s *workflow.Session, from workflow.Stage) depth {
	switch {
	case s.CurrentState == workflow.Generating && from.ID == workflow.Dev && s.ReworkCount > 0 && s.Current().Iteration > 0:
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
func (r run) take(ctx context.Context, s *workflow.Session, st workflow.Stage, sub *submission, scope []int) (kept string, err error) {
	rec, a := s.Current(), sub.assessment
	if s.CurrentState.Gated() { // admitted as an edited draft
		if err := r.fire(ctx, s, workflow.EventChangesRequested, workflow.Transition{
			Iteration: rec.Iteration, Score: rec.Score, Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256,
		}); err != nil {
			return "", err
		}
	}
	unchanged := unchangedSince(rec, sub)
	if err := r.keep(ctx, s, rec, sub); err != nil {
		return "", err
	}
	first := rec.Iteration == 0
	rec.Iteration++
	estimated, score := a.Estimated, a.Score()
	rec.ClaimedScore, rec.EstimatedScore, rec.Score = a.Claimed, nil, nil
	if st.Gate == workflow.GateScore || a.Claimed != nil {
		rec.EstimatedScore, rec.Score = &estimated, &score
	}
	rec.Verdict, rec.Objections = a.Effective(), a.Objections
	rec.Findings, rec.Criteria, rec.Resolved = a.Findings, a.Criteria, a.Resolved
	rec.Questions = freshQuestions(rec, a.Questions)
	rec.Feedback = ""

	event := r.project.cfg.Workflow.Outcome(st, first, workflow.Reading{
		Claimed: a.Claimed, Questions: len(rec.Questions) > 0, Verdict: rec.Verdict,
	})
	rec.Gaps = append(unchanged, gapsFor(st, a, event)...)
	if event != workflow.EventQuestioned {
		// Not put to the human in this round, and not lost either.
		for _, q := range rec.Questions {
			rec.Gaps = append(rec.Gaps, "open question: "+q.Question)
		}
		rec.Questions = nil
	}
	switch st.ID {
	case workflow.SM:
		s.SetSprints(a.Sprints)
	case workflow.Dev:
		rec.Scope = scope
		s.MarkSprints(scope, workflow.SprintImplemented)
	}
	if event == workflow.EventDelivered || event == workflow.EventFinished {
		if kept, err = r.saveArtifact(ctx, s, st); err != nil {
			return "", err
		}
	}
	return kept, r.fire(ctx, s, event, workflow.Transition{
		Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict,
		Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256,
	})
}

// keep stores the texts of a submission: what each engine handed in, and the
// document read out of it. A text that is nothing but the document is stored once.
func (r run) keep(ctx context.Context, s *workflow.Session, rec *workflow.Record, sub *submission) error {
	at := r.Now()
	document := sub.assessment.Document + "\n"
	texts := []store.Text{{Stage: s.CurrentStage, Kind: "final_result", Body: document, At: at}}
	index := map[workflow.Engine]int{}
	for _, engine := range workflow.Engines() {
		text, given := sub.texts[engine]
		switch {
		case !given:
		case strings.TrimSpace(text) == sub.assessment.Document:
			index[engine] = 0
		default:
			index[engine] = len(texts)
			texts = append(texts, store.Text{Stage: s.CurrentStage, Kind: string(engine) + "_result", Body: text, At: at})
		}
	}
	refs, err := r.project.backend.Put(ctx, s.SessionID, texts)
	if err != nil {
		return err
	}
	r.onFailure(func() { r.project.backend.Drop(refs) })
	ref := func(engine workflow.Engine) *workflow.ContentRef {
		if i, given := index[engine]; given {
			return &refs[i]
		}
		return nil
	}
	rec.FinalResultRef, rec.ClaudeResultRef, rec.CodexResultRef = &refs[0], ref(workflow.Claude), ref(workflow.Codex)
	return nil
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
	if a.Claimed == nil {
		gaps = append(gaps, fmt.Sprintf(`state "quality_score" as a number from 0 to 100: without it the score is an estimate, which ends at %d and opens no gate`, score.EstimateMax))
	}
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
		word := map[workflow.Verdict]string{workflow.Pass: "passed", workflow.PassWithRisk: "passed, with risk,"}[rec.Verdict]
		fmt.Fprintf(&b, "The work **%s** the %s; saved as `%s`.", word, from.Role, r.artifactPath(s, from))
		if open := workflow.OpenFindings(rec.Findings); len(open) > 0 {
			fmt.Fprintf(&b, " Still open: %s.", count(len(open), "finding"))
		}
	default:
		fmt.Fprintf(&b, "The %s is in", from.DocumentName)
		if len(rec.Scope) > 0 {
			fmt.Fprintf(&b, " for %s", sprintList(rec.Scope))
		}
		fmt.Fprintf(&b, ": `%s`.", rec.FinalResultRef.FilePath)
		if n := len(sub.assessment.Resolved); n > 0 {
			fmt.Fprintf(&b, " It reports %s resolved.", count(n, "finding"))
		}
	}
	return b.String() + keptNote(kept) + "\n\n"
}
