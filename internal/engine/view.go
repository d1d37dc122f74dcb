package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// depth says how much of a briefing a reply carries.
type depth int

const (
	light depth = iota // where the session stands
	short              // and what a refinement needs
	whole              // and the whole role prompt
)

// reply describes the session as it stands, with message told to the human.
func (r run) reply(s *workflow.Session, d depth, message string) (*Reply, error) {
	if r.stopped() {
		d = light
	}
	st, rec := r.stage(s), s.Current()
	out := &Reply{
		SessionID: s.SessionID, TaskName: s.TaskName, Cwd: r.project.Dir.Path(),
		Stage: s.CurrentStage, CurrentStage: s.CurrentStage,
		State: s.CurrentState, CurrentState: s.CurrentState,
		Iteration:   rec.Iteration,
		Rework:      s.ReworkCount,
		Revision:    s.Revision,
		UserMessage: r.headline(s) + "\n\n" + message,
	}
	switch r.req.Action {
	case workflow.ActionStart, workflow.ActionStatus, workflow.ActionResume:
		out.SessionFile = store.SessionPath(s.SessionID)
	}
	if s.CurrentState.Active() {
		// While generating, there is one only where an earlier stage was reopened.
		out.Draft = r.waiting(s)
		if out.Draft != nil && !s.CurrentState.Gated() {
			out.Draft.SHA256 = ""
		}
		if out.Draft != nil && s.CurrentState.Gated() {
			out.Draft.SHA256, out.Draft.Summary = r.draftHash(s), "" // the digest says more
		}
	}
	r.scores(s, st, out)
	r.interact(s, st, out)
	if s.CurrentState == workflow.Clarifying {
		out.Questions = rec.Questions
	}
	if s.CurrentState.Active() && s.CurrentState != workflow.Generating {
		out.Gaps = rec.Gaps
	}
	r.markChanged(s, out)
	if d != short {
		out.StageDescription = st.Description
	}
	if st.Kind == workflow.KindBuild || s.CurrentState == workflow.AwaitingApproval || d == light {
		out.Sprints = s.Sprints
	}
	if s.CurrentState.Active() && d > light {
		return out, r.brief(s, st, d, out)
	}
	return out, nil
}

// waiting refers to the current stage's document; nil where there is none.
func (r run) waiting(s *workflow.Session) *Document {
	st, rec := r.stage(s), s.Current()
	if doc := r.document(s, st, rec.FinalResultRef); doc != nil {
		return doc
	}
	if text := rec.InlineDraft(); text != "" { // of an older server
		return &Document{
			Stage: st.ID, Path: store.SessionPath(s.SessionID), Size: int64(len(text)),
			Summary: fmt.Sprintf("it stands in this file, under stages.%s.draft", st.ID),
		}
	}
	return nil
}

func (r run) scores(s *workflow.Session, st workflow.Stage, out *Reply) {
	rec := s.Current()
	if st.Gate == workflow.GateScore {
		out.GateScore = r.policy(s).GateScore
	}
	if s.CurrentState == workflow.Generating {
		return // what there is speaks of an earlier round
	}
	if st.Gate == workflow.GateScore {
		out.Score, out.ScoreNote = rec.Score, rec.ScoreNote
		out.ScoreIsEstimate = rec.EstimatedScore != nil && rec.ClaimedScore == nil
	}
	if a := rec.Audit; a != nil {
		out.Audit = &AuditView{Score: a.Score}
	}
	if e := evidenceFor(s); e != nil {
		out.Evidence = &EvidenceView{Command: clip(e.Command, 300), TimedOut: e.TimedOut, NotRun: e.NotRun, Changed: e.Changed, Notes: e.Notes}
		if e.NotRun == "" {
			out.Evidence.ExitCode = &e.ExitCode
		}
		if e.Failed() {
			out.Evidence.Tail = lastBytes(e.Tail, shownTail)
		}
	}
	if st.Gate == workflow.GateVerdict {
		out.Verdict, out.Needs, out.Objections, out.Progress = rec.Verdict, rec.Needs, rec.Objections, rec.Progress
		if s.CurrentState == workflow.AwaitingApproval {
			out.Findings = brief(workflow.OpenFindings(rec.Findings)) // the report has all of it
		}
	}
}

