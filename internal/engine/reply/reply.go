// Package reply builds the replies to a caller from the standing of a session: the keys, the
// next call, the texts for the work of a stage, all within a size.
//
// # Invariants
//
//   - A reply is one block of compact JSON of at most 14,000 bytes and refers to documents by
//     their path, because the model's context is expensive (TestRepliesStaySmall).
//   - It offers only actions that would be accepted (TestStateActionMatrix).
package reply

import (
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Max is the greatest size of a reply, in bytes of JSON.
const Max = 14000

// The values of Reply.InteractionType.
const (
	AwaitingGeneration   = "awaiting_generation"
	AwaitingRegeneration = "awaiting_regeneration"
	UserDecision         = "user_decision"
	WorkflowCompleted    = "workflow_completed"
	// NoSession is the type of a list without an active session: nothing waits for a decision.
	NoSession = "no_session"
)

// Reply is the answer of an action. The JSON form is the tool's contract: keys are added, never changed or
// removed. The keys of an embedded struct stand among the reply's own.
type Reply struct {
	Place
	Turn
	Briefing
	Measures
	Judgement

	Questions []workflow.Question `json:"questions,omitempty"`
	Gaps      []string            `json:"gaps,omitempty"`
	// ChangeRequests are the person's comments; the next submission has to take them up.
	ChangeRequests []CommentView      `json:"change_requests,omitempty"`
	Draft          *standing.Document `json:"draft,omitempty"`
	Artifact       string             `json:"artifact_path,omitempty"`
	Sprints        []workflow.Sprint  `json:"sprints,omitempty"`
	Rework         int                `json:"rework_count,omitempty"`
	Iteration      int                `json:"iteration,omitempty"`
	Lists
	// Since has the documents that have changed since they were approved, or whose code has.
	Since []SinceView `json:"since_approval,omitempty"`
	// Resource is the view named in the call.
	Resource *Resource `json:"resource,omitempty"`
	// SessionFile is the file with the full text of everything shortened here.
	SessionFile string `json:"session_file,omitempty"`
	Revision    int    `json:"revision,omitempty"`
	// Integrity is "changed" if the session was changed by other hands, "partly" if it rests on entries that do
	// not count, else empty.
	Integrity string `json:"integrity,omitempty"`

	file     string // the session's
	language lang.Language
	action   workflow.Action
	taskLine string // with which the message begins
	form     form
}

// form is the way to cut a reply for its reader.
type form struct {
	// unmoved is true if the caller knows the whole reply.
	unmoved bool
	// shortened is true if texts were cut, so that the reply names the session file.
	shortened bool
	// sparing is true if a model is to get each thing once.
	sparing, once bool
}

// Place names the session, the stage and the state.
type Place struct {
	SessionID string `json:"session_id,omitempty"`
	TaskName  string `json:"task_name,omitempty"`
	// Cwd is the project folder, to which every path in replies is relative.
	Cwd string `json:"cwd,omitempty"`
	// Stage and State stand under two names each; both hold the same value.
	Stage        workflow.StageID `json:"stage,omitempty"`
	CurrentStage workflow.StageID `json:"current_stage,omitempty"`
	State        workflow.State   `json:"state,omitempty"`
	CurrentState workflow.State   `json:"current_state,omitempty"`
}

// Turn is who acts next, and how.
type Turn struct {
	// RequiresUserConfirmation is true when the assistant must wait for the human.
	RequiresUserConfirmation bool   `json:"requires_user_confirmation"`
	InteractionType          string `json:"interaction_type"`
	// ShowFirst has the assistant show the waiting document, if the human may see no files.
	ShowFirst string `json:"show_first,omitempty"`
	// UserMessage is Markdown to show to the human.
	UserMessage        string   `json:"user_message"`
	PendingUserActions []string `json:"pending_user_actions"`
	// NextCall is the next call to make, with "…" in place of a text.
	NextCall map[string]any `json:"next_call,omitempty"`
}

// Briefing has the instructions and the material of the stage.
type Briefing struct {
	StageDescription string            `json:"stage_description,omitempty"`
	RolePrompt       string            `json:"role_prompt,omitempty"`
	Engines          []workflow.Engine `json:"engines,omitempty"`
	Context          *Context          `json:"context,omitempty"`
}

// Measures are the scores of the waiting document, the evidence, and the demands of the gate.
type Measures struct {
	// Score is the claimed score, or the estimate if ScoreIsEstimate; GateScore is the score needed at the gate.
	Score           *float64 `json:"score,omitempty"`
	ScoreIsEstimate bool     `json:"score_is_estimate,omitempty"`
	GateScore       *float64 `json:"gate_score,omitempty"`
	// ScoreNote says which score was taken if several are stated, or why a statement is not one.
	ScoreNote string `json:"score_note,omitempty"`
	// Candidates are the drafts of several engines, if more than one was asked.
	Candidates []workflow.Candidate `json:"candidates,omitempty"`
	// Audit is the server's own count, if the stage has a submission.
	Audit *AuditView `json:"audit,omitempty"`
	// Evidence is the result of the verify command at the latest submission.
	Evidence *EvidenceView `json:"evidence,omitempty"`
	// Gate says who decides at a pending gate, and how.
	Gate *GateView `json:"gate,omitempty"`
}

// Judgement has the results of a report, and the rows still owed by the next one.
type Judgement struct {
	Verdict workflow.Verdict `json:"verdict,omitempty"`
	// Needs names the things a blocked stage waits for from the human.
	Needs      string             `json:"needs,omitempty"`
	Objections []string           `json:"objections,omitempty"`
	Progress   *workflow.Progress `json:"progress,omitempty"`
	// Owed are the ids of the criteria for which the report owes a row, the first forty; OwedMore
	// has their number and their place.
	Owed     []string  `json:"owed,omitempty"`
	OwedMore *OwedMore `json:"owed_more,omitempty"`
	// Returned are the reasons why the latest report was returned.
	Returned []string `json:"returned,omitempty"`
	// Rows counts the rows of the latest report, and names the rows without a pass.
	Rows     *RowsView          `json:"rows,omitempty"`
	Findings []workflow.Finding `json:"findings,omitempty"`
}

// Lists are the further lists of a status.
type Lists struct {
	Stages     []StageView         `json:"stages,omitempty"`
	Artifacts  []workflow.Artifact `json:"artifacts,omitempty"`
	Sessions   []SessionView       `json:"sessions,omitempty"`
	Unreadable []string            `json:"unreadable_sessions,omitempty"`
	Allowed    []string            `json:"allowed_actions,omitempty"`
}

// Unmoved marks the reply to a caller who was shown the same revision before.
func (r *Reply) Unmoved() { r.form.unmoved = true }

// AuditView is an audit in short; the session file has all of it.
type AuditView struct {
	Score float64 `json:"score"`
	// Findings are one line each, if the person decides on the document. Before
	// another round they are in gaps, with the thing to do.
	Findings []string `json:"findings,omitempty"`
}

// EvidenceView is the result of a command in short; the output is in the session file.
type EvidenceView struct {
	Command string `json:"command"`
	// ExitCode is nil if the command was not run.
	ExitCode *int   `json:"exit_code,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
	NotRun   string `json:"not_run,omitempty"`
	// Changed says how the configuration differs from the one of the run's checks, Notes have further facts for
	// the person.
	Changed string   `json:"changed,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Tail    string   `json:"tail,omitempty"`
}

// GateView is a session waiting for the human.
type GateView struct {
	Policy workflow.GateMode `json:"policy"`
	// WaitsFor is always "human".
	WaitsFor string `json:"waits_for"`
	// AskByForm is true if next_call puts the question to the human in a form of
	// their host: it is to be made at once.
	AskByForm bool `json:"ask_by_form,omitempty"`
	// AskByHost is true if next_call names the tool about which the host asks the human.
	AskByHost bool `json:"ask_by_host,omitempty"`
	// AuditFloor is the audit needed for an advance yes to count; nil unless the document has less.
	AuditFloor *float64 `json:"audit_floor,omitempty"`
	// Needs says whose yes the gate wants; nil if anybody's will do.
	Needs *Needs `json:"needs,omitempty"`
	// Terminal is the command by which the human decides themselves.
	Terminal string `json:"terminal"`
	// Page is the address at which a dashboard shows the document, and takes the decision.
	Page string `json:"page,omitempty"`
	// Silence says why the last question brought no decision.
	Silence string `json:"no_decision,omitempty"`
}

// Needs are the rules for the people who let a document pass.
type Needs struct {
	// Approvers are the accounts whose yes counts; nil is everybody's.
	Approvers []string `json:"approvers,omitzero"`
	// FourEyes is true if the writer of the newest round cannot let it pass.
	FourEyes bool `json:"four_eyes"`
	// Quorum is the number of people needed, Given the yeses so far, and Missing the number of the others.
	Quorum  int     `json:"quorum"`
	Given   []Given `json:"given,omitempty"`
	Missing int     `json:"missing"`
}

// Given is a yes at a gate still pending.
type Given struct {
	workflow.Person
	At time.Time `json:"at"`
}

// GrantView is a decision and its person, in short; the full entry is in the session's history.
type GrantView struct {
	Channel   workflow.Channel   `json:"channel"`
	Assurance workflow.Assurance `json:"assurance"`
	Decision  workflow.Decision  `json:"decision"`
	TookMS    *int64             `json:"took_ms,omitempty"`
	// The person is the owner of the account that brought the decision.
	workflow.Person
	// Unvouched is true if nothing vouches for the entry of the yes.
	Unvouched bool `json:"unvouched,omitempty"`
}

// Context has the texts for the work of a stage.
type Context struct {
	Objective string              `json:"objective,omitempty"`
	Documents []standing.Document `json:"documents,omitempty"`
	Answers   []Answer            `json:"user_answers,omitempty"`
	Feedback  string              `json:"feedback,omitempty"`
	// Comments are the person's remarks with which they let the stage before go on.
	Comments []CommentView `json:"comments,omitempty"`
	// Memory are relevant notes of earlier runs.
	Memory []lesson.Note `json:"memory,omitempty"`
}

// CommentView is a comment in short.
type CommentView struct {
	ID string `json:"id"`
	// File is the path of a file of the code, if the comment is on one.
	File string `json:"file,omitempty"`
	// Lines are lines of the draft or the file, for example "12" or "12-15"; "" for all of it.
	Lines string `json:"lines,omitempty"`
	// Stage is the stage of the document, unless it is the stage at work.
	Stage   workflow.StageID     `json:"stage,omitempty"`
	Quote   string               `json:"quote,omitempty"`
	Kind    workflow.CommentKind `json:"kind"`
	Text    string               `json:"text,omitempty"`
	Replace string               `json:"replace,omitempty"`
}

// NewCommentView returns a comment in short.
func NewCommentView(c workflow.Comment, stage workflow.StageID) CommentView {
	return CommentView{ID: c.ID, File: c.File, Lines: c.Lines(), Stage: stage, Quote: c.Quote, Kind: c.Kind, Text: c.Text, Replace: c.Replace}
}

// Answer is a question with the human's answer; an empty one was left open.
type Answer struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	// Skipped is true if the human does not want to answer.
	Skipped bool `json:"skipped,omitempty"`

	unseen bool // the conversation does not have it: a form or a terminal brought it
}

