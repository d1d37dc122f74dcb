package submission

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// OfEdit reads a document or plan edited at the gate. It takes the text, and the sprints of the headings: the
// statements of the round before still stand.
func OfEdit(ctx context.Context, p *project.Project, disk *documents.Disk, s *standing.Standing) (*Submission, error) {
	text, err := p.ReadDocument("draft", s.Draft.Path)
	if err != nil {
		return nil, err
	}
	if err := checkText(s.Draft.Path, text); err != nil {
		return nil, err
	}
	if s.Stage.Gate == workflow.GateVerdict {
		return ofReport(ctx, disk, s, text)
	}
	found := intake.Read(s.Stage, text)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case found.Document == "":
		return nil, fault.New(fault.InvalidArgument, "the draft %s has no document in it any more", s.Draft.Path).
			WithHint("restore the text and decide again, or ask for another round; nothing was changed")
	}
	read := intake.Assessment{Document: found.Document, Claimed: s.Session.Current().ClaimedScore, Estimated: found.Estimated, Sprints: found.Sprints}
	if s.Stage.Kind == workflow.KindPlan && len(read.Sprints) == 0 {
		before, err := disk.Text(ctx, s, standing.Document{Stage: s.Session.CurrentStage, Path: s.Session.Current().FinalResultRef.FilePath})
		if err != nil {
			return nil, err
		}
		if known, _ := intake.ReadSprints(before); len(known) > 0 {
			return nil, fault.New(fault.InvalidArgument, "the plan %s has no sprint any more, as it was edited", s.Draft.Path).
				WithHint("restore its headings (`## Sprint 1: title`) and decide again, or ask for another round; nothing was changed")
		}
		read.Sprints = s.Session.Sprints // stated by the round before, beside the text
	}
	return &Submission{Assessment: read, drafts: []draft{{engine: s.Stage.EnginesFor(s.Session.Objective)[0], text: text, read: read}}}, nil
}

// ofReport reads a report edited at the gate, and judges it by the block.
func ofReport(ctx context.Context, disk *documents.Disk, s *standing.Standing, text string) (*Submission, error) {
	judged, err := disk.Text(ctx, s, standing.Document{Stage: s.Session.CurrentStage, Path: s.Session.Current().FinalResultRef.FilePath})
	if err != nil {
		return nil, err
	}
	r := s.Revise(judged, text, disk.CountLines(s, verdict.Read(text, s.Stage.Keys)))
	if len(r.Refused) > 0 {
		return nil, fault.New(fault.InvalidArgument, "the report %s cannot be taken as it was edited: %s", s.Draft.Path, lang.Join(r.Refused, "; ")).
			WithHint("correct the block of JSON at its end and decide again, or restore the file; nothing was changed")
	}
	r.Held = append(r.Held, permission.Opposes(s, s.Session.Current().Evidence, r.Judgement.Verdict)...)
	if u := workflow.UntouchedAt(s.Session.History, s.Stage.ID); u != "" && r.Judgement.Verdict.Passes() {
		_, planned := workflow.TreeBefore(s.Session)
		r.Held = append(r.Held, words.Untouched(u, planned, lang.Text{}))
	}
	read := assessReport(r.Report)
	return &Submission{
		Assessment: read, Report: r.Report, Judgement: r.Judgement, Evidence: s.Session.Current().Evidence, WorkTree: s.Session.Current().WorkTree,
		drafts: []draft{{engine: s.Stage.EnginesFor(s.Session.Objective)[0], text: text, read: read, report: r.Report}},
	}, nil
}

// SHA256 returns the hash of the document as kept for the round.
func (sub *Submission) SHA256(s *standing.Standing) string {
	return workflow.Hash([]byte(sub.roundText(s)))
}

// EnterEdit puts the findings about an edited draft into the record of the stage, beside the statements of the
// round before.
func (sub *Submission) EnterEdit(l lang.Language, rec *workflow.Record) {
	rec.Audit, rec.Candidates = sub.Audit, nil
	if sub.Judgement.Verdict != "" {
		sub.enterReport(l, rec)
		return
	}
	if rec.EstimatedScore != nil {
		rec.EstimatedScore = new(sub.Assessment.Estimated)
	}
	if rec.ClaimedScore != nil {
		rec.ScoreNote = l.Say("stated for round %d, and the text was edited since", rec.Iteration)
	} else {
		rec.Score = rec.EstimatedScore
	}
}