// shownTail is how much of a failed command's output a reply carries, in bytes.
const shownTail = 600

// lastBytes returns the end of a text, from a line's beginning where it is cut.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s[len(s)-n:], "")
	if _, after, ok := strings.Cut(s, "\n"); ok {
		s = after
	}
	return "…\n" + s
}

// brief adds what the current stage works from.
func (r run) brief(s *workflow.Session, st workflow.Stage, d depth, out *Reply) error {
	prompt, err := r.project.Prompt(st)
	if err != nil {
		return err
	}
	rec := s.Current()
	out.Engines = st.EnginesFor(s.Objective)
	c := &Context{Documents: r.earlier(s, st), Feedback: rec.Feedback}
	for _, q := range rec.Asked {
		a := Answer{ID: q.ID, Question: q.Question, Answer: rec.Answers[q.ID]}
		if d == short && !rec.AnswerChannels[q.ID].Personal() { // the conversation has them
			a.Question, a.Answer = clip(a.Question, 100), clip(a.Answer, 240)
		}
		c.Answers = append(c.Answers, a)
	}
	if st.Gate == workflow.GateVerdict && rec.Iteration > 0 {
		out.Findings = rec.Findings // each is to be taken up again
		if d == short {
			out.Findings = brief(rec.Findings)
		}
	}
	if judges := r.workflow(s).JudgesOf(st.ID); rec.Iteration > 0 && !r.continuing(s) {
		for _, judge := range judges {
			id := judge.ID
			out.Findings = append(out.Findings, workflow.OpenFindings(s.Record(id).Findings)...)
			for _, row := range workflow.FailedCriteria(s.Record(id).Criteria) {
				out.Findings = append(out.Findings, workflow.Finding{
					ID: row.ID, Severity: "critical", Problem: "criterion failed: " + row.Criterion + " " + row.Evidence,
				})
			}
			if e := s.Record(id).Evidence; e.Failed() {
				out.Findings = append(out.Findings, workflow.Finding{ID: "verify", Severity: "critical", Problem: evidenceText(e) + "; its output ends: " + lastBytes(e.Tail, shownTail)})
			}
			out.Findings = append(out.Findings, doubts(id, s.Record(id))...)
			if ref := s.Record(id).FinalResultRef; ref != nil && s.Record(id).Held() {
				c.Documents = append(c.Documents, Document{Stage: id, Path: ref.FilePath, Size: ref.Size})
			}
		}
	}
	if d == whole {
		if r.req.Action == workflow.ActionStart || r.req.Action == workflow.ActionResume {
			c.Objective = s.Objective // later stages have it in the first document
		}
		out.RolePrompt = r.persona(st) + prompt.Full(st.GateScore)
	} else {
		out.RolePrompt = refinement(st, rec, prompt.Later(st.GateScore))
	}
	out.Context = c
	return nil
}

// doubts are the objections to a stated pass, as findings for the developer.
func doubts(id workflow.StageID, rec *workflow.Record) []workflow.Finding {
	if !rec.Doubted() {
		return nil
	}
	var out []workflow.Finding
	for i, words := range rec.Objections {
		out = append(out, workflow.Finding{ID: fmt.Sprintf("%s-doubt-%d", id, i+1), Severity: "major", Problem: "the report states a pass, but: " + words})
	}
	return out
}

