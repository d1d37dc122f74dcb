// Package standing holds the facts about a session at one moment. They are gathered once and
// passed as a value, so that a decision and the sentences about it cannot disagree.
//
// The package reads nothing. The engine gathers the facts; gate decides by them, and words
// describes them.
package standing

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Standing is a session with every fact about it at one moment.
type Standing struct {
	Session *workflow.Session
	// Language is the language to speak to the session's person in, Documents the language of the documents.
	lang.Language
	Documents lang.Language
	// Workflow is the session's definition with the rules in force, and Stage the current stage. Settings is the
	// definition with the rules of the settings, which can ask for less.
	Workflow, Settings *workflow.Definition
	Stage              workflow.Stage
	// Policy is the current gate's: the configured one, but at a pending gate no looser than when the session came
	// to it.
	Policy workflow.Policy
	// Folder is the project's folder.
	Folder string
	// SessionFile is the session's file, relative to Folder, like every path here; absolute for a run in a worktree.
	SessionFile string
	// Draft is the current stage's document.
	Draft Draft
	// Criteria are the criteria of the requirements, if a report owes them or a decision is about them; else nil.
	Criteria *verdict.Criteria
	// Saved are the saved artifacts as they are on disk, by path.
	Saved map[string]File
	// Unwritten are the files of this call with a write error.
	Unwritten []string
	// Tasks is the folder of the task's artifacts, with a slash at the end.
	Tasks string
	// Offer can be taken with a yes to the plan; nil if there is none. It is gathered for a question only.
	Offer *workflow.Offer
	Afterwards
	// Integrity is the result of checking the session. Strict is true if a gate of it takes only
	// the person's own act, and Trusting if sessions are checked at all.
	Integrity workflow.Verification
	Strict    bool
	Trusting  bool
	// MaxRework and MaxIterations are the most returns of the work, and rounds of a stage, before the person is
	// asked.
	MaxRework, MaxIterations int
	// Named is true if the next call may use the task name: it leads only to this session, and the call does not
	// carry a person's word.
	Named bool
	// Sparing is true if a model is to get nothing twice in a reply.
	Sparing bool
	Call    Call
	Names   Names
}

// Afterwards has the changes after an approval.
type Afterwards struct {
	// Homeless is the folder of the run's worktree if that was removed while the run is under way, else "".
	Homeless string
	// Altered are the approved texts that were changed since.
	Altered []workflow.Alteration
	// Since has the documents that went on before and have changed since, or whose code has.
	Since []Since
}

// File is a saved artifact as it is on disk.
type File struct {
	Missing bool
	// Modified is true if the file was edited since it was saved.
	Modified bool
	Size     int64
	// Pending is true if the file was never written in this folder: the next step does it.
	Pending bool
}

// Draft is the document of the current stage.
type Draft struct {
	// Path is the file shown to people: the working copy, or the record of the last round if an older version made
	// no copy. Work is the path of the working copy.
	Path, Work string
	// Worktree is the folder with the paths for a run in a worktree of its own, else "".
	Worktree string
	// Missing is true if the file is gone, Edited if it was changed after it was scored.
	Missing, Edited bool
	// Pending is true if no file here has the text: the next step writes the working copy.
	Pending bool
	// SHA256 is the hash of the document as it was handed in. A decision applies to it, unless the
	// document was edited.
	SHA256 string
	// Edit is the change of the document at a gate since it was scored; nil if there is none, or it is unknown.
	Edit *Edit
	// Text is the text to decide on, with the hash of Now; "" if it is gone or was changed.
	Text string
	Size int64
	// Changes compares the document with the one of the round before; nil if there is none, or no decision is
	// pending.
	Changes *Changes
	// Lines are the lines of a short document to show whole while it waits, for example a scope.
	Lines []string
}

// Changes are the differences of a document from an earlier round.
type Changes struct {
	Round int
	// Added and Removed count lines; a changed line is in both.
	Added, Removed int
	// Sections are the titles of the differing sections.
	Sections []string
	// Criteria are the differences between the criteria of both.
	Criteria verdict.Difference
	// Unknown is true if the text of the earlier round is gone or was changed.
	Unknown bool
}

// Stopped reports whether the person has to accept the session, or an approved text, as it is before anything
// else. The texts of an ended run are free to change.
func (s *Standing) Stopped() bool {
	altered := s.Trusting && s.Session.CurrentState.Active() && len(s.Altered) > 0
	return s.Strict && (altered || s.Doubtful())
}

// Doubtful reports whether the session was changed by other hands, or rests on entries of the history that do not
// count.
func (s *Standing) Doubtful() bool {
	return s.Integrity.Changed() || s.Trusting && !s.Integrity.Sound()
}