// byForm reports whether a form or a terminal has brought an answer.
func (c *Context) byForm() bool {
	return c != nil && slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.unseen })
}

// StageView is a stage in a status reply.
type StageView struct {
	Stage     workflow.StageID `json:"stage"`
	Status    workflow.Status  `json:"status"`
	Iteration int              `json:"iteration,omitempty"`
	Score     *float64         `json:"score,omitempty"`
	Verdict   workflow.Verdict `json:"verdict,omitempty"`
	// Audit is the server's own score, Grant the human's latest decision on the stage.
	Audit    *float64   `json:"audit,omitempty"`
	Grant    *GrantView `json:"grant,omitempty"`
	Artifact string     `json:"artifact,omitempty"`
	Stale    bool       `json:"stale,omitempty"`
	// Missing is true when the artifact was saved and is no longer there, Modified
	// when it was edited since.
	Missing  bool `json:"missing,omitempty"`
	Modified bool `json:"modified,omitempty"`
}

// SessionView is a session in a list.
type SessionView struct {
	SessionID string           `json:"session_id"`
	TaskName  string           `json:"task_name"`
	Stage     workflow.StageID `json:"stage"`
	State     workflow.State   `json:"state"`
	Objective string           `json:"objective"`
	UpdatedAt string           `json:"updated_at"`
	// Integrity is "changed" if the session was changed by other hands, "partly" if it rests on entries that do
	// not count, else empty.
	Integrity string `json:"integrity,omitempty"`
	// Altered is true if an approved text is not as it was approved.
	Altered bool `json:"altered,omitempty"`
}

