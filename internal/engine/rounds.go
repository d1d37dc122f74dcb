package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
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
func (sub *submission) enter(rec *workflow.Record, st workflow.Stage) {
	a := sub.assessment
	estimated, claimed := a.Estimated, a.Score()
	rec.ClaimedScore, rec.EstimatedScore, rec.Score, rec.ScoreNote = a.Claimed, nil, nil, ""
	if st.Gate == workflow.GateScore || a.Claimed != nil {
		rec.EstimatedScore, rec.Score, rec.ScoreNote = &estimated, &claimed, a.ScoreNote
	}
	rec.Verdict, rec.Objections, rec.Needs = a.Effective(), a.Objections, ""
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
func gapsFor(st workflow.Stage, a score.Assessment, event workflow.Event) []string {
	gaps := slices.Clone(a.Gaps)
	switch {
	case event == workflow.EventPlanned:
		return append(gaps, a.Missing...)
	case st.Gate != workflow.GateScore || event == workflow.EventScoredReady || a.Claimed != nil: // the audit names the rest
		return gaps
	}
	if a.ScoreNote != "" {
		gaps = append(gaps, a.ScoreNote)
	}
	return append(append(gaps, words.StateScore(score.EstimateMax)), a.Missing...)
}

// editedText is the kind of a text that a person had in the working copy and no submission took.
const editedText = "edited"

// textsOf are what a submission is kept as: the document read out of it, what each engine
// handed in, and edits of the working copy that it does not take. index has the place of
// each engine's text; a text that is nothing but the document is stored once.
func textsOf(s *standing.Standing, sub *submission, edits string, at time.Time) (texts []store.Text, index map[workflow.Engine]int) {
	texts = []store.Text{{Stage: s.CurrentStage, Kind: "final_result", Body: sub.assessment.Document + "\n", At: at}}
	index = map[workflow.Engine]int{}
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
	if edits != "" {
		texts = append(texts, store.Text{Stage: s.CurrentStage, Kind: editedText, Body: edits, At: at})
	}
	return texts, index
}

// sameAsBefore says so where a submission is word for word the stage's document of the round
// before, so that the person who decides on it knows.
func sameAsBefore(rec *workflow.Record, sub *submission) []string {
	if rec.FinalResultRef == nil || workflow.Hash([]byte(sub.assessment.Document+"\n")) != rec.FinalResultRef.SHA256 {
		return nil
	}
	return []string{words.SameAsBefore(rec.Artifact != nil && rec.Artifact.Stale)}
}