// Loosened lists the stages with less strict settings than the rules kept by the run so far; each has the kept
// rules.
func (s *Standing) Loosened() []workflow.Stage {
	if !s.Trusting || !s.Session.CurrentState.Active() {
		return nil
	}
	return s.Settings.Loosened(s.Integrity.Kept)
}

// Pauses reports whether the stage waits for the person's word before each round.
func (s *Standing) Pauses() bool {
	working := s.Session.CurrentState == workflow.Generating || s.Session.CurrentState == workflow.Refining
	return working && s.Policy.Pause == workflow.PauseStages
}

// Call has the question of the caller, and their abilities.
type Call struct {
	Action workflow.Action
	// Stage is the stage in the call.
	Stage string
	// The person is the one on whose behalf the caller acts, if it matters at the gate. Untold is true if the store of
	// a team cannot tell them from the others.
	workflow.Person
	Untold bool
	// Asks is true if the person can be reached, Forms if by a form of the assistant's host, and NoForms if nobody
	// saw the last form.
	Asks, Forms, NoForms bool
	// HostConfirm is true if the caller has a tool about which the host asks the person.
	HostConfirm bool
	// Chat is true if the person may have nothing but the chat to read in.
	Chat bool
	// Inline is true if the one who works on the stage answers with the document.
	Inline bool
	// Waits is true if the caller can make a call with a wait for the person's act.
	Waits bool
	// Page is the address at which a dashboard shows the session's document; "" for none.
	Page string
	// Withheld is true if the person was just asked and took no decision.
	Withheld bool
}

// MaxWait is the longest wait of a status, in seconds: hosts give up a call after a minute.
const MaxWait = 50

// Leaving reports whether the call takes the session away from the current stage.
func (c Call) Leaving() bool {
	return c.Action == workflow.ActionCancel || c.Action == workflow.ActionReopen
}

// Describing reports whether the call asks for the place of the session.
func (c Call) Describing() bool {
	return c.Action == workflow.ActionStatus || c.Action == workflow.ActionResume
}

// Names are the caller's names for the doors of this program.
type Names struct {
	// Confirm is the tool about which a host asks the person, Program the command in a terminal.
	Confirm, Program string
}

// ArtifactPath returns the path of a stage's artifact, saved or not; "" for a stage without one.
func (s *Standing) ArtifactPath(st workflow.Stage) string {
	if st.Artifact == "" {
		return ""
	}
	return s.Tasks + st.Artifact
}

// Evidence returns the evidence for the work judged at the current stage.
func (s *Standing) Evidence() *workflow.Evidence {
	st, _ := s.Session.Definition().Stage(s.Session.CurrentStage)
	return s.Session.Evidence(st)
}

// Contract returns the rows owed by the report of the current stage.
func (s *Standing) Contract() verdict.Contract {
	c := verdict.Contract{
		Owes: s.Stage.Owed(), Criteria: s.Criteria, Earlier: *s.Session.Current(), Proved: s.Policy.Proved,
		Told: toldOfWords(s.Session), Taken: wordsTaken(s.Session.History),
	}
	for _, e := range slices.Backward(s.Session.History) { // the last judged report
		returned := e.Event == workflow.EventReturned || e.Event == workflow.EventExhausted
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.Session.CurrentStage && !returned {
			c.Round = e.Iteration
			break
		}
	}
	return c
}

// toldOfWords reports whether the report of the current stage was returned because of rows by word
// only, and none was judged since.
func toldOfWords(s *workflow.Session) bool {
	for _, e := range slices.Backward(s.History) {
		switch {
		case e.Action != workflow.ActionSubmit || e.FromStage() != s.CurrentStage:
		case e.Event != workflow.EventReturned && e.Event != workflow.EventExhausted:
			return false
		case e.ByWord > 0:
			return true
		}
	}
	return false
}

// wordsTaken reports whether a person has said yes to rows by word only.
func wordsTaken(history []workflow.Transition) bool {
	return slices.ContainsFunc(history, func(e workflow.Transition) bool {
		return e.Grant != nil && e.Event != workflow.EventGranted && e.ByWord > 0
	})
}

// Owed returns the ids of the criteria for which the report of the current stage owes a row.
func (s *Standing) Owed() []string {
	working := s.Session.CurrentState == workflow.Generating || s.Session.CurrentState == workflow.Refining
	if s.Stage.Gate != workflow.GateVerdict || s.Stage.Owed() != workflow.OwesCriteria || !working {
		return nil
	}
	return s.Criteria.Owed()
}

// Revise judges the edited text of the report at the gate. lines are as in [verdict.Contract].
func (s *Standing) Revise(judged, edited string, lines map[string]int) verdict.Revision {
	c := s.Contract()
	c.Told, c.Lines = true, lines // an edit is the person's own, and not returned
	if e := s.Evidence(); e != nil {
		c.Server = append(c.Server, *e)
	}
	return verdict.Revise(judged, edited, s.Stage.Keys, c, s.Documents)
}
