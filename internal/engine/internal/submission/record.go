package submission

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// JudgeReport derives the verdict of a report from the rows and the server's own runs.
func (sub *Submission) JudgeReport(s *standing.Standing, server ...workflow.Evidence) {
	c := s.Contract()
	c.Server, c.Lines = server, sub.Lines
	sub.Judgement = verdict.Judge(sub.Report, c)
}

// Returned reports whether the report is returned to the assistant because of its form.
func (sub *Submission) Returned() bool { return len(sub.Judgement.Returned) > 0 }

// TakesUp refuses a submission without a mention of the person's open change requests.
func (sub *Submission) TakesUp(rec *workflow.Record) error {
	if missing := rec.Unmentioned(sub.Assessment.Resolved); len(missing) > 0 {
		return fault.New(fault.InvalidArgument, "the submission does not mention %s of the human: %s",
			lang.Count(len(missing), "change request"), strings.Join(missing, ", ")).
			WithHint(`name each in "resolved" of the JSON block at the end, such as {"resolved": [{"id": "%s", "how": "…"}]}; where you do not follow one, add "status": "declined" and give the reason in "how"; nothing was changed`, missing[0])
	}
	return nil
}

// Fixed counts the findings resolved by the report of a build, without change requests.
func (sub *Submission) Fixed(st workflow.Stage, rec *workflow.Record) int {
	if st.Kind != workflow.KindBuild {
		return 0
	}
	n := len(sub.Assessment.Resolved)
	for _, d := range sub.Assessment.Resolved {
		if slices.ContainsFunc(rec.ChangeRequests, func(c workflow.ChangeRequest) bool { return c.ID == d.ID }) {
			n--
		}
	}
	return n
}

