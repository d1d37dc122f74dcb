package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// FormatVersion is the version of the session format written by this build. Version 0 is a file
// without the field.
const FormatVersion = 1

// criteriaReader is the version of the rules of package criteria.
const criteriaReader = 1

// Session is one run for one objective. Its JSON form is the file on disk; unknown keys are kept in
// Extra and written back.
type Session struct {
	SessionID    string  `json:"session_id"`
	TaskName     string  `json:"task_name"`
	Cwd          string  `json:"cwd"`
	Objective    string  `json:"objective"`
	CurrentStage StageID `json:"current_stage"`
	CurrentState State   `json:"current_state"`
	// Workflow is the definition at the session's start; nil in a session of an older server, which
	// runs by the default one.
	Workflow *Definition `json:"workflow,omitempty"`
	// Branch is the branch of git on which the run works, in a worktree of its own; "" for a run in the main tree.
	Branch string `json:"branch,omitempty"`
	// Stages has an entry for every stage of the workflow.
	Stages map[StageID]*Record `json:"stages"`
	// Artifacts are the paths of saved deliverables, relative to Cwd, in order of stages.
	Artifacts []string `json:"artifacts"`
	Sprints   []Sprint `json:"sprints,omitempty"`
	// ReworkCount counts how often a review or QA stage sent the work back to dev.
	ReworkCount int       `json:"rework_count"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Version     int       `json:"version"`
	// Revision grows by one with every write.
	Revision int          `json:"revision"`
	History  []Transition `json:"history"`
	// Policy has the policy of each stage's gate, as it was last in force.
	Policy map[StageID]Policy `json:"policy,omitempty"`
	// CriteriaReader is the version of the rules by which criteria are read from the documents of this run: 0 in runs
	// of former programs, which owe what they owed.
	CriteriaReader int `json:"criteria_reader,omitempty"`
	// VerifyCommands are the commands that check submissions, by stage; the newest ones in the
	// history take precedence (KeptVerify).
	VerifyCommands map[StageID]VerifyCommand `json:"verify,omitempty"`
	// Seals are the seals of older programs, over the newest entry. Now each entry has a signature instead; the
	// list, which other programs look for, is empty once the session has gone on.
	Seals []json.RawMessage `json:"seals,omitzero"`
	Extra Extra             `json:",unknown"`
}

// Status of a stage within a session.
type Status string

// The stage statuses.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Done       Status = "completed"
)

// Record is a session's data about one stage.
type Record struct {
	Status          Status      `json:"status"`
	ClaudeResultRef *ContentRef `json:"claude_result_ref,omitempty"`
	CodexResultRef  *ContentRef `json:"codex_result_ref,omitempty"`
	// FinalResultRef is the document of the latest submission, without the envelope.
	FinalResultRef *ContentRef `json:"final_result_ref,omitempty"`
	// Candidates are the drafts of the latest round if more than one engine was asked, in the order
	// of the engines.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Score is the claimed score, or the estimate if none was claimed.
	Score *float64 `json:"score,omitempty"`
	// ClaimedScore is the submission's own score; only this one can reach a gate.
	ClaimedScore   *float64 `json:"claimed_score,omitempty"`
	EstimatedScore *float64 `json:"estimated_score,omitempty"`
	// ScoreNote explains the choice from several stated scores, or why a stated value is not a
	// score.
	ScoreNote string `json:"score_note,omitempty"`
	// Verdict is derived from the rows of the report. Objections speak against a pass, so that the
	// person is asked, or name the rows missing in the report of a failure.
	Verdict    Verdict      `json:"verdict,omitempty"`
	Objections []string     `json:"objections,omitempty"`
	Findings   []Finding    `json:"findings,omitempty"`
	Criteria   []Criterion  `json:"criteria,omitempty"`
	Checks     []Check      `json:"checks,omitempty"`
	Resolved   []Resolution `json:"resolved,omitempty"`
	// Returned are the reasons why the latest report was returned to the assistant; empty if it was
	// judged. The other fields are about the last judged report.
	Returned []string `json:"returned,omitempty"`
	// Questions are all questions put to the person, each with a status; Answers has the answers,
	// by question id. Older sessions keep settled questions apart, in Asked.
	Questions []Question        `json:"questions,omitempty"`
	Asked     []Question        `json:"asked,omitempty"`
	Answers   map[string]string `json:"answers,omitempty"`
	Gaps      []string          `json:"gaps,omitempty"`
	// FoundGaps are the gaps found by the server; the submission states the others.
	FoundGaps []string `json:"found_gaps,omitempty"`
	// Feedback is the person's latest feedback, for the next round.
	Feedback string `json:"feedback,omitempty"`
	// ChangeRequests are the comments of all rounds that the stage had to take up.
	ChangeRequests []ChangeRequest `json:"change_requests,omitempty"`
	// Scope lists the sprints of the latest dev submission.
	Scope []int `json:"scope,omitempty"`
	// EarlierSprints are the sprints of the plan approved before, with their criteria, if any of them was built; a
	// reopened plan is compared with them.
	EarlierSprints []Sprint `json:"earlier_sprints,omitempty"`
	// ApprovedScope is the scope approved by a person before the stage builds.
	ApprovedScope *ContentRef `json:"approved_scope,omitempty"`
	Approved      bool        `json:"approved"`
	// Iteration counts the submissions of this stage.
	Iteration int       `json:"iteration"`
	Artifact  *Artifact `json:"artifact,omitempty"`
	// Audit is the audit of the latest submission's document.
	Audit *Audit `json:"audit,omitempty"`
	// Evidence is the result of the verify command at the latest submission.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Policy is the policy with which the stage reached the gate. It can be tightened while the
	// gate is pending, but not loosened.
	Policy *Policy `json:"policy,omitempty"`
	// AnswerChannels has the channel of each answer, by question id.
	AnswerChannels map[string]Channel `json:"answer_channels,omitempty"`
	// Progress compares the findings with the previous report's.
	Progress *Progress `json:"progress,omitempty"`
	// Needs names the things that a blocked stage needs from the person.
	Needs string `json:"needs,omitempty"`
	// WorkTree is a fingerprint of the project's files when the report was submitted.
	WorkTree string `json:"work_tree,omitempty"`
	Extra    Extra  `json:",unknown"`
}

// NewSession returns a session at the first stage, generating, with the start in the history.
func (w *Definition) NewSession(id, objective, cwd, by string, at time.Time) *Session {
	s := &Session{
		SessionID: id, Objective: objective, Cwd: cwd,
		CurrentStage: w.First().ID, CurrentState: Generating, Workflow: w.Clone(),
		Stages:    make(map[StageID]*Record, len(w.Stages)),
		Artifacts: []string{},
		CreatedAt: at, UpdatedAt: at, Version: FormatVersion, Revision: 1, CriteriaReader: criteriaReader,
	}
	for _, st := range w.Stages {
		s.Stages[st.ID] = &Record{Status: Pending}
	}
	s.Current().Status = InProgress
	s.History = []Transition{{At: at, Action: ActionStart, Event: EventStarted, To: s.Place(), By: by}}
	return s
}

// Definition returns the session's workflow.
func (s *Session) Definition() *Definition {
	if s.Workflow == nil {
		return Default()
	}
	return s.Workflow
}

// Note adds an entry to the history without moving the session.
func (s *Session) Note(t Transition) {
	t.From, t.To = s.Place(), s.Place()
	s.Append(t)
}

// BranchFor returns the branch of the run of a task with a worktree of its own.
func BranchFor(task string) string { return "bmad/" + task }

// Record returns the record of a stage. If the stored session has none, Record adds an empty one.
func (s *Session) Record(id StageID) *Record {
	if s.Stages == nil {
		s.Stages = map[StageID]*Record{}
	}
	r := s.Stages[id]
	if r == nil {
		r = &Record{Status: Pending}
		s.Stages[id] = r
	}
	return r
}

// Current returns the record of the current stage.
func (s *Session) Current() *Record { return s.Record(s.CurrentStage) }

// Place returns "stage/state", in the form of the history.
func (s *Session) Place() string { return string(s.CurrentStage) + "/" + string(s.CurrentState) }

// Last returns the newest entry of the history; the zero entry if there is none.
func (s *Session) Last() Transition {
	if len(s.History) == 0 {
		return Transition{}
	}
	return s.History[len(s.History)-1]
}

// OpenSprints returns the numbers of the sprints with the given status.
func (s *Session) OpenSprints(status SprintStatus) []int {
	var out []int
	for _, sp := range s.Sprints {
		if sp.Status == status {
			out = append(out, sp.Number)
		}
	}
	return out
}

// MarkSprints sets the status of the sprints with these numbers.
func (s *Session) MarkSprints(numbers []int, status SprintStatus) {
	for i := range s.Sprints {
		if slices.Contains(numbers, s.Sprints[i].Number) {
			s.Sprints[i].Status = status
		}
	}
}

// SetArtifact records a saved deliverable of a stage and lists the path once, in order of stages.
func (s *Session) SetArtifact(w *Definition, id StageID, a Artifact) {
	r := s.Record(id)
	if r.Artifact != nil {
		a.Extra = r.Artifact.Extra
	}
	r.Artifact = &a
	listed := s.Artifacts[:0:0]
	for _, st := range w.Stages {
		if saved := s.Record(st.ID).Artifact; saved != nil {
			listed = append(listed, saved.Path)
		}
	}
	for _, p := range s.Artifacts {
		if !slices.Contains(listed, p) {
			listed = append(listed, p)
		}
	}
	s.Artifacts = listed
}

// Refs returns the existing content references of the stage, the document first.
func (r *Record) Refs() []*ContentRef {
	return slices.DeleteFunc([]*ContentRef{r.FinalResultRef, r.ClaudeResultRef, r.CodexResultRef, r.ApprovedScope}, func(ref *ContentRef) bool { return ref == nil })
}

// InlineDraft returns the document inside a session of format 0; "" if there is none.
func (r *Record) InlineDraft() string {
	var text string
	if json.Unmarshal(r.Extra["draft"], &text) != nil {
		return ""
	}
	return text
}

// Judged returns a hash of the findings about the stage's latest submission and of the policy at
// that time: everything that the gate shows and decides by.
func (r *Record) Judged() string {
	data, err := encodeForHash(struct { // empty values are not stored, so they must not count
		Score      *float64    `json:"score,omitempty"`
		Claimed    *float64    `json:"claimed,omitempty"`
		Verdict    Verdict     `json:"verdict,omitempty"`
		Objections []string    `json:"objections,omitempty"`
		Findings   []Finding   `json:"findings,omitempty"`
		Criteria   []Criterion `json:"criteria,omitempty"`
		Checks     []Check     `json:"checks,omitempty"`
		Audit      *Audit      `json:"audit,omitempty"`
		Evidence   *Evidence   `json:"evidence,omitempty"`
		Policy     *Policy     `json:"policy,omitempty"`
		ScoreNote  string      `json:"score_note,omitempty"`
		Candidates []Candidate `json:"candidates,omitempty"`
	}{r.Score, r.ClaimedScore, r.Verdict, r.Objections, r.Findings, r.Criteria, r.Checks, r.Audit, r.Evidence, r.Policy, r.ScoreNote, r.Candidates})
	if err != nil {
		return ""
	}
	return Hash(data)
}

// Met reports whether the latest submission's scores reach the gate of a policy.
func (r *Record) Met(p Policy) bool {
	var audited *float64
	if r.Audit != nil {
		audited = &r.Audit.Score
	}
	return p.Met(r.ClaimedScore, audited)
}

// GateMet reports whether the document that the session asks about has reached the gate, so that
// the person can take it without answering.
func (s *Session) GateMet() bool {
	rec := s.Current()
	return s.CurrentState == Clarifying && rec.Policy != nil && rec.Met(*rec.Policy)
}

// Doubted reports whether something speaks against the pass stated by the latest submission.
func (r *Record) Doubted() bool { return r.Verdict.Passes() && len(r.Objections) > 0 }

// Held reports whether the latest submission failed, or states a pass that is in doubt.
func (r *Record) Held() bool { return r.Verdict == Fail || r.Doubted() }

// Spent reports whether the stage's report was returned as often as it may be, so that the person
// decides without a verdict.
func (r *Record) Spent() bool { return len(r.Returned) > 0 && r.Verdict == "" }

// Evidence returns the evidence for the work that a stage judges: the stage's own, or that of the
// stage whose work it judges.
func (s *Session) Evidence(st Stage) *Evidence {
	if e := s.Record(st.ID).Evidence; e != nil {
		return e
	}
	return s.Record(st.VerifiedBy()).Evidence
}

// FailedWork reports whether the latest report of a verdict stage speaks against the work itself,
// and not only against the report: the builder then has something to do.
func (s *Session) FailedWork(st Stage) bool {
	r := s.Record(st.ID)
	failed := slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Exit != 0 })
	if UntouchedAt(s.History, st.ID) == NothingChanged {
		return true
	}
	return r.Verdict == Fail || failed || s.Evidence(st).Failed() || len(OpenFindings(r.Findings)) > 0
}

// MaxReturns is the number of times in a row a report is returned before the person decides.
const MaxReturns = 3

// Returns counts how often in a row the report of the current stage was returned.
func (s *Session) Returns() int {
	n := 0
	for _, e := range slices.Backward(s.History) {
		switch {
		case e.Event == EventReturned && e.FromStage() == s.CurrentStage:
			n++
		case e.Event == EventPolicyChanged || e.Event == EventAdopted || e.Event == EventGranted:
		default:
			return n
		}
	}
	return n
}

// OpenQuestions returns the questions waiting for the person.
func (r *Record) OpenQuestions() []Question {
	return slices.DeleteFunc(slices.Clone(r.Questions), func(q Question) bool { return !q.Open() })
}

// LaterQuestions returns the questions for the next round.
func (r *Record) LaterQuestions() []Question {
	return slices.DeleteFunc(slices.Clone(r.Questions), func(q Question) bool { return q.Status != QuestionLater })
}

// SettledQuestions returns the questions that were put to the person and no longer wait.
func (r *Record) SettledQuestions() []Question {
	return append(slices.Clone(r.Asked), slices.DeleteFunc(slices.Clone(r.Questions), Question.isUnsettled)...)
}

// DropOpenQuestions removes the questions waiting for the person or the next round: they were not put to anyone, or
// the document that they are about is worked over.
func (r *Record) DropOpenQuestions() {
	r.Questions = slices.DeleteFunc(r.Questions, Question.isUnsettled)
}

// KnowsQuestion reports whether id was ever asked in this stage.
func (r *Record) KnowsQuestion(id string) bool {
	same := func(q Question) bool { return q.ID == id }
	return slices.ContainsFunc(r.Questions, same) || slices.ContainsFunc(r.Asked, same)
}

// Strict reports whether the gate of any stage requires the person's own act, or the yes of certain people, by the
// given stages or by the session. The current stage alone would not be enough: an edit of the session would change
// that first.
func (s *Session) Strict(stages []Stage) bool {
	for _, st := range stages {
		rules := []Policy{st.Rules, s.Policy[st.ID]}
		if rec := s.Stages[st.ID]; rec != nil && rec.Policy != nil {
			rules = append(rules, *rec.Policy)
		}
		if slices.ContainsFunc(rules, Policy.PromisesPerson) {
			return true
		}
	}
	return false
}

// KeptVerify returns the verify commands of the session. Commands in the newest entry that has any
// take precedence over the session's own: entries are linked, while a key is easily removed from
// the file.
func (s *Session) KeptVerify() map[StageID]VerifyCommand {
	for _, e := range slices.Backward(s.History) {
		if e.VerifyCommands != nil {
			return maps.Clone(e.VerifyCommands)
		}
	}
	return maps.Clone(s.VerifyCommands)
}

// KeepVerify sets the verify commands of the session, and returns them for the entry that records
// the change.
func (s *Session) KeepVerify(commands map[StageID]VerifyCommand) map[StageID]VerifyCommand {
	s.VerifyCommands = commands
	return maps.Clone(commands)
}

// Append adds an entry to the history. [Session.Signing] links and signs the entry.
func (s *Session) Append(t Transition) { s.History = append(s.History, t) }

// HasAnsweredIn reports whether a person has answered a form of a client, of any version, in a run with a history.
func HasAnsweredIn(history []Transition, client string) bool {
	name := func(client string) string {
		if i := strings.LastIndexByte(client, ' '); i > 0 {
			return client[:i]
		}
		return client
	}
	return slices.ContainsFunc(history, func(t Transition) bool {
		return t.Grant != nil && t.Grant.Channel == ChannelElicited && name(t.Grant.Client) == name(client)
	})
}

// Moved returns the newest entry that is not an adoption; the zero entry if there is none.
func (s *Session) Moved() Transition {
	for i := len(s.History) - 1; i >= 0; i-- {
		if s.History[i].Event != EventAdopted {
			return s.History[i]
		}
	}
	return Transition{}
}

// Summary is an entry of a list of sessions. The fields are those of [Session].
type Summary struct {
	SessionID    string
	TaskName     string
	Objective    string
	CurrentStage StageID
	CurrentState State
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Revision     int
	// Position is the place of the current stage; zero if it is not known.
	Position Position
}

// Position is the place of a stage in a workflow: the stage is number At of all Of, and goes on by Gate.
type Position struct {
	At, Of int
	Gate   GateKind
}

// PositionOf returns the place of a stage among the stages of a workflow; zero if it is not one.
func PositionOf(stages []Stage, id StageID) Position {
	i := slices.IndexFunc(stages, func(st Stage) bool { return st.ID == id })
	if i < 0 {
		return Position{}
	}
	return Position{i + 1, len(stages), stages[i].Gate}
}

// Summary returns the summary of a session.
func (s *Session) Summary() Summary {
	return Summary{s.SessionID, s.TaskName, s.Objective, s.CurrentStage, s.CurrentState, s.CreatedAt, s.UpdatedAt, s.Revision, PositionOf(s.Definition().Stages, s.CurrentStage)}
}
