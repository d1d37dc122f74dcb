package engine

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Rounds end: after so many submissions below a gate, or so many reworks, the human
// decides whether it goes on.

// followsUp refuses a report that does not mention findings that were open in the one
// before: they would be lost without anyone having said that they are fixed.
func followsUp(rec *workflow.Record, a score.Assessment) error {
	var missing []string
	for _, f := range workflow.OpenFindings(rec.Findings) {
		if !slices.ContainsFunc(a.Findings, func(g workflow.Finding) bool { return g.ID == f.ID }) {
			missing = append(missing, f.ID)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return words.Unfollowed(missing)
}

// progress compares a report's findings with those of the one before; nil where that
// had none.
func progress(before *workflow.Record, after []workflow.Finding, sameTree string) *workflow.Progress {
	if len(before.Findings) == 0 {
		return nil
	}
	var p workflow.Progress
	for _, f := range after {
		i := slices.IndexFunc(before.Findings, func(g workflow.Finding) bool { return g.ID == f.ID })
		switch {
		case i < 0:
			p.New++
		case !before.Findings[i].Open() && !f.Open(): // told before
		case f.Open():
			p.Open++
		case f.Status == "withdrawn":
			p.Withdrawn++
		default:
			p.Fixed++
		}
	}
	p.Unchanged = sameTree != "" && sameTree == before.WorkTree && p.Open > 0 && p.New+p.Fixed+p.Withdrawn == 0
	return &p
}

// enter puts the assessment of a submission into the record of its stage.
func (sub *submission) enter(rec *workflow.Record, st workflow.Stage, l lang.Language) {
	a := sub.assessment
	estimated, claimed := a.Estimated, a.Score()
	rec.ClaimedScore, rec.EstimatedScore, rec.Score, rec.ScoreNote = a.Claimed, nil, nil, ""
	if st.Gate == workflow.GateScore || a.Claimed != nil {
		rec.EstimatedScore, rec.Score, rec.ScoreNote = &estimated, &claimed, a.ScoreNote.In(l)
	}
	rec.Verdict, rec.Objections, rec.Needs = a.Effective(), said(l, a.Objections), ""
	if rec.Verdict == workflow.Blocked {
		rec.Needs = a.Needs
	}
	rec.Audit, rec.Evidence, rec.Progress = sub.audit, sub.evidence, nil
	if st.Gate == workflow.GateVerdict {
		rec.Progress, rec.WorkTree = progress(rec, a.Findings, sub.sameTree), sub.workTree
	}
	rec.Findings, rec.Criteria, rec.Resolved = a.Findings, a.Criteria, a.Resolved
	rec.Questions = freshQuestions(rec, a.Questions)
	rec.Feedback = ""
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

// gapsFor lists the gaps that the next round should close: the submission's own and, below the
// gate, what the server finds missing.
func gapsFor(l lang.Language, st workflow.Stage, a score.Assessment, event workflow.Event) []string {
	gaps := slices.Clone(a.Gaps)
	switch {
	case event == workflow.EventPlanned:
		return append(gaps, said(l, a.Missing)...)
	case st.Gate != workflow.GateScore || event == workflow.EventScoredReady || a.Claimed != nil: // the audit names the rest
		return gaps
	}
	if !a.ScoreNote.Empty() {
		gaps = append(gaps, a.ScoreNote.In(l))
	}
	return append(append(gaps, words.StateScore(score.EstimateMax).In(l)), said(l, a.Missing)...)
}

// said puts sentences into a language.
func said(l lang.Language, texts []lang.Text) []string {
	var out []string
	for _, t := range texts {
		out = append(out, t.In(l))
	}
	return out
}