// compareFindings compares a report's findings with the ones before; nil if there were none.
func compareFindings(before *workflow.Record, after []workflow.Finding, sameTree string) *workflow.Progress {
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

// Enter puts the assessment into the record of the stage, which asks for the drafts of engines.
func (sub *Submission) Enter(l lang.Language, rec *workflow.Record, st workflow.Stage, engines []workflow.Engine) {
	a := sub.Assessment
	rec.ClaimedScore, rec.EstimatedScore, rec.Score, rec.ScoreNote = a.Claimed, nil, nil, ""
	if st.Gate == workflow.GateScore || a.Claimed != nil {
		rec.EstimatedScore, rec.Score, rec.ScoreNote = new(a.Estimated), new(a.Score()), a.ScoreNote.In(l)
	}
	rec.Candidates = nil
	if len(sub.drafts) > 1 || len(engines) > 1 {
		rec.Candidates = sub.newCandidates(l, rec, st)
	}
	rec.Audit, rec.Evidence, rec.Progress = sub.Audit, sub.Evidence, nil
	if st.Kind == workflow.KindBuild {
		rec.Returned = nil
	}
	rec.Resolved = a.Resolved
	if st.Gate == workflow.GateVerdict {
		sub.enterReport(l, rec)
	}
	enterQuestions(rec, a.Questions)
	rec.Feedback = ""
	rec.SettleRequests(a.Resolved, rec.Iteration)
}

func (sub *Submission) enterReport(l lang.Language, rec *workflow.Record) {
	j := sub.Judgement
	rec.Progress, rec.WorkTree = compareFindings(rec, j.Findings, sub.SameTree), sub.WorkTree
	rec.Verdict, rec.Objections, rec.Needs, rec.Returned = j.Verdict, l.SayAll(append(j.Held, j.Missing...)), "", nil
	if rec.Verdict == workflow.Blocked {
		rec.Needs = sub.Report.Needs
	}
	rec.Findings, rec.Criteria, rec.Checks = j.Findings, j.Criteria, j.Checks
}

// EnterReturn puts a returned report into the record of the stage: the reasons, and nothing that only a judged
// report changes. spent is true if the person decides next.
func (sub *Submission) EnterReturn(l lang.Language, rec *workflow.Record, spent bool) {
	rec.Returned, rec.Gaps, rec.Feedback = l.SayAll(sub.Judgement.Returned), nil, ""
	if spent {
		rec.Verdict, rec.Objections, rec.Needs = "", nil, ""
	}
}

// roundText returns the text of the round for people: for a report, with the tables made from its rows, unless it
// is returned.
func (sub *Submission) roundText(s *standing.Standing) string {
	if s.Stage.Gate != workflow.GateVerdict {
		return sub.Assessment.Document + "\n"
	}
	tables := ""
	if j := sub.Judgement; !sub.Returned() {
		tables = verdict.Tables(s.Documents, &workflow.Record{Criteria: j.Criteria, Findings: j.Findings, Checks: j.Checks})
	}
	return sub.Report.Document(tables) + "\n"
}

func (sub *Submission) newCandidates(l lang.Language, rec *workflow.Record, st workflow.Stage) []workflow.Candidate {
	refs := map[workflow.Engine]*workflow.ContentRef{workflow.Claude: rec.ClaudeResultRef, workflow.Codex: rec.CodexResultRef}
	out := make([]workflow.Candidate, len(sub.drafts))
	for i, d := range sub.drafts {
		out[i] = workflow.Candidate{Engine: d.engine, AuditScore: d.audit.Score, Path: refs[d.engine].FilePath}
		if st.Gate == workflow.GateVerdict {
			out[i].Verdict = d.report.Verdict()
		}
		if st.Gate == workflow.GateScore || d.read.Claimed != nil {
			out[i].Score, out[i].Estimated = new(d.read.Score()), d.read.Claimed == nil
		}
	}
	out[sub.taken].Taken, out[sub.taken].Because = true, sub.why.In(l)
	return out
}

// Of more questions than a person reads, or a reply holds, the first are put at once.
const (
	maxQuestions    = 20
	maxQuestionText = 4000 // bytes of all
)

// enterQuestions puts questions to the person, after those left for this round. The ones beyond the limits are
// left for the next.
func enterQuestions(rec *workflow.Record, asked []workflow.Question) {
	waited := rec.LaterQuestions()
	rec.Questions = slices.DeleteFunc(rec.Questions, func(q workflow.Question) bool { return q.Status == workflow.QuestionLater })
	for i := range waited {
		waited[i].Status = ""
	}
	asked = freshQuestions(rec, intake.MergeQuestions(waited, asked))
	size := 0
	for i, q := range asked {
		size += len(q.Question) + len(q.Context) + len(strings.Join(q.Options, ""))
		if i >= maxQuestions || i > 0 && size > maxQuestionText {
			asked[i].Status = workflow.QuestionLater
		}
	}
	rec.Questions = append(rec.Questions, asked...)
}

// freshQuestions gives a question with the id of an earlier one a new id, to keep the answers of all rounds apart.
func freshQuestions(rec *workflow.Record, asked []workflow.Question) []workflow.Question {
	out := slices.Clone(asked)
	for i := range out {
		if rec.KnowsQuestion(out[i].ID) {
			out[i].ID = ""
		}
	}
	intake.FreshIDs(out, func(id string) bool {
		return rec.KnowsQuestion(id) || slices.ContainsFunc(out, func(q workflow.Question) bool { return q.ID == id })
	})
	return out
}

// Gaps lists the gaps to close in the next round: the submission's own and, below the gate, the server's.
func (sub *Submission) Gaps(l lang.Language, st workflow.Stage, event workflow.Event) []string {
	a := sub.Assessment
	gaps := slices.Clone(a.Gaps)
	switch {
	case event == workflow.EventPlanned:
		return append(gaps, l.SayAll(a.Missing)...)
	case st.Gate != workflow.GateScore || event == workflow.EventScoredReady || a.Claimed != nil: // the audit names the rest
		return gaps
	}
	if !a.ScoreNote.Empty() {
		gaps = append(gaps, a.ScoreNote.In(l))
	}
	gaps = append(gaps, l.Say(`state "quality_score" as a number from 0 to 100: without it the score is an estimate, which ends at %d and opens no gate`, intake.EstimateMax))
	return append(gaps, l.SayAll(a.Missing)...)
}

// SameAsBefore says so if the document repeats the round before word for word, for the person who decides on it.
func (sub *Submission) SameAsBefore(s *standing.Standing) []string {
	rec := s.Session.Current()
	if rec.FinalResultRef == nil || workflow.Hash([]byte(sub.roundText(s))) != rec.FinalResultRef.SHA256 {
		return nil
	}
	if rec.Artifact != nil && rec.Artifact.Stale {
		return []string{s.Say("word for word the document from before an earlier stage was reopened")}
	}
	return []string{s.Say("word for word the document of the round before")}
}

// Keep stores the texts, and the document as the new working copy: the document read out of the texts, the texts
// with more than a document, and edits of the working copy not in the submission.
func (sub *Submission) Keep(ctx context.Context, tx store.Tx, disk *documents.Disk, s *standing.Standing, at time.Time) error {
	known := []string{sub.roundText(s)}
	for _, d := range sub.drafts {
		known = append(known, d.text)
	}
	edits, err := disk.Edits(ctx, s, known...)
	if err != nil {
		return err
	}
	var texts []store.Text
	add := func(kind, body string) int {
		texts = append(texts, store.Text{Stage: s.Session.CurrentStage, Kind: kind, Body: body, At: at})
		return len(texts) - 1
	}
	document := add("final_result", sub.roundText(s))
	places := map[workflow.Engine]int{}
	for _, d := range sub.drafts {
		places[d.engine] = document
		if d.text != texts[document].Body {
			places[d.engine] = add(string(d.engine)+"_result", d.text)
		}
	}
	if edits != "" {
		add("edited", edits)
	}
	refs, err := tx.Put(ctx, texts)
	if err != nil {
		return err
	}
	if edits != "" {
		sub.Edits = refs[len(refs)-1].FilePath
	}
	ref := func(engine workflow.Engine) *workflow.ContentRef {
		if i, given := places[engine]; given {
			return &refs[i]
		}
		return nil
	}
	rec := s.Session.Current()
	rec.FinalResultRef, rec.ClaudeResultRef, rec.CodexResultRef = &refs[document], ref(workflow.Claude), ref(workflow.Codex)
	disk.SaveWork(s.Session, texts[document].Body)
	return nil
}