// refinement is the short prompt of a later round: what changes, and the form.
func refinement(st workflow.Stage, rec *workflow.Record, later string) string {
	if rec.Verdict == workflow.Blocked {
		later = "You were blocked; what the human did or decided is in context.feedback. Go on with it, and report on the whole again.\n\n" + later
	}
	return "You are still the " + st.Role + ". This is round " + strconv.Itoa(rec.Iteration+1) + " of the " + st.DocumentName +
		"; your last version is at draft.path; people may have edited it. Edit it there. Work in context.user_answers, context.feedback, gaps and findings of this reply.\n\n" + later
}

// earlier lists the documents of the stages before st: the artifact where one is
// saved, else the last submission.
func (r run) earlier(s *workflow.Session, st workflow.Stage) []Document {
	var out []Document
	for _, before := range r.workflow(s).Stages {
		if scope := s.Record(before.ID).ApprovedScope; scope != nil {
			out = append(out, Document{Stage: before.ID, Path: scope.FilePath, Summary: "the approved scope", Size: scope.Size})
		}
		if before.ID == st.ID {
			break
		}
		if doc := r.document(s, before, s.Record(before.ID).FinalResultRef); doc != nil {
			// The host reads the file; the hash is for decisions.
			doc.Summary, doc.SHA256 = clip(doc.Summary, 24), ""
			out = append(out, *doc)
		}
	}
	return out
}

// document refers to a stage's saved artifact, or to its submission where that is newer or the only one.
func (r run) document(s *workflow.Session, st workflow.Stage, ref *workflow.ContentRef) *Document {
	rec := s.Record(st.ID)
	var doc *Document
	if ref != nil {
		doc = &Document{Stage: st.ID, Path: ref.FilePath, Summary: clip(ref.Summary, 120), Size: ref.Size, SHA256: ref.SHA256}
	}
	working := doc != nil && st.ID == s.CurrentStage && s.CurrentState.Active()
	if working {
		doc.Path, doc.Modified = r.draftPath(s), r.draftEdited(s)
		doc.Size = r.draftSize(s, doc.Size)
	}
	a := rec.Artifact
	if a == nil {
		return doc
	}
	if doc != nil { // until there is a new submission, it is of before the reopen
		doc.Stale = a.Stale && s.CurrentState == workflow.Generating
	}
	state := artifact.StateOf(r.project.Dir, *a)
	// What people have made of an artifact, and not the submission it came from, is
	// what another round starts from, until that round has a submission of its own.
	started := state == artifact.Modified && !submittedSince(s, st.ID) && (!working || !doc.Modified)
	if state == artifact.Missing || rec.Status != workflow.Done && !started && doc != nil {
		return doc
	}
	if doc == nil {
		doc = &Document{Stage: st.ID}
	}
	doc.Path, doc.Size, doc.SHA256, doc.Stale, doc.Modified = a.Path, a.Size, a.SHA256, a.Stale, state == artifact.Modified
	if info, err := r.project.Dir.Stat(a.Path); err == nil {
		doc.Size = info.Size()
	}
	return doc
}

// submittedSince reports whether a stage has had a submission since the session last went back.
func submittedSince(s *workflow.Session, stage workflow.StageID) bool {
	for _, e := range slices.Backward(s.History) {
		switch {
		case e.Event == workflow.EventReopened, e.Event == workflow.EventSentBack:
			return false
		case e.Action == workflow.ActionSubmit && e.FromStage() == stage:
			return true
		}
	}
	return false
}

// brief keeps of each finding what tells it from the others.
func brief(findings []workflow.Finding) []workflow.Finding {
	return first(findings, len(findings), func(f *workflow.Finding) { f.Problem, f.Fix = clip(f.Problem, 120), "" })
}

func sprintNumbers(sprints []workflow.Sprint) []int {
	out := make([]int, len(sprints))
	for i, s := range sprints {
		out[i] = s.Number
	}
	return out
}

// clip shortens a text to n bytes at a character, marking the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := 0
	for i := range s {
		if i > n-3 {
			break
		}
		end = i
	}
	return s[:end] + "…"
}
