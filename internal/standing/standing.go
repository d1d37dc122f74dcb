// Package standing holds the facts about a session at one moment. They are gathered once and
// passed as a value, so that a decision and the sentences about it cannot disagree.
//
// The package reads nothing. The engine gathers the facts; gate decides by them, and words
// describes them.
package standing

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Standing is a session with every fact about it at one moment.
type Standing struct {
	*workflow.Session
	// Language is the one that the session's person is spoken to in, Documents that of its
	// documents.
	lang.Language
	Documents lang.Language
	// Workflow is the session's definition with the settings in force, and Stage its current
	// stage.
	Workflow *workflow.Definition
	Stage    workflow.Stage
	// Policy is that of the current gate: the configured one, but at a pending gate no looser
	// than when the session came to it.
	Policy workflow.Policy
	// Folder is the project's folder.
	Folder string
	// SessionFile is the session's file, relative to Folder, like every path here.
	SessionFile string
	// Draft is the current stage's document.
	Draft Draft
	// Saved are the saved artifacts as they are on disk, by path.
	Saved map[string]File
	// Tasks is the folder of the task's artifacts, with a slash at its end.
	Tasks string
	// Integrity is the result of checking the session. Stopped is true where the person has to
	// accept the session before anything else, and Trusting where sessions are checked at all.
	Integrity workflow.Verification
	Stopped   bool
	Trusting  bool
	// MaxRework and MaxIterations are how often the work may come back, and how many rounds a
	// stage may take, before the person is asked.
	MaxRework, MaxIterations int
	// Named is true where the next call may name the session by its task name: it leads there and
	// nowhere else, and no person's word goes by it.
	Named bool
	// FormTimeout is how long a form waits for the person.
	FormTimeout time.Duration
	Call        Call
	Names       Names
}

// File is a saved artifact as it is on disk.
type File struct {
	Missing bool
	// Modified is true where the file was edited since it was saved.
	Modified bool
	Size     int64
}

// Draft is the document of the current stage.
type Draft struct {
	// Path is the file that people are shown: the working copy, or the record of the last
	// round where an older version made no copy. Work is the path of the working copy.
	Path, Work string
	// Missing is true where the file is gone, Edited where it was changed after it was scored.
	Missing, Edited bool
	// SHA256 is the hash of the document as it was handed in: what a decision is for.
	SHA256 string
	Size   int64
	// Changes compares the document with that of the round before; nil where there is none, or
	// no decision is pending.
	Changes *Changes
}

// Changes is how a document differs from that of an earlier round.
type Changes struct {
	Round int
	// Added and Removed count lines; Same is true where no word differs.
	Added, Removed int
	Same           bool
	// Sections are the titles of the sections that differ.
	Sections []string
}

// Pauses reports whether the stage waits for the person's word before each of its rounds.
func (s *Standing) Pauses() bool {
	working := s.CurrentState == workflow.Generating || s.CurrentState == workflow.Refining
	return working && s.Policy.Pause == workflow.PauseStages
}

// Call is what the caller asks, and what they can do.
type Call struct {
	Action workflow.Action
	// Stage is the stage that the call names.
	Stage string
	// Asks is true where the person can be reached, Forms where by a form of the host that an
	// assistant works in, and NoForms where the last form was seen by nobody.
	Asks, Forms, NoForms bool
	// HostConfirm is true where the caller has a tool about which the host asks the person.
	HostConfirm bool
	// Inline is true where the one who works on the stage answers with the document.
	Inline bool
	// Waits is true where the caller can make a call that returns once the person has acted.
	Waits bool
	// Page is the address at which a dashboard shows the session's document; "" for none.
	Page string
	// Withheld is true where the person was just asked and took no decision.
	Withheld bool
}

// MaxWait is the longest that a status waits, in seconds: hosts give up a call after a minute.
const MaxWait = 50

// Leaving reports whether the call takes the session away from where it is.
func (c Call) Leaving() bool {
	return c.Action == workflow.ActionCancel || c.Action == workflow.ActionReopen
}

// Describing reports whether the call wants to know where the session is.
func (c Call) Describing() bool {
	return c.Action == workflow.ActionStatus || c.Action == workflow.ActionResume
}

// Names are what the caller calls the doors of this program.
type Names struct {
	// Confirm is the tool about which a host asks the person, Program the command in a terminal.
	Confirm, Program string
}

// ArtifactPath returns where the artifact of a stage is or will be; "" for a stage without one.
func (s *Standing) ArtifactPath(st workflow.Stage) string {
	if st.Artifact == "" {
		return ""
	}
	return s.Tasks + st.Artifact
}

// Evidence returns the evidence for the work that the current stage judges.
func (s *Standing) Evidence() *workflow.Evidence {
	if e := s.Current().Evidence; e != nil {
		return e
	}
	st, _ := s.Definition().Stage(s.CurrentStage)
	return s.Record(VerifiedBy(st)).Evidence
}

// VerifiedBy returns the stage whose verify command checks the work that a stage hands in or
// judges: its own, or that of the stage whose work it judges.
func VerifiedBy(st workflow.Stage) workflow.StageID {
	if st.Kind == workflow.KindVerdict && !st.Verify {
		return st.SendsBackTo
	}
	return st.ID
}
