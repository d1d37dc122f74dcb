package reply

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Depth is the amount of briefing in a reply.
type Depth int

// The depths of a briefing.
const (
	Light Depth = iota // the place of the session
	Short              // and the instructions for a refinement
	Whole              // and the whole role prompt
)

// DepthFor returns the depth of the briefing: whole when a stage begins, short for another round.
func DepthFor(s *standing.Standing, from workflow.Stage) Depth {
	switch {
	case s.Session.CurrentState == workflow.Generating && from.Kind == workflow.KindBuild && s.Session.ReworkCount > 0 && s.Session.Current().Iteration > 0:
		return Short // the reviewer has had the whole prompt before the rework
	case s.Session.CurrentState == workflow.Generating:
		return Whole
	case s.Session.CurrentState == workflow.Refining:
		return Short
	}
	return Light
}

// Briefs reports whether a reply of depth d has a role prompt.
func Briefs(s *standing.Standing, d Depth) bool {
	return s.Session.CurrentState.Active() && d > Light && !s.Stopped()
}

// New describes a session, with a message for the human, and the stage's role prompt of depth d if the reply
// [Briefs].
func New(s *standing.Standing, d Depth, message, role string) *Reply {
	if s.Stopped() {
		d = Light
	}
	st, rec := s.Stage, s.Session.Current()
	out := &Reply{
		Place: Place{
			SessionID: s.Session.SessionID, TaskName: s.Session.TaskName, Cwd: s.Folder,
			Stage: s.Session.CurrentStage, CurrentStage: s.Session.CurrentStage, State: s.Session.CurrentState, CurrentState: s.Session.CurrentState,
		},
		Turn:      Turn{UserMessage: words.Headline(s) + "\n\n" + message},
		Iteration: rec.Iteration, Rework: s.Session.ReworkCount, Revision: s.Session.Revision,
		file: s.SessionFile, language: s.Language, action: s.Call.Action, taskLine: words.TaskLine(s),
		form: form{sparing: s.Sparing},
	}
	switch s.Call.Action {
	case workflow.ActionStart:
		out.UserMessage = message // which has the place in it
		out.SessionFile = s.SessionFile
	case workflow.ActionStatus, workflow.ActionResume:
		out.SessionFile = s.SessionFile
	}
	if s.Session.CurrentState.Active() {
		// While generating, there is one only if an earlier stage was reopened.
		out.Draft = waitingDocument(s)
		if out.Draft != nil && !s.Session.CurrentState.Gated() {
			out.Draft.SHA256 = ""
		}
		if out.Draft != nil && s.Session.CurrentState.Gated() {
			out.Draft.SHA256, out.Draft.Summary = s.Draft.SHA256, "" // the digest says more
		}
	}
	addScores(s, st, out)
	describeTurn(s, out)
	if s.Session.CurrentState == workflow.Clarifying {
		out.Questions = rec.OpenQuestions()
	}
	if s.Session.CurrentState.Active() && s.Session.CurrentState != workflow.Generating {
		out.Gaps = rec.Gaps
	}
	for _, asked := range rec.OpenRequests() {
		out.ChangeRequests = append(out.ChangeRequests, NewCommentView(asked.Comment, asked.Stage))
	}
	if s.Session.CurrentState.WaitsForHuman() || s.Call.Describing() {
		out.Since = NewSinceViews(s.Since)
	}
	markChanged(s, out)
	if d != Short {
		out.StageDescription = s.Word(st.Description)
	}
	if st.Kind == workflow.KindBuild || s.Session.CurrentState == workflow.AwaitingApproval || d == Light {
		out.Sprints = s.Session.Sprints
	}
	if Briefs(s, d) {
		out.addBriefing(s, d, role)
	}
	return out
}

// OfProject returns the reply with the sessions of a project without an active one.
func OfProject(folder string, sparing bool) *Reply {
	return &Reply{
		Place: Place{Cwd: folder}, Turn: Turn{InteractionType: NoSession, PendingUserActions: []string{"start"}},
		action: workflow.ActionStatus, form: form{sparing: sparing},
	}
}

// AddStages describes all stages.
func (r *Reply) AddStages(s *standing.Standing) {
	for _, st := range s.Workflow.Stages {
		rec := s.Session.Record(st.ID)
		view := StageView{Stage: st.ID, Status: rec.Status, Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict}
		if rec.Audit != nil {
			view.Audit = &rec.Audit.Score
		}
		if entry, g := s.Grant(st.ID); g != nil {
			view.Grant = &GrantView{Channel: g.Channel, Assurance: g.Assurance, Decision: g.Decision, TookMS: g.TookMS, Person: g.Person}
			view.Grant.Unvouched = s.Trusting && !s.Integrity.Vouches(entry)
		}
		if rec.Artifact != nil {
			view.Artifact, view.Stale = rec.Artifact.Path, rec.Artifact.Stale
			file := s.Saved[rec.Artifact.Path]
			view.Missing, view.Modified = file.Missing, file.Modified
		}
		r.Stages = append(r.Stages, view)
	}
}

// waitingDocument refers to the current stage's document; nil if there is none.
func waitingDocument(s *standing.Standing) *standing.Document {
	doc := s.Waiting()
	switch {
	case doc == nil:
	case doc.Path == s.SessionFile:
		doc.Summary = s.Say("it stands in this file, under stages.%s.draft", s.Session.CurrentStage)
	default:
		doc.Summary = visible.Fit(doc.Summary, 120)
	}
	return doc
}

