package store

import (
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Folder holds the state of all runs of a project, relative to it.
const Folder = ".bmad-task"

// SessionPath returns the path of a session, relative to the project.
func SessionPath(sessionID string) string { return Folder + "/session-" + sessionID + ".json" }

// RunFolder returns the folder for the records of runs without a host of a session, relative to the project.
func RunFolder(sessionID string) string { return Folder + "/runs/" + sessionID }

// ContentFolder returns the folder of a session's texts, relative to the project.
func ContentFolder(sessionID string) string { return Folder + "/temp/" + sessionID }

// NewRef describes a text that is stored at path.
func NewRef(path string, t Text) workflow.ContentRef {
	return workflow.ContentRef{
		FilePath: path, Summary: workflow.Summarize(t.Body), Size: int64(len(t.Body)),
		SHA256: workflow.Hash([]byte(t.Body)), LastUpdated: t.At,
	}
}

// ContentPath returns the path of a text, relative to the project; n > 0 distinguishes texts of one kind and
// moment.
func ContentPath(sessionID string, t Text, n int) string {
	stamp := t.At.UTC().Format("20060102T150405.000Z")
	if n > 0 {
		stamp += fmt.Sprintf("-%d", n)
	}
	return fmt.Sprintf("%s/%s_%s_%s.md", ContentFolder(sessionID), t.Stage, t.Kind, stamp)
}

// MissingContent returns the error for a reference whose text is gone or cannot be read.
func MissingContent(ref workflow.ContentRef, cause error) error {
	e := fault.New(fault.Storage, "the file %q that the session refers to cannot be read", ref.FilePath)
	e.Err = cause
	return e.WithHint("restore the file, or send the document back (confirm or approve with false) and submit it again")
}