// At returns the position of a stage in a status reply, counted from 0, or -1.
func (r *Reply) At(stage workflow.StageID) int {
	return slices.IndexFunc(r.Stages, func(v StageView) bool { return v.Stage == stage })
}

// Resource is a readable part of a project.
type Resource struct {
	// Name is the view's, or the file name of an artifact.
	Name     string `json:"name"`
	MIMEType string `json:"mime_type"`
	// Size is the size of the whole text, in bytes.
	Size int64 `json:"size"`
	// Path is the file with the text, relative to the project; "" if there is none.
	Path string `json:"path,omitempty"`
	Text string `json:"text"`
	// Truncated is true if Text ends before the whole does.
	Truncated bool `json:"truncated,omitempty"`
}

// Listed is the most sessions shown in a list; the ones changed last are in it.
const Listed = 20

// NewResource returns a resource with its whole text.
func NewResource(name, mime, path, text string) Resource {
	return Resource{Name: name, MIMEType: mime, Path: path, Size: int64(len(text)), Text: text}
}

// MaxShown bounds the text of a resource in a reply, in bytes.
const MaxShown = 9000

// EncodedSize returns the size of a text in a reply, in bytes.
func EncodedSize(text string) int {
	encoded, err := workflow.Marshal(text)
	if err != nil {
		return len(text)
	}
	return len(encoded) + 1
}