func addScores(s *standing.Standing, st workflow.Stage, out *Reply) {
	rec := s.Session.Current()
	if st.Gate == workflow.GateScore {
		out.GateScore = s.Policy.GateScore
	}
	if s.Session.CurrentState == workflow.Generating {
		return // the record is of an earlier round
	}
	if st.Gate == workflow.GateScore {
		out.Score, out.ScoreNote = rec.Score, rec.ScoreNote
		out.ScoreIsEstimate = rec.EstimatedScore != nil && rec.ClaimedScore == nil
	}
	out.Candidates = rec.Candidates
	if a := rec.Audit; a != nil {
		out.Audit = &AuditView{Score: a.Score}
		belowGate := s.Session.CurrentState == workflow.AwaitingApproval && st.Gate == workflow.GateScore
		if s.Session.CurrentState.Gated() && !belowGate {
			out.Audit.Findings = words.AuditFindings(s.Language, a)
		}
	}
	if e := s.Evidence(); e != nil {
		out.Evidence = &EvidenceView{Command: visible.Fit(e.Command, 300), TimedOut: e.TimedOut, NotRun: e.NotRun, Changed: e.Changed, Notes: e.Notes}
		if e.NotRun == "" {
			out.Evidence.ExitCode = &e.ExitCode
		}
		if e.Failed() {
			out.Evidence.Tail = lastBytes(e.Tail, shownTail)
		}
	}
	if st.Gate == workflow.GateVerdict {
		out.Verdict, out.Needs, out.Objections, out.Progress = rec.Verdict, rec.Needs, rec.Objections, rec.Progress
		out.Returned, out.Rows = rec.Returned, newRowsView(rec.Criteria)
		if s.Session.CurrentState == workflow.AwaitingApproval {
			out.Findings = shortenFindings(workflow.OpenFindings(rec.Findings)) // the report has all of it
		}
	}
}

// shownTail is the size of the end of a failed command's output in a reply, in bytes.
const shownTail = 600

// lastBytes returns the end of a text, from a line's beginning if it is cut.
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

func (r *Reply) addBriefing(s *standing.Standing, d Depth, role string) {
	st, rec, out := s.Stage, s.Session.Current(), r
	out.Engines = st.EnginesFor(s.Session.Objective)
	owed := s.Owed()
	if out.Owed = owed[:min(len(owed), maxOwed)]; len(owed) > maxOwed {
		out.OwedMore = &OwedMore{Count: len(owed), Path: s.Draft.Work}
	}
	c := &Context{Documents: earlierDocuments(s, st), Feedback: rec.Feedback}
	for _, q := range rec.SettledQuestions() {
		a := Answer{ID: q.ID, Question: q.Question, Answer: rec.Answers[q.ID], Skipped: q.Status == workflow.QuestionSkipped, unseen: rec.AnswerChannels[q.ID].Personal()}
		if d == Short && !a.unseen { // the conversation has them
			a.Question, a.Answer = visible.Fit(a.Question, 100), visible.Fit(a.Answer, 240)
		}
		c.Answers = append(c.Answers, a)
	}
	for _, note := range s.Session.Handed() {
		c.Comments = append(c.Comments, NewCommentView(note, ""))
	}
	if st.Gate == workflow.GateVerdict && rec.Iteration > 0 {
		out.Findings = rec.Findings // each is to be taken up again
		if d == Short {
			out.Findings = shortenFindings(rec.Findings)
		}
	}
	if judges := s.Workflow.JudgesOf(st.ID); rec.Iteration > 0 && !s.Continuing() {
		for _, judge := range judges {
			id := judge.ID
			tail := ""
			if e := s.Session.Record(id).Evidence; e.Failed() {
				tail = lastBytes(e.Tail, shownTail)
			}
			out.Findings = append(out.Findings, words.JudgedFindings(s.Language, id, s.Session.Record(id), tail)...)
			if ref := s.Session.Record(id).FinalResultRef; ref != nil && s.Session.Record(id).Held() {
				c.Documents = append(c.Documents, standing.Document{Stage: id, Path: ref.FilePath, Size: ref.Size})
			}
		}
	}
	out.RolePrompt = role
	if d != Whole {
		out.RolePrompt = words.Refinement(s, role)
	} else if s.Call.Action == workflow.ActionStart || s.Call.Action == workflow.ActionResume {
		c.Objective = s.Session.Objective // later stages have it in the first document
	}
	if out.RolePrompt != "" {
		out.RolePrompt += words.TakeUp(len(out.ChangeRequests), len(c.Comments))
	}
	out.Context = c
}

// TextPaths lists the paths of the texts that a reply tells to read.
func (r *Reply) TextPaths() (paths []string) {
	if r.Context != nil {
		for _, d := range r.Context.Documents {
			paths = append(paths, d.Path)
		}
	}
	for _, c := range r.Candidates {
		paths = append(paths, c.Path)
	}
	return paths
}

// earlierDocuments lists the documents of the stages before st: the artifact if one is
// saved, else the last submission.
func earlierDocuments(s *standing.Standing, st workflow.Stage) []standing.Document {
	var out []standing.Document
	for _, before := range s.Workflow.Stages {
		if scope := s.Session.Record(before.ID).ApprovedScope; scope != nil {
			out = append(out, standing.Document{Stage: before.ID, Path: scope.FilePath, Summary: s.Say("the approved scope"), Size: scope.Size})
		}
		if before.ID == st.ID {
			break
		}
		if doc := s.Document(before); doc != nil {
			doc.Summary, doc.SHA256 = "", "" // the host reads the file; the hash is for decisions
			out = append(out, *doc)
		}
	}
	return out
}

// shortenFindings keeps the part of each finding needed to tell it from the others.
func shortenFindings(findings []workflow.Finding) []workflow.Finding {
	return firstItems(findings, len(findings), func(f *workflow.Finding) { f.Problem, f.Fix = visible.Fit(f.Problem, 120), "" })
}