// Show adds a resource. A text too long for a reply is cut after a line.
func (r *Reply) Show(res Resource) {
	for limit := MaxShown; EncodedSize(res.Text) > MaxShown; limit /= 2 { // quotes and line ends take more than one byte
		limit = min(limit, len(res.Text))
		cut := strings.LastIndexByte(res.Text[:limit], '\n') + 1
		if cut == 0 {
			cut = len(visible.Head(res.Text, limit))
		}
		res.Text, res.Truncated = res.Text[:cut], true
	}
	r.Resource = &res
}

// OwedMore tells the rest of a long list of owed rows.
type OwedMore struct {
	Count int    `json:"count"`
	Path  string `json:"path"`
}

// RowsView counts the rows of a report by their results.
type RowsView struct {
	Total      int `json:"total"`
	Passed     int `json:"passed"`
	Proved     int `json:"proved,omitempty"`
	ByWord     int `json:"by_word,omitempty"`
	Carried    int `json:"carried,omitempty"`
	Failed     int `json:"failed,omitempty"`
	NotTested  int `json:"not_tested,omitempty"`
	OutOfScope int `json:"out_of_scope,omitempty"`
	// FailedIDs and NotTestedIDs name the rows, the first forty of each.
	FailedIDs    []string `json:"failed_ids,omitempty"`
	NotTestedIDs []string `json:"not_tested_ids,omitempty"`
}

func newRowsView(rows []workflow.Criterion) *RowsView {
	n := verdict.CountRows(rows)
	if n.Rows == 0 {
		return nil
	}
	out := &RowsView{Total: n.Rows, Passed: n.Passed, Proved: n.Proved, ByWord: n.ByWord, Carried: n.Carried, Failed: n.Failed, NotTested: n.NotTested, OutOfScope: n.OutOfScope}
	for _, c := range rows {
		switch {
		case c.Result == workflow.ResultFail && len(out.FailedIDs) < maxOwed:
			out.FailedIDs = append(out.FailedIDs, c.ID)
		case c.Result == workflow.ResultNotTested && len(out.NotTestedIDs) < maxOwed:
			out.NotTestedIDs = append(out.NotTestedIDs, c.ID)
		}
	}
	return out
}

// maxOwed is the most ids of rows named in a reply.
const maxOwed = 40
